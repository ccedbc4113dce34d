//! What a request leaves to the profile in its source (`docs/reference/builds.md#values-of-the-profile`).

use launchway_ops::held_builds::NO_LEASE;
use serde_json::{Value, json};

use crate::stage::builds::build;
use crate::support::{Fields, TestApp};

fn told(configuration: Option<&str>) -> Value {
    json!({
        "plan": {"steps": [{"name": "a", "run": "b"}]}, "origin": "launchway.toml",
        "profile": {"buildType": "debug", "distribution": "internal", "configuration": configuration},
    })
}

#[tokio::test]
async fn a_build_starts_again_with_the_values_of_its_profile() {
    for app in TestApp::on_both().await {
        let (_, key) = app.org_with_key().await;
        let variable = json!({"name": "A", "value": "x", "configurations": ["staging"]});
        app.post(&key, "/env", variable).await.created();
        let made = build(&app, &key, json!({})).await.created();
        made.has(json!({"buildType": "release", "distribution": "store", "configuration": null}));
        let runner = app.runner(&key, &[]).await;
        let held = app.take(&runner).await;
        assert_eq!(held.lease["undecided"], json!({"buildType": true, "distribution": true, "configuration": true}));
        assert_eq!(held.lease["env"], json!([]));
        held.tell("/runner/plan", told(Some("staging"))).await.refused(400, NO_LEASE);
        held.renew().await.refused(400, NO_LEASE);
        let view = async || app.get(&key, &format!("/build?id={}", made.id())).await.ok();
        let values = json!({"buildType": "debug", "distribution": "internal", "configuration": "staging"});
        view().await.has(values.clone());
        view().await.has(json!({"status": "queued", "attempt": 2}));

        let again = app.take(&runner).await;
        again.lease.has(values);
        assert_eq!(
            again.lease["undecided"],
            json!({"buildType": false, "distribution": false, "configuration": false})
        );
        assert_eq!(again.lease["env"][0]["name"], "A");
        again.tell("/runner/plan", told(Some("staging"))).await.ok();
        again.renew().await.ok();
        view().await.has(json!({"status": "running", "attempt": 2}));
    }
}

#[tokio::test]
async fn the_request_wins_over_the_profile() {
    let (app, key) = TestApp::with_key().await;
    let runner = app.runner(&key, &[]).await;
    let values = json!({"buildType": "release", "distribution": "store", "configuration": "production"});
    let made = build(&app, &key, values.clone()).await.created();
    let held = app.take(&runner).await;
    held.tell("/runner/plan", told(Some("staging"))).await.ok();
    app.get(&key, &format!("/build?id={}", made.id())).await.ok().has(values);
    held.finish(json!({})).await.ok();
    // The same values, and a wrong one.
    let values = json!({"buildType": "debug", "distribution": "internal"});
    build(&app, &key, values).await.created();
    let held = app.take(&runner).await;
    held.tell("/runner/plan", told(Some("a b"))).await.expect(400);
    held.tell("/runner/plan", told(None)).await.ok();
    held.renew().await.ok();
}
