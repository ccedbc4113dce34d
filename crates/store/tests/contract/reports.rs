//! Reports of devices: each device, update and kind counts once, and the last reasons are stored.

use std::collections::BTreeMap;

use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::report::{KEPT_REASONS, MAX_REASON, ReportKind};
use launchway_domain::time::DAY;
use launchway_domain::update::Update;
use launchway_store::{DayCount, Db, Report, StoredReason, UpdateReach, day_of};

use crate::database::TestDb;
use crate::records::{NOW, an_org, an_update, bundle, new_id};

async fn updates(db: &Db, org: OrgId, count: usize) -> Vec<UpdateId> {
    let mut ids = Vec::new();
    for build in 1..=count {
        let build = build.to_string().parse().unwrap();
        ids.push(
            an_update(db, org, &bundle("com.example.app"), |update| {
                update.build_number = build
            })
            .await
            .id,
        );
    }
    ids
}

fn report(update_id: UpdateId, kind: ReportKind, device: i64) -> Report {
    Report {
        update_id,
        kind,
        device,
        unkeyed: device,
        at: NOW,
        reason: None,
    }
}

async fn counts(db: &Db, org: OrgId, update: UpdateId) -> BTreeMap<ReportKind, i64> {
    org_reads!(db, org, report_counts(update)).into_iter().collect()
}

/// Reports of invented devices: odd and even numbers, as hashes are.
fn of_devices(update_id: UpdateId, devices: std::ops::Range<i64>) -> Vec<Report> {
    // An odd factor: every pattern of low bits is equally frequent.
    let hash = |device: i64| device.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
    devices
        .map(|device| report(update_id, ReportKind::Installed, hash(device)))
        .collect()
}

/// The count, and the number of devices stored for it.
async fn counted_and_kept(db: &TestDb, update: &Update) -> (i64, usize) {
    let counts = org_reads!(db, update.org_id, report_counts(update.id));
    (counts[0].1, db.rows_of("report_devices").await.len())
}

