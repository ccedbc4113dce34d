//! Names beside ids, for people: of who did something, and of credentials.

use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, build, page, submission, update};

const KEY: &str = "key_01kb0000000000000000000001";
const CREDENTIAL: &str = "credential_01kb0000000000000000000001";

#[tokio::test]
async fn what_people_read_has_names_beside_ids() {
    let line = json!({"seq": 7, "at": "2026-11-20T10:00:00.000Z", "actor": KEY, "action": "env.delete",
        "resource": "env_01kb0000000000000000000001", "before": {"name": "TOKEN"}, "after": null,
        "address": null, "requestId": null, "hash": "00"});
    let deleted = json!({"id": CREDENTIAL, "status": "deleted"});
    let build = build(json!({"createdBy": KEY}));
    let by = format!("by CI ({KEY})");
    for (arguments, answer, expected) in [
        (&["build", "show", "build_1"][..], build.to_string(), &by),
        (
            &["update", "show", "update_1"],
            update(json!({"createdBy": KEY})).to_string(),
            &by,
        ),
        (
            &["submit", "show", "submission_1"],
            submission(json!({"createdBy": KEY})).to_string(),
            &by,
        ),
        (
            &["submit", "show", "submission_1"],
            submission(json!({"credentialId": CREDENTIAL})).to_string(),
            &format!("Play ({CREDENTIAL})"),
        ),
        (
            &["audit", "list"],
            page(std::slice::from_ref(&line), 1, 0),
            &format!("CI ({KEY})  env.delete  TOKEN (env_01kb0000000000000000000001)"),
        ),
        (
            &["credential", "delete", CREDENTIAL, "--yes"],
            deleted.to_string(),
            &format!("Play ({CREDENTIAL}) is deleted"),
        ),
    ] {
        let server = FakeServer::start([Reply::new(200, answer.clone()), Reply::new(200, answer.clone())]).await;
        server.know_names(&json!({KEY: "CI", CREDENTIAL: "Play"}));
        let stage = Stage::with(&server);
        let shown = stage.run(arguments).await;
        assert!(shown.contains(expected.as_str()), "{expected} is not in {shown}");
        // The result for programs is the server's answer.
        let json = stage.json(&[arguments, &["--json"]].concat()).await;
        assert_eq!(
            json.to_string(),
            serde_json::from_str::<serde_json::Value>(&answer).unwrap().to_string()
        );
    }
}
