//! `trust init` and `trust reset` by a caller who lacks a right: refused before a key is made.

use serde_json::json;

use crate::stage::{KEY, Stage};
use crate::trust_server::{APP, TrustServer, caller_with};

const CALLER: &str = "GET /api/auth/session";

/// Runs a command that makes keys, as this caller, and returns what it said.
async fn refused(server: &TrustServer, command: &[&str], caller: serde_json::Value) -> String {
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_URL", &server.url()).set("LAUNCHWAY_API_KEY", KEY);
    stage.set("LAUNCHWAY_KEY_PASSPHRASE", "a long passphrase");
    server.content().replies.push((CALLER, 200, caller));
    let keys = ["--configuration", "production", "--recovery-key", "recovery.pem"];
    let arguments = [&["trust"], command, &["--bundle-id", APP], &keys].concat();
    let said = stage.run(&arguments).await;
    assert!(said.ends_with("--- exit 4\n"), "{said}");
    assert!(!stage.project().join("recovery.pem").exists(), "{said}");
    assert!(!stage.project().join("launchway.trust.json").exists(), "{said}");
    // Neither keys nor what a later run would continue with.
    assert!(!stage.login_file().with_file_name("keys").exists(), "{said}");
    assert!(!stage.login_file().with_file_name("trust").exists(), "{said}");
    assert_eq!(server.count("POST /api/trust/online-key"), 0);
    said
}

#[tokio::test]
async fn a_caller_without_the_scopes_makes_no_keys() {
    let server = TrustServer::start().await;
    for (scopes, missing) in [
        (vec!["build", "update"], ": admin; no keys"),
        (vec!["admin"], ": update; no keys"),
        (vec!["build"], ": update, admin; no keys"),
    ] {
        let said = refused(&server, &["init", "--yes"], caller_with(&scopes, json!(null))).await;
        assert!(
            said.contains(missing) && said.contains("launchway login --admin"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn an_admin_who_is_no_owner_resets_nothing() {
    let server = TrustServer::start().await;
    let there = json!({"bundleId": APP, "repository": "01234567-89ab-4def-8123-456789abcdef", "snapshot": 1,
        "onlineKey": null, "pendingOnlineKey": null, "roles": [], "drafts": [], "otherFormatsAllowed": false});
    server.content().replies.push(("GET /api/trust", 200, there));
    let admin = caller_with(&["update", "admin"], json!("admin"));
    let said = refused(&server, &["reset", "--confirm", APP], admin).await;
    assert!(
        said.contains("this requires the role owner, but your role is admin"),
        "{said}"
    );
}
