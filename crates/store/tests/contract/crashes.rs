//! Crashes of devices: equal stacks are one group, and groups and devices are bounded.

use launchway_domain::crash::{MAX_GROUP_DEVICES, MAX_GROUPS, Stack};
use launchway_domain::id::{OrgId, UpdateId};
use launchway_store::{CrashGroup, CrashReport, Db};

use crate::records::{NOW, an_org, an_update, bundle, new_id};

fn crash(update_id: UpdateId, stack: &str, device: i64) -> CrashReport {
    CrashReport {
        update_id,
        device,
        at: NOW,
        stack: Stack::new(stack.to_owned()).unwrap(),
    }
}

async fn an_update_of(db: &Db, app: &str) -> (OrgId, UpdateId) {
    let org = an_org(db).await.id;
    (org, an_update(db, org, &bundle(app), |_| ()).await.id)
}

async fn count(db: &Db, crashes: &[CrashReport]) -> Vec<bool> {
    let crashes: Vec<&CrashReport> = crashes.iter().collect();
    system_writes!(db, count_crashes(&crashes))
}

/// The first words of the stacks, and their numbers of devices.
fn shown(groups: &[CrashGroup]) -> Vec<(&str, i64)> {
    let shown = groups.iter().map(|group| {
        let first = group.stack.split_whitespace().next().unwrap_or_default();
        (first, group.devices)
    });
    shown.collect()
}

contract! {
    async fn equal_stacks_are_one_group_of_devices(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        let other = an_update(db, org, &bundle("com.example.app"), |update| {
            update.build_number = "2".parse().unwrap();
        })
        .await
        .id;
        let crashes = [
            crash(update, "b 0x1234\nat f", 1),
            crash(other, "b 0x1234\nat f", 1),
            crash(update, "a\nat f", i64::MIN),
            crash(update, "b 0xabcdef\nat f", i64::MAX),
            crash(update, "b 0x9\nat f", 1),
            crash(update, "a\nat f", 1),
            crash(update, "b 0x9\nat f", 2),
        ];
        assert_eq!(count(db, &crashes).await, [true, true, true, true, false, true, true]);
        assert_eq!(count(db, &crashes).await, [false; 7]);
        let groups = org_reads!(db, org, crash_groups(update));
        assert_eq!(shown(&groups), [("b", 3), ("a", 2)]);
        assert_eq!(groups[0].stack, "b 0x1234\nat f", "the first of them");
        assert_eq!(shown(&org_reads!(db, org, crash_groups(other))), [("b", 1)]);
        assert_eq!(org_reads!(db, org, crash_groups(new_id())), []);
        assert_eq!(count(db, &[]).await, [false; 0]);
    }

    async fn a_group_knows_when_it_was_seen(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        for (after, device) in [(0, 1), (5, 2), (9, 1)] {
            count(db, &[CrashReport { at: NOW + after, ..crash(update, "a", device) }]).await;
        }
        let groups = org_reads!(db, org, crash_groups(update));
        let seen: Vec<_> = groups.iter().map(|group| (group.devices, group.first_seen - NOW, group.last_seen - NOW)).collect();
        assert_eq!(seen, [(2, 0, 9)], "a device that crashes again is seen, too");
    }

    async fn a_crash_without_a_stack_is_a_group_too(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        let odd = "\u{1}\u{202e} <b>'\"\\ 日本語 \u{1f680}\r\n\n";
        assert_eq!(count(db, &[crash(update, "", 1), crash(update, odd, 1)]).await, [true; 2]);
        let mut stacks: Vec<_> = org_reads!(db, org, crash_groups(update)).into_iter().map(|group| group.stack).collect();
        stacks.sort();
        assert_eq!(stacks, ["", odd]);
    }

    /// A caller that invents stacks replaces its own groups, and none that many devices are in.
    async fn groups_of_many_devices_outlive_invented_ones(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        count(db, &[crash(update, "real", 1), crash(update, "real", 2)]).await;
        for number in 0..2 * MAX_GROUPS {
            let invented = format!("f{number}");
            assert_eq!(count(db, &[crash(update, &invented, 7)]).await, [true]);
        }
        let groups = org_reads!(db, org, crash_groups(update));
        assert_eq!(groups.len() as i64, MAX_GROUPS);
        assert_eq!(shown(&groups)[0], ("real", 2));
        assert_eq!(db.rows_of("crash_devices").await.len() as i64, MAX_GROUPS + 1);
        let last = format!("f{}", 2 * MAX_GROUPS - 1);
        assert!(shown(&groups).contains(&(&*last, 1)), "a new crash has its chance");
    }

    async fn a_group_counts_a_bounded_number_of_devices(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        let crashes: Vec<_> = (0..MAX_GROUP_DEVICES + 3).map(|device| crash(update, "a", device)).collect();
        let counted = count(db, &crashes).await;
        assert_eq!(counted.iter().filter(|new| **new).count() as i64, MAX_GROUP_DEVICES);
        assert_eq!(shown(&org_reads!(db, org, crash_groups(update))), [("a", MAX_GROUP_DEVICES)]);
        assert_eq!(db.rows_of("crash_devices").await.len() as i64, MAX_GROUP_DEVICES);
    }

    async fn crashes_that_were_last_seen_long_ago_are_forgotten(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        let (_, other) = an_update_of(db, "com.example.other").await;
        count(db, &[crash(update, "old", 1), crash(update, "seen", 1), crash(other, "old", 1)]).await;
        count(db, &[CrashReport { at: NOW + 1, ..crash(update, "seen", 1) }]).await;
        assert_eq!(system_writes!(db, forget_crashes_before(NOW, 10)), 0);
        assert_eq!(system_writes!(db, forget_crashes_before(NOW + 1, 1)), 1);
        assert_eq!(system_writes!(db, forget_crashes_before(NOW + 1, 10)), 1);
        assert_eq!(system_writes!(db, forget_crashes_before(NOW + 1, 10)), 0);
        assert_eq!(shown(&org_reads!(db, org, crash_groups(update))), [("seen", 1)]);
        for table in ["crash_updates", "crash_groups", "crash_devices"] {
            assert_eq!(db.rows_of(table).await.len(), 1, "{table}");
        }
        // A crash that comes back is counted again.
        assert_eq!(count(db, &[crash(other, "old", 1)]).await, [true]);
    }

    async fn the_bounds_hold_when_many_count_at_once(db: &TestDb) {
        let (org, update) = an_update_of(db, "com.example.app").await;
        let (_, other) = an_update_of(db, "com.example.other").await;
        let counted = db
            .at_once(8, |db, number| async move {
                let mut mine: Vec<_> = (0..10).map(|at| crash(update, &format!("f{number}x{at}"), 1)).collect();
                mine.extend([crash(other, "all", number as i64), crash(update, "all", 5)]);
                // Each node has received them in another order.
                mine.rotate_left(number);
                count(&db, &mine).await.into_iter().filter(|new| *new).count()
            })
            .await;
        assert!(counted.iter().sum::<usize>() >= 88, "{counted:?}");
        let groups = org_reads!(db, org, crash_groups(update));
        assert_eq!(groups.len() as i64, MAX_GROUPS);
        let devices: i64 = groups.iter().map(|group| group.devices).sum();
        let of_other = db.rows_of("crash_devices").await.len() as i64 - devices;
        assert_eq!(of_other, 8, "each row is counted in its group");
    }
}
