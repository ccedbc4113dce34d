//! Shared runners serve organizations in equal shares, and an organization never has more running builds than its tier
//! allows.

use launchway_domain::build::Outcome;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::json;

use crate::stage::builds::{Play, build, built, read};
use crate::stage::runners::Runner;
use crate::support::{Says, Setup, TestApp};

/// The owner of the build that a runner gets next.
async fn next(app: &TestApp, runner: &Runner) -> OrgId {
    let id = app.take(runner).await.id.parse().unwrap();
    app.build(id).await.org_id
}

/// The attack: all builds of one organization have the highest priority.
#[tokio::test]
async fn priority_does_not_cross_organizations() {
    for app in TestApp::on_both().await {
        let (greedy, modest) = (app.org(Tier::Free).await, app.org(Tier::Free).await);
        for _ in 0..5 {
            app.queue(greedy, |build| build.priority = 100).await;
        }
        app.advance(1);
        for _ in 0..2 {
            app.queue(modest, |build| build.priority = -100).await;
        }
        let runner = app.shared_runner(&["os=linux"]).await;
        let mut served = Vec::new();
        for _ in 0..5 {
            served.push(next(&app, &runner).await);
            app.advance(1);
        }
        assert_eq!(served.iter().filter(|org| **org == modest).count(), 2, "{served:?}");
        assert!(served[..2].contains(&modest) && served[2..4].contains(&modest), "{served:?}");
    }
}

/// Another form: a requeued build goes first only within its own organization, however often it is requeued.
#[tokio::test]
async fn a_build_that_comes_back_does_not_push_others_away() {
    let app = TestApp::start().await;
    let (flapping, modest) = (app.org(Tier::Free).await, app.org(Tier::Free).await);
    let runner = app.shared_runner(&["os=linux"]).await;
    for _ in 0..2 {
        app.queue(flapping, |_| ()).await;
    }
    let lost = app.take(&runner).await.id;
    app.advance(launchway_domain::build::LEASE);
    launchway_jobs::expire_leases::expire_leases(&app.app).await.unwrap();
    app.queue(modest, |_| ()).await;
    assert_eq!(next(&app, &runner).await, modest);
    assert_eq!(app.take(&runner).await.id, lost, "and first of its own");
}

/// Another form: an organization deletes its builds to look as if it had never been served.
#[tokio::test]
async fn deleted_builds_do_not_let_their_organization_go_first() {
    for app in TestApp::on_both().await {
        let (forgetful, modest) = (app.org(Tier::Free).await, app.org(Tier::Free).await);
        let key = app.key(forgetful, &Scope::ALL).await;
        for org in [forgetful, modest] {
            for _ in 0..4 {
                app.queue(org, |_| ()).await;
            }
        }
        let runner = app.shared_runner(&["os=linux"]).await;
        let mut served = Vec::new();
        for _ in 0..4 {
            let id = app.take(&runner).await.id.parse().unwrap();
            let org = app.build(id).await.org_id;
            Play { app: &app, org, id }.ends(Outcome::Success).await;
            if org == forgetful {
                app.delete(&key, &format!("/build?id={id}")).await.ok();
            }
            served.push(org);
            app.advance(1);
        }
        assert_eq!(served.iter().filter(|org| **org == modest).count(), 2, "{served:?}");
    }
}

/// Another form: many different organizations at once, each with one build more than the others saw.
#[tokio::test]
async fn whoever_runs_least_is_next() {
    let app = TestApp::start().await;
    let orgs = [app.org(Tier::Free).await, app.org(Tier::Pro).await, app.org(Tier::Enterprise).await];
    for org in orgs {
        for _ in 0..4 {
            app.queue(org, |_| ()).await;
        }
    }
    let runner = app.shared_runner(&["os=linux"]).await;
    for round in 0..4 {
        let mut served = Vec::new();
        for _ in orgs {
            served.push(next(&app, &runner).await);
            app.advance(1);
        }
        served.sort_unstable();
        let mut all = orgs.to_vec();
        all.sort_unstable();
        assert_eq!(served, all, "round {round}");
    }
}

