//! What is printed for others to paste.

use serde_json::json;

use super::*;

fn update(id: &str, sha256: &str) -> UpdateView {
    let update = json!({
        "id": id, "status": "awaiting_signature", "bundleId": "com.example.app", "platform": "android", "version": "1.0.1",
        "buildNumber": "2", "configuration": "production", "fingerprint": null, "buildId": null, "sourceUpdateId": null,
        "releaseNotes": "", "mandatory": false, "rollout": 100, "size": 1, "sha256": sha256, "fileCount": 1,
        "createdBy": "key_1", "createdAt": "2026-11-20T10:00:00.000Z",
    });
    serde_json::from_value(update).expect("an update")
}

#[test]
fn a_pasted_command_runs_nothing_of_the_server() {
    let hash = "ab".repeat(32);
    let command = sign_command(&update("update_1", &hash));
    assert_eq!(command, format!("launchway update sign update_1 --sha256 {hash}"));
    let hostile = sign_command(&update("x; rm -rf ~", "$(reboot)"));
    assert_eq!(hostile, "launchway update sign 'x; rm -rf ~' --sha256 '$(reboot)'");
}

#[test]
fn the_package_of_the_server_is_compared_with_the_known_one() {
    let update = update("update_1", "aa");
    check_package(&update, "aa").expect("the same");
    let failure = check_package(&update, "bb").expect_err("another one");
    assert!(
        failure.message.contains("has another package: SHA-256 aa"),
        "{failure:?}"
    );
}

#[test]
fn each_configuration_has_its_role() {
    let rows = [
        (None, "any"),
        (Some("production"), "c-production"),
        (Some("a.b-c"), "c-a.b-c"),
    ];
    for (configuration, expected) in rows {
        assert_eq!(role_of(configuration).expect("a role").to_string(), expected);
    }
    role_of(Some("no name")).expect_err("a space");
}
