//! The queue of builds: whose turn it is, what a runner gets, and what runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use launchway_domain::build::{Build, BuildState, Transition};
use launchway_domain::id::{BuildId, OrgId};
use launchway_store::{Db, QueueShare, RunningBuilds, StateChange};

use crate::builds::{keep, new_build};
use crate::database::Plan;
use crate::records::{NOW, an_org, bundle, new_id};
use crate::runners::new_runner;

/// The ids in the order in which a runner with one set of labels claims them.
async fn order(db: &Db, labels: &[&str], org: OrgId) -> Vec<BuildId> {
    let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let mut ids = Vec::new();
    loop {
        let mut tx = db.write().await.unwrap();
        let Some((_, build)) = tx.org(org).next_queued(&labels).await.unwrap() else {
            return ids;
        };
        let (to, _) = build.state.apply(Transition::Lease, NOW).unwrap();
        let with = StateChange {
            runner: Some(new_id()),
            started_at: Some(NOW),
            ..StateChange::default()
        };
        assert!(
            tx.org(build.org_id)
                .set_build_state(build.id, &build.state, &to, &with)
                .await
                .unwrap()
        );
        tx.commit().await.unwrap();
        ids.push(build.id);
    }
}

contract! {
    async fn the_queue_gives_what_was_given_back_then_priority_then_age(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let mut made = Vec::new();
        for (at, priority) in [0, 0, 5, -3, 5, 0].into_iter().enumerate() {
            let build = Build { priority, ..new_build(orgs[at % 2]) };
            keep(db, &build).await;
            made.push(build);
        }
        let mac = Build { labels: vec!["os=macos".to_owned()], ..new_build(orgs[0]) };
        keep(db, &mac).await;
        // The runner of the last one was lost once.
        let lost = &made[3];
        let (leased, _) = lost.state.apply(Transition::Lease, NOW).unwrap();
        let (again, _) = leased.apply(Transition::Lapse, leased.lease_until.unwrap()).unwrap();
        let nothing = StateChange::default();
        assert!(org_writes!(db, lost.org_id, set_build_state(lost.id, &lost.state, &leased, &nothing)));
        assert!(org_writes!(db, lost.org_id, set_build_state(lost.id, &leased, &again, &nothing)));

        let ids = |list: &[usize]| list.iter().map(|at| made[*at].id).collect::<Vec<_>>();
        assert_eq!(org_reads!(db, orgs[0], queue_front(9)), [&ids(&[2, 4, 0])[..], &[mac.id]].concat());
        assert_eq!(org_reads!(db, orgs[1], queue_front(2)), ids(&[3, 1]));
        assert_eq!(order(db, &["os=linux"], orgs[1]).await, ids(&[3, 1, 5]));
        assert_eq!(order(db, &["os=linux"], orgs[0]).await, ids(&[2, 4, 0]));
        assert_eq!(order(db, &["os=linux"], orgs[0]).await, []);
        assert_eq!(order(db, &["os=macos"], orgs[0]).await, [mac.id]);
        assert_eq!(system_reads!(db, queue_shares(9)), []);
    }

    async fn the_shares_of_the_queue_are_the_sets_of_each_organization(db: &TestDb) {
        let (first, second, idle) = (an_org(db).await, an_org(db).await, an_org(db).await);
        for (org, labels) in [
            (first.id, ""), (first.id, "os=linux"), (first.id, "os=linux"), (second.id, "os=macos"), (second.id, "a=1"),
        ] {
            let labels = labels.split(',').filter(|label| !label.is_empty()).map(str::to_owned).collect();
            keep(db, &Build { labels, ..new_build(org) }).await;
        }
        let gone = new_build(idle.id);
        keep(db, &gone).await;
        let (canceled, _) = gone.state.apply(Transition::Cancel, NOW).unwrap();
        assert!(org_writes!(db, idle.id, set_build_state(gone.id, &gone.state, &canceled, &StateChange::default())));
        let set = |label: &str| vec![label.to_owned()];
        let share = |org: &launchway_domain::org::Org, sets: Vec<Vec<String>>| {
            QueueShare { org: org.id, tier: org.tier, served_at: None, sets }
        };
        let shares = [share(&first, vec![vec![], set("os=linux")]), share(&second, vec![set("a=1"), set("os=macos")])];
        assert_eq!(system_reads!(db, queue_shares(9)), shares);
        assert_eq!(org_reads!(db, second.id, queue_share(9)), shares[1..]);
        assert_eq!(org_reads!(db, second.id, queue_share(1))[0].sets, [set("a=1")], "no more sets than asked for");
        assert_eq!(org_reads!(db, idle.id, queue_share(9)), []);
        assert_eq!(system_reads!(db, count_queued()), 5, "of all organizations");
        assert_eq!(org_reads!(db, first.id, count_queued(9)), 3);
        assert_eq!(org_reads!(db, first.id, count_queued(2)), 2, "it counts no further");
        assert_eq!(order(db, &[], first.id).await.len(), 1);
        assert_eq!(system_reads!(db, queue_shares(9))[0].served_at, Some(NOW));
        assert_eq!(org_reads!(db, first.id, count_running(9)), 1);
        assert_eq!(org_reads!(db, first.id, count_running(0)), 0);
    }

    /// The attack: an organization deletes its builds, to look as if it had never been served.
    async fn an_organization_stays_served_when_its_builds_are_deleted(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        for owner in [org, other] {
            keep(db, &new_build(owner)).await;
        }
        let taken = order(db, &["os=linux"], org).await;
        keep(db, &new_build(org)).await;
        assert!(org_writes!(db, org, delete_build(taken[0])));
        let served = |share: QueueShare| (share.org, share.served_at);
        let mut shares: Vec<_> = system_reads!(db, queue_shares(9)).into_iter().map(served).collect();
        shares.sort_by_key(|(_, at)| *at);
        assert_eq!(shares, [(other, None), (org, Some(NOW))]);
        assert_eq!(org_reads!(db, org, queue_share(9)).into_iter().map(served).collect::<Vec<_>>(), shares[1..]);
    }

    /// Another form: lost builds are claimed again and again.
    async fn a_build_that_is_taken_again_serves_its_organization_again(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        for build in [&build, &new_build(org)] {
            keep(db, build).await;
        }
        let lease = |from: &BuildState, at| {
            let (leased, _) = from.apply(Transition::Lease, at).unwrap();
            (leased, StateChange { started_at: Some(at), ..StateChange::default() })
        };
        let (leased, with) = lease(&build.state, NOW);
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &with)));
        let (again, _) = leased.apply(Transition::Lapse, leased.lease_until.unwrap()).unwrap();
        assert!(org_writes!(db, org, set_build_state(build.id, &leased, &again, &StateChange::default())));
        let (leased, with) = lease(&again, NOW + 9);
        assert!(org_writes!(db, org, set_build_state(build.id, &again, &leased, &with)));
        assert!(!org_writes!(db, org, set_build_state(build.id, &again, &leased, &lease(&again, NOW + 99).1)));
        assert_eq!(org_reads!(db, org, queue_share(9))[0].served_at, Some(NOW + 9));
        assert_eq!(org_reads!(db, org, build(build.id)).unwrap().started_at, Some(NOW), "it began once");
    }

    /// It writes only when the build began.
    async fn what_a_node_of_an_earlier_release_serves_counts(db: &TestDb) {
        let org = an_org(db).await.id;
        keep(db, &new_build(org)).await;
        order(db, &["os=linux"], org).await;
        let theirs = new_build(org);
        for build in [&theirs, &new_build(org)] {
            keep(db, build).await;
        }
        let began = NOW + 5;
        db.raw(&format!("UPDATE builds SET status = 'running', attempt = 1, started_at = {began} WHERE id = '{}'", theirs.id)).await;
        assert_eq!(org_reads!(db, org, queue_share(9))[0].served_at, Some(began));
    }

    async fn what_runs_is_counted_by_organization_and_runner(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let (own, shared) = (new_runner(Some(org)), new_runner(None));
        for runner in [&own, &shared] {
            system_writes!(db, create_runner(runner, &runner.name));
        }
        for (org, runner) in [(org, &own), (org, &shared), (org, &shared), (other, &shared)] {
            let build = new_build(org);
            keep(db, &build).await;
            let (leased, _) = build.state.apply(Transition::Lease, NOW).unwrap();
            let with = StateChange { runner: Some(runner.id), ..StateChange::default() };
            assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &with)));
        }
        let mut running = system_reads!(db, running_builds());
        running.sort_by_key(|running| running.org);
        let expected = [RunningBuilds { org, all: 3, shared: 2 }, RunningBuilds { org: other, all: 1, shared: 1 }];
        assert_eq!(running, expected);
    }

    async fn those_who_take_builds_do_so_one_after_the_other(db: &TestDb) {
        let holding = Arc::new(AtomicBool::new(false));
        db.at_once(6, |db, _| {
            let holding = holding.clone();
            async move {
                let mut tx = db.write().await.unwrap();
                tx.system("a test").lock_queue().await.unwrap();
                assert!(!holding.swap(true, Ordering::SeqCst), "another one holds the queue");
                tokio::task::yield_now().await;
                holding.store(false, Ordering::SeqCst);
                tx.commit().await.unwrap();
            }
        }).await;
    }

    /// The amount that a query of the queue reads must not grow with the queue.
    async fn questions_about_the_queue_are_answered_by_indexes(db: &TestDb) {
        let mut orgs = Vec::new();
        for _ in 0..8 {
            orgs.push(an_org(db).await.id);
        }
        let mut tx = db.write().await.unwrap();
        for at in 0..200 {
            let build = new_build(orgs[at % orgs.len()]);
            tx.org(build.org_id).create_build(&build, &bundle(&build.bundle_id)).await.unwrap();
        }
        tx.commit().await.unwrap();
        // The choice of PostgreSQL's planner in an empty table means nothing.
        db.raw("ANALYZE builds").await;
        let org = orgs[3];
        let id = &*org.to_string();
        let front = db.plans(&[id, "9"], async || drop(org_reads!(db, org, queue_front(9)))).await;
        let labels = ["os=77".to_owned()];
        let next = db.plans(&[id, "os=77"], async || drop(org_writes!(db, org, next_queued(&labels)))).await;
        let share = db.plans(&["9", id], async || drop(org_reads!(db, org, queue_share(9)))).await;
        let shares = db.plans(&["9"], async || drop(system_reads!(db, queue_shares(9)))).await;
        let stale = db.plans(&["1", "9"], async || drop(system_reads!(db, stale_builds(1, 9)))).await;
        for (plans, indexes) in [
            (front, &["builds_queued_order"][..]),
            (next, &["builds_queued_sets"]),
            (share, &["builds_queued_sets", "builds_served"]),
            (shares, &["builds_queued_sets", "builds_served"]),
            (stale, &["builds_queued_at"]),
        ] {
            let [Plan { sql, steps }] = &plans[..] else {
                panic!("one statement instead of {plans:#?}");
            };
            assert!(indexes.iter().all(|index| steps.contains(index)), "{sql}: {steps}");
            for reads_all in ["SCAN builds\n", "SCAN b\n", "USE TEMP B-TREE", "Seq Scan on builds", "Sort"] {
                assert!(!steps.contains(reads_all), "{sql}: {steps}");
            }
        }
    }

    async fn many_runners_get_each_build_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut made = HashSet::new();
        for _ in 0..40 {
            let build = new_build(org);
            keep(db, &build).await;
            made.insert(build.id);
        }
        let taken = db.at_once(8, |db, _| async move { order(&db, &["os=linux"], org).await }).await.concat();
        // A runner that finds only locked builds gets none; its builds go to another.
        assert_eq!(taken.len(), taken.iter().collect::<HashSet<_>>().len(), "none twice");
        let rest = order(db, &["os=linux"], org).await;
        assert_eq!(taken.into_iter().chain(rest).collect::<HashSet<_>>(), made);
    }
}