/// Two nodes that serve at the same moment neither serve the same organization twice, nor exceed its limit.
#[tokio::test]
async fn two_nodes_share_as_one_does() {
    let mut setup = Setup::on_postgres();
    setup.settings.quotas = Some("free:running-builds=2".to_owned());
    let node = TestApp::with(setup).await;
    let other = node.another_node().await;
    let orgs = [node.org(Tier::Free).await, node.org(Tier::Free).await];
    for org in orgs {
        for _ in 0..6 {
            node.queue(org, |_| ()).await;
        }
    }
    let runner = node.shared_runner(&["os=linux"]).await;
    let asked: Vec<_> = (0..4).map(|number| if number % 2 == 0 { &node } else { &other }).collect();
    let taken = futures::future::join_all(asked.iter().map(|app| app.ask(&runner))).await;
    let mut per_org = [0, 0];
    for lease in taken.iter().filter(|lease| lease["buildId"].is_string()) {
        let at = orgs.iter().position(|org| lease["orgId"] == org.to_string()).unwrap();
        per_org[at] += 1;
    }
    assert_eq!(per_org, [2, 2], "{taken:?}");
}

#[tokio::test]
async fn builds_beyond_the_running_limit_wait_and_say_so() {
    let app = TestApp::with(settings!(quotas = "free:running-builds=1")).await;
    let (org, other) = (app.org(Tier::Free).await, app.org(Tier::Pro).await);
    let (key, other_key) = (app.key(org, &Scope::ALL).await, app.key(other, &Scope::ALL).await);
    let (own, shared) = (app.runner(&key, &[]).await, app.shared_runner(&[]).await);
    built(&app, &key, json!({})).await;
    app.advance(1);
    let second = built(&app, &key, json!({})).await;
    app.take(&own).await;
    for runner in [&own, &shared] {
        assert_eq!(app.ask(runner).await, json!(null));
    }
    let waits = read(&app, &key, second).await;
    assert_eq!(
        waits["waitingFor"],
        "Waiting for another build of this organization to end: its tier free runs 1 build at a time"
    );
    let theirs = json!({"bundleId": "com.example.other"});
    for _ in 0..2 {
        built(&app, &other_key, theirs.clone()).await;
        app.take(&shared).await;
    }
    app.advance(launchway_domain::build::LEASE);
    launchway_jobs::expire_leases::expire_leases(&app.app).await.unwrap();
    app.take(&own).await;
}

#[tokio::test]
async fn a_queue_that_is_full_takes_no_more() {
    let app = TestApp::with(settings!(quotas = "free:queued-builds=2")).await;
    let org = app.org(Tier::Free).await;
    let key = app.key(org, &Scope::ALL).await;
    let full = "This organization has 2 builds in the queue, the maximum of its tier free. Wait until one starts, \
                cancel one, or ask the operator to change --quotas or the tier.";
    let first = built(&app, &key, json!({})).await;
    built(&app, &key, json!({})).await;
    build(&app, &key, json!({})).await.refused(400, full);
    app.post(&key, &format!("/build/cancel?id={first}"), ()).await.ok();
    built(&app, &key, json!({})).await;
    app.post(&key, &format!("/build/retry?id={first}"), ()).await.refused(400, full);
}

/// The work for each organization is bounded by the length of its queue.
#[tokio::test]
async fn an_organization_waits_with_few_sets_of_labels() {
    let (app, key) = TestApp::with_key().await;
    let labels =
        |number: u32| json!({"plan": {"labels": [format!("unit={number}")], "steps": [{"name": "a", "run": "a"}]}});
    for number in 0..50 {
        built(&app, &key, labels(number)).await;
    }
    let refused = build(&app, &key, labels(50)).await;
    let message = refused.refusal(400);
    message.says("50 different sets of labels");
    built(&app, &key, labels(7)).await;
}