contract! {
    async fn made_up_devices_fill_a_bounded_number_of_rows_and_count_on(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = an_update(db, org, &bundle("com.example.app"), |_| ()).await;
        for start in (0..2000).step_by(100) {
            system_writes!(db, count_reports_within(&of_devices(update.id, start..start + 100), 64));
            let (counted, kept) = counted_and_kept(db, &update).await;
            assert!(kept <= 64, "{kept}");
            let told = start + 100;
            assert!((counted - told).abs() <= told / 4 + 32, "{counted} of {told}");
        }
        let days = org_reads!(db, org, report_days(update.id));
        assert_eq!(days[0].count, counted_and_kept(db, &update).await.0);
        // None is counted when reported again: stored devices are known, and the others are not part of the sample.
        let again = system_writes!(db, count_reports_within(&of_devices(update.id, 0..2000), 64));
        assert!(again.iter().all(|new| !new));
    }

    async fn up_to_the_bound_each_device_counts_exactly(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = an_update(db, org, &bundle("com.example.app"), |_| ()).await;
        system_writes!(db, count_reports_within(&of_devices(update.id, 0..64), 64));
        assert_eq!(counted_and_kept(db, &update).await, (64, 64));
        assert!(system_writes!(db, count_reports_within(&of_devices(update.id, 0..64), 64)).iter().all(|new| !new));
    }

    /// An attacker that searches for ids in the sample: the bound still holds.
    async fn devices_that_are_chosen_to_be_kept_are_bounded_too(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = an_update(db, org, &bundle("com.example.app"), |_| ()).await;
        for start in 0..20 {
            let mut chosen = of_devices(update.id, start * 20..start * 20 + 20);
            for (at, report) in chosen.iter_mut().enumerate() {
                report.device = (start * 20 + at as i64) << 40;
                report.unkeyed = report.device;
            }
            system_writes!(db, count_reports_within(&chosen, 8));
        }
        let (counted, kept) = counted_and_kept(db, &update).await;
        assert!(kept <= 8 + 20 && counted > 0, "{counted} {kept}");
    }

    /// Two nodes, one of which has halved its sample meanwhile.
    async fn the_bound_holds_also_when_many_count_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = an_update(db, org, &bundle("com.example.app"), |_| ()).await;
        let id = update.id;
        db.at_once(8, |db, number| async move {
            let start = number as i64 * 200;
            for part in 0..4 {
                let reports = of_devices(id, start + part * 50..start + part * 50 + 50);
                system_writes!(db, count_reports_within(&reports, 64));
            }
        })
        .await;
        system_writes!(db, count_reports_within(&of_devices(id, 5000..5100), 64));
        let (counted, kept) = counted_and_kept(db, &update).await;
        assert!(kept <= 64 * 3 && counted > 400, "{counted} {kept}");
    }

    async fn devices_of_an_update_that_nobody_reports_of_are_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = an_update(db, org, &bundle("com.example.app"), |_| ()).await;
        system_writes!(db, count_reports(&of_devices(update.id, 0..10)));
        assert_eq!(system_writes!(db, forget_silent_devices(10)), 0);
        system_writes!(db, forget_report_days_before(day_of(NOW) + 1));
        assert_eq!(system_writes!(db, forget_silent_devices(10)), 1);
        assert_eq!(counted_and_kept(db, &update).await, (10, 0));
        assert_eq!(system_writes!(db, forget_silent_devices(10)), 0);
        // Later reports are counted and stored again.
        system_writes!(db, count_reports(&of_devices(update.id, 0..2)));
        assert_eq!(counted_and_kept(db, &update).await, (12, 2));
    }

    async fn each_device_update_and_kind_counts_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let [first, second] = updates(db, org, 2).await[..] else { unreachable!() };
        let reports = [
            report(second, ReportKind::Failed, 1),
            report(first, ReportKind::Installed, i64::MIN),
            report(first, ReportKind::Installed, i64::MAX),
            report(second, ReportKind::Failed, 1),
            report(first, ReportKind::Confirmed, i64::MIN),
            report(first, ReportKind::Installed, i64::MIN),
        ];
        assert_eq!(system_writes!(db, count_reports(&reports)), [true, true, true, false, true, false]);
        assert_eq!(system_writes!(db, count_reports(&reports)), [false; 6]);
        assert_eq!(counts(db, org, first).await, [(ReportKind::Installed, 2), (ReportKind::Confirmed, 1)].into());
        assert_eq!(counts(db, org, second).await, [(ReportKind::Failed, 1)].into());
        assert_eq!(org_reads!(db, org, report_counts(new_id())), []);
        let listed = org_reads!(db, org, report_counts_of(&[first, second, new_id()]));
        assert_eq!(listed.len(), 2);
        for id in [first, second] {
            let of_list: BTreeMap<_, _> = listed[&id].iter().copied().collect();
            assert_eq!(of_list, counts(db, org, id).await);
        }
        assert_eq!(system_writes!(db, count_reports(&[])), [false; 0]);
    }

    /// During and after an upgrade: release 0.1.0 has only the unkeyed number.
    async fn a_device_counted_by_an_earlier_release_counts_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = updates(db, org, 1).await[0];
        let earlier = report(update, ReportKind::Installed, 7);
        system_writes!(db, count_reports(std::slice::from_ref(&earlier)));
        let now = |kind, device, unkeyed| Report { unkeyed, ..report(update, kind, device) };
        let reports = [
            now(ReportKind::Installed, 70, 7),
            now(ReportKind::Installed, 80, 8),
            now(ReportKind::Failed, 71, 7),
            now(ReportKind::Installed, 80, 8),
        ];
        assert_eq!(system_writes!(db, count_reports(&reports)), [false, true, true, false]);
        assert_eq!(system_writes!(db, count_reports(&reports)), [false; 4]);
        let counted = [(ReportKind::Installed, 2), (ReportKind::Failed, 1)].into();
        assert_eq!(counts(db, org, update).await, counted);
    }

    async fn every_kind_is_counted(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = updates(db, org, 1).await[0];
        let reports = ReportKind::ALL.map(|kind| report(update, kind, 7));
        system_writes!(db, count_reports(&reports));
        assert_eq!(counts(db, org, update).await, ReportKind::ALL.map(|kind| (kind, 1)).into());
    }

    async fn the_widest_reach_is_that_of_one_update(db: &TestDb) {
        let org = an_org(db).await.id;
        let app = bundle("com.example.app");
        let [first, second] = updates(db, org, 2).await[..] else { unreachable!() };
        let staging = an_update(db, org, &app, |update| {
            update.build_number = "3".parse().unwrap();
            update.configuration = Some("staging".parse().unwrap());
        })
        .await;
        assert_eq!(org_reads!(db, org, widest_reach(&app, staging.platform, None)), None);
        let reports = [
            report(first, ReportKind::Downloaded, 1),
            report(second, ReportKind::Downloaded, 1),
            report(second, ReportKind::Downloaded, 2),
            report(second, ReportKind::Confirmed, 1),
            report(staging.id, ReportKind::Failed, 1),
        ];
        system_writes!(db, count_reports(&reports));
        let reach = |devices| Some(UpdateReach { version: staging.version_text.clone(), since: staging.created_at, devices });
        assert_eq!(org_reads!(db, org, widest_reach(&app, staging.platform, None)), reach(2));
        assert_eq!(org_reads!(db, org, widest_reach(&app, staging.platform, staging.configuration.as_ref())), reach(1));
        for (other, platform) in [(bundle("com.example.other"), staging.platform), (app.clone(), Platform::Visionos)] {
            assert_eq!(org_reads!(db, org, widest_reach(&other, platform, None)), None);
        }
        let stranger = an_org(db).await.id;
        assert_eq!(org_reads!(db, stranger, widest_reach(&app, staging.platform, None)), None);
    }

    async fn reports_are_counted_by_day_and_forgotten_by_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let [update, other] = updates(db, org, 2).await[..] else { unreachable!() };
        let on = |day: i64, kind, device| Report { at: NOW + day * DAY, ..report(update, kind, device) };
        let reports = [
            on(0, ReportKind::Installed, 1),
            on(1, ReportKind::Confirmed, 1),
            on(1, ReportKind::Installed, 2),
            on(0, ReportKind::Installed, 3),
            report(other, ReportKind::Failed, 1),
        ];
        system_writes!(db, count_reports(&reports));
        // A report that does not count on its day does not count on another one either.
        system_writes!(db, count_reports(&[on(2, ReportKind::Installed, 1), on(1, ReportKind::Installed, 4)]));
        let today = day_of(NOW);
        let count = |day, kind, count| DayCount { day: today + day, kind, count };
        let expected = [
            count(0, ReportKind::Installed, 2),
            count(1, ReportKind::Confirmed, 1),
            count(1, ReportKind::Installed, 2),
        ];
        assert_eq!(org_reads!(db, org, report_days(update)), expected);
        assert_eq!(org_reads!(db, org, report_days(new_id())), []);
        assert_eq!(system_writes!(db, forget_report_days_before(today + 1)), 2, "of both updates");
        assert_eq!(org_reads!(db, org, report_days(update)), expected[1..]);
        assert_eq!(
            counts(db, org, update).await,
            [(ReportKind::Installed, 4), (ReportKind::Confirmed, 1)].into(),
            "those of all time stay"
        );
        assert_eq!((day_of(-1), day_of(0), day_of(DAY)), (-1, 0, 1));
    }

    async fn the_last_reasons_are_kept_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let [update, other] = updates(db, org, 2).await[..] else { unreachable!() };
        let said = |number: i64| StoredReason {
            kind: ReportKind::Failed,
            at: NOW + number,
            reason: format!("{number}: {}", "ü".repeat(MAX_REASON - 10)),
        };
        let reports: Vec<Report> = (0..KEPT_REASONS + 5)
            .map(|number| Report {
                at: said(number).at,
                reason: Some(said(number).reason),
                ..report(update, ReportKind::Failed, number)
            })
            .collect();
        let of_other = Report { reason: Some("other".to_owned()), ..report(other, ReportKind::Failed, 1) };
        system_writes!(db, count_reports(&[of_other]));
        for batch in reports.chunks(4) {
            system_writes!(db, count_reports(batch));
        }
        let expected: Vec<_> = (5..KEPT_REASONS + 5).rev().map(said).collect();
        assert_eq!(org_reads!(db, org, report_reasons(update)), expected);
        let repeated = Report { reason: Some("again".to_owned()), ..reports[0].clone() };
        system_writes!(db, count_reports(&[repeated]));
        assert_eq!(org_reads!(db, org, report_reasons(update)), expected, "what does not count has no say");
        assert_eq!(org_reads!(db, org, report_reasons(other)).len(), 1);
        assert_eq!(org_reads!(db, org, report_reasons(new_id())), []);
    }

    async fn nodes_count_the_same_devices_once_in_whatever_order(db: &TestDb) {
        let org = an_org(db).await.id;
        let updates = updates(db, org, 3).await;
        let mut all = Vec::new();
        for update in &updates {
            for kind in [ReportKind::Downloaded, ReportKind::Installed] {
                all.extend((0..10).map(|device| report(*update, kind, device)));
            }
        }
        let counted = db
            .at_once(8, |db, number| {
                let mut mine = all.clone();
                // Each node has received them in another order.
                mine.rotate_left(number * 7);
                if number % 3 == 0 {
                    mine.reverse();
                }
                async move { system_writes!(db, count_reports(&mine)).into_iter().filter(|new| *new).count() }
            })
            .await;
        assert_eq!(counted.iter().sum::<usize>(), all.len());
        for update in updates {
            let each_once = [(ReportKind::Downloaded, 10), (ReportKind::Installed, 10)].into();
            assert_eq!(counts(db, org, update).await, each_once);
            let by_day: Vec<_> = org_reads!(db, org, report_days(update)).into_iter().map(|day| day.count).collect();
            assert_eq!(by_day, [10, 10]);
        }
    }

    async fn no_reason_is_lost_when_kinds_meet(db: &TestDb) {
        let org = an_org(db).await.id;
        let update = updates(db, org, 1).await[0];
        db.at_once(10, |db, number| {
            let kind = ReportKind::ALL[number % ReportKind::ALL.len()];
            let reason = Some(number.to_string());
            let report = Report { reason, ..report(update, kind, number as i64) };
            async move { system_writes!(db, count_reports(&[report])) }
        })
        .await;
        let mut kept: Vec<_> = org_reads!(db, org, report_reasons(update)).into_iter().map(|kept| kept.reason).collect();
        kept.sort();
        assert_eq!(kept, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
