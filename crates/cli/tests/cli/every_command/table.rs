//! The commands as users type them, with the server's responses.

use serde_json::{Value, json};

use crate::build::artifact;
use crate::stage::{build, page, submission, update};
use crate::{apps, builds, credentials, env_vars, keys, orgs, runner, session, submit, trust, webhooks};

const UPDATE: &str = "update_01kb0000000000000000000002";
const ID: &str = "id_01kb0000000000000000000001";

/// A command line and its server.
pub struct Row {
    pub arguments: &'static [&'static str],
    pub kind: Kind,
    /// The server's responses, given its address.
    pub answers: fn(&str) -> Vec<String>,
}

/// The source of a command's output.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// With `--json` it prints the server's last response.
    Passes,
    /// It sends requests, and prints its own object or text.
    Tells,
    /// It sends no request, or only with further arguments.
    Local,
}

fn one(value: Value) -> Vec<String> {
    vec![value.to_string()]
}

fn list(item: Value) -> Vec<String> {
    vec![page(&[item], 1, 0)]
}

fn gone() -> Vec<String> {
    one(json!({"id": ID, "status": "deleted"}))
}

fn upload(url: &str) -> String {
    json!({"id": "upload_1", "status": "pending", "method": "PUT", "url": format!("{url}/objects/1"),
        "headers": {}, "expiresAt": "2026-11-20T10:00:00.000Z"})
    .to_string()
}

fn a_build() -> Value {
    build(json!({"status": "success"}))
}

fn deployment_key() -> Value {
    json!({"id": ID, "status": "active", "bundleId": "com.example.app", "platform": "ios", "configuration": null,
        "key": "pRoDuCtIoN-kEy", "createdBy": "key_1", "createdAt": "2026-11-20T10:00:00.000Z"})
}

/// The server's newest build with a fingerprint.
fn newest() -> Value {
    json!({"id": ID, "status": "success", "bundleId": "com.example.app", "platform": "android", "configuration": null,
        "version": "1.0.0", "buildNumber": "1", "fingerprint": "one", "document": null})
}

const NOTHING: fn(&str) -> Vec<String> = |_| Vec::new();

/// Contains every executable command.
#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    let passes = |arguments, answers| Row { arguments, kind: Kind::Passes, answers };
    let tells = |arguments, answers| Row { arguments, kind: Kind::Tells, answers };
    let local = |arguments| Row { arguments, kind: Kind::Local, answers: NOTHING };
    let asked = |arguments, answers: fn(&str) -> Vec<String>| passes(arguments, answers);
    vec![
        // The key comes from the environment; `login` has its own tests.
        local(&["login", "--with-key"]),
        local(&["logout"]),
        asked(&["whoami"], |_| one(session::caller(json!({})))),
        local(&["init", "--yes"]),
        local(&["doctor"]),
        local(&["doctor", "stores", "store.p8", "--key-id", "2X9R4HXF34"]),
        asked(&["build", "android", "--no-wait"], |url| vec![upload(url), String::new(), a_build().to_string()]),
        asked(&["build", "list"], |_| list(a_build())),
        asked(&["build", "show", ID], |_| one(a_build())),
        asked(&["build", "cancel", ID], |_| one(a_build())),
        asked(&["build", "retry", ID, "--no-wait"], |_| one(a_build())),
        asked(&["build", "delete", ID, "--yes"], |_| gone()),
        tells(&["build", "download", ID], |url| {
            let mut app = artifact("app.apk", b"an app");
            app["url"] = json!(format!("{url}/objects/1"));
            let whole = build(json!({"status": "success", "artifacts": [app]})).to_string();
            vec![whole, "an app".to_owned()]
        }),
        tells(&["build", "logs", ID], |_| vec!["x\n".to_owned()]),
        asked(&["build", "plan", ID], |_| one(builds::plan())),
        asked(&["update", "android", "--dir", "dist", "--bundle-id", "com.example.app", "--version", "1.0.1",
            "--configuration", "production", "--fingerprint", "one"],
            |url| vec![newest().to_string(), upload(url), String::new(), update(json!({})).to_string()]),
        asked(&["update", "list"], |_| list(update(json!({})))),
        asked(&["update", "show", UPDATE], |_| one(update(json!({"reports": {"downloaded": 1, "installed": 1, "confirmed": 1, "rolledBack": 0,
            "failed": 0, "reasons": []}})))),
        asked(&["update", "rollout", UPDATE, "50"], |_| one(update(json!({"rollout": 50})))),
        asked(&["update", "edit", UPDATE, "--release-notes", "Faster."], |_| one(update(json!({"releaseNotes": "Faster."})))),
        asked(&["update", "pause", UPDATE], |_| one(update(json!({"status": "paused"})))),
        asked(&["update", "resume", UPDATE], |_| one(update(json!({})))),
        asked(&["update", "withdraw", UPDATE, "--yes"], |_| one(update(json!({"status": "withdrawn"})))),
        asked(&["update", "promote", UPDATE, "--configuration", "staging"], |_| vec![update(json!({})).to_string(); 2]),
        local(&["update", "sign", UPDATE]),
        local(&["update", "revoke", UPDATE]),
        asked(&["update", "rollback", UPDATE, "--yes"], |_| {
            let before = update(json!({"id": "update_01", "version": "1.0.0", "buildNumber": "1", "sha256": "00"}));
            let bad = update(json!({}));
            vec![bad.to_string(), page(&[bad.clone(), before], 2, 0), bad.to_string()]
        }),
        asked(&["submit", "android", "--id", ID, "--destination", "internal", "--no-wait"],
            |_| vec![a_build().to_string(), submission(json!({})).to_string()]),
        asked(&["submit", "list"], |_| list(submission(json!({})))),
        asked(&["submit", "show", submit::ID], |_| one(submission(json!({})))),
        tells(&["submit", "logs", submit::ID], |_| one(submission(json!({})))),
        asked(&["submit", "rollout", submit::ID, "50"], |_| one(submission(json!({"rollout": 50})))),
        asked(&["submit", "halt", submit::ID], |_| one(submission(json!({"status": "halted"})))),
        asked(&["submit", "resume", submit::ID], |_| one(submission(json!({"status": "rolling_out"})))),
        asked(&["submit", "retry", submit::ID, "--no-wait"], |_| one(submission(json!({})))),
        asked(&["submit", "cancel", submit::ID], |_| one(submission(json!({"cancelRequested": true})))),
        asked(&["submit", "delete", submit::ID, "--yes"], |_| gone()),
        asked(&["trust", "status", "--bundle-id", "com.example.app"], |_| vec![page(&[], 0, 0), trust::trust().to_string()]),
        // The others need the keys and files of an app, or make them: they have their own tests.
        local(&["trust", "init", "--bundle-id", "com.example.app"]),
        local(&["trust", "verify"]),
        local(&["trust", "new-key"]),
        local(&["trust", "add-key", "root", "key.pem"]),
        local(&["trust", "remove-key", "root", "012345"]),
        local(&["trust", "rotate", "--online-key"]),
        local(&["trust", "sign", "root"]),
        local(&["trust", "push"]),
        local(&["trust", "reset"]),
        local(&["fingerprint", "android"]),
        local(&["fingerprint", "diff", "here", "here"]),
        local(&["fingerprint", "embed", "android"]),
        local(&["embed", "android"]),
        tells(&["native-needed", "android", "--against", UPDATE], |_| one(update(json!({})))),
        local(&["runner", "--work-dir", "work"]),
        asked(&["runner", "list"], |_| list(runner::runner())),
        asked(&["runner", "revoke", ID, "--yes"], |_| one(json!({"id": ID, "status": "revoked"}))),
        asked(&["runner", "token"], |_| one(json!({"token": "lwe_once", "expiresAt": "2026-11-20T11:00:00.000Z"}))),
        local(&["device", "init", "ios", "--bundle-id", "com.example.app", "--version", "1.0.0", "--build", "1"]),
        local(&["device", "check"]),
        local(&["device", "install"]),
        local(&["device", "start"]),
        local(&["device", "confirm"]),
        local(&["device", "crash"]),
        local(&["device", "report"]),
        local(&["device", "status"]),
        asked(&["app", "list"], |_| list(apps::app(json!({})))),
        asked(&["app", "show", "app_01kb0000000000000000000001"], |_| one(apps::app(json!({})))),
        asked(&["app", "create", "com.example.app"], |_| one(apps::app(json!({})))),
        asked(&["app", "delete", "app_01kb0000000000000000000001", "--yes"], |_| gone()),
        asked(&["deployment-key", "list"], |_| list(deployment_key())),
        asked(&["deployment-key", "add", "--bundle-id", "com.example.app", "--platform", "ios"], |_| one(deployment_key())),
        asked(&["deployment-key", "remove", ID, "--yes"], |_| gone()),
        tells(&["import", "capgo", "empty.json", "--bundle-id", "com.example.app", "--platform", "ios"], |_| vec![page(&[], 0, 0)]),
        asked(&["env", "list"], |_| list(env_vars::variable(json!({})))),
        asked(&["env", "set", "API_URL", "https://api.example.com", "--plain"], |_| one(env_vars::variable(json!({})))),
        asked(&["env", "import", "one.env"], |_| one(env_vars::variable(json!({})))),
        asked(&["env", "delete", "env_01kb0000000000000000000001", "--yes"], |_| gone()),
        asked(&["key", "list"], |_| list(keys::key(json!({})))),
        asked(&["key", "create", "CI", "--scopes", "build"], |_| one(keys::key(json!({"key": "lw_new"})))),
        asked(&["key", "revoke", "key_01kb0000000000000000000002", "--yes"], |_| one(json!({"id": ID, "status": "revoked"}))),
        asked(&["webhook", "list"], |_| list(webhooks::webhook(json!({})))),
        asked(&["webhook", "show", ID], |_| one(webhooks::webhook(json!({})))),
        asked(&["webhook", "create", "Chat", "--to", "https://hooks.example.com"],
            |_| one(webhooks::webhook(json!({"secret": "whsec_once"})))),
        asked(&["webhook", "update", ID, "--disable"], |_| vec![webhooks::webhook(json!({})).to_string(); 2]),
        asked(&["webhook", "delete", ID, "--yes"], |_| gone()),
        asked(&["webhook", "test", ID], |_| one(webhooks::delivery(json!({})))),
        asked(&["webhook", "deliveries", ID], |_| list(webhooks::delivery(json!({})))),
        asked(&["webhook", "redeliver", ID], |_| one(webhooks::delivery(json!({})))),
        asked(&["webhook", "rotate-secret", ID], |_| one(webhooks::webhook(json!({"secret": "whsec_once"})))),
        asked(&["credential", "list"], |_| list(credentials::credential(json!({})))),
        asked(&["credential", "show", ID], |_| one(credentials::credential(json!({})))),
        asked(&["credential", "add", "AuthKey_2X9R4HXF34.p8"], |_| one(credentials::credential(json!({})))),
        local(&["credential", "create", "android-keystore"]),
        asked(&["credential", "rotate-events-secret", ID], |_| one(credentials::credential(json!({})))),
        asked(&["credential", "delete", ID, "--yes"], |_| gone()),
        asked(&["org", "list"], |_| list(orgs::org())),
        // Useless with a key from the environment.
        local(&["org", "use", ID]),
        asked(&["org", "show", ID], |_| one(orgs::org())),
        asked(&["org", "members"], |_| list(orgs::member())),
        asked(&["audit", "list"], |_| list(orgs::audit_line())),
        asked(&["usage"], |_| list(orgs::month("2026-11", json!(100)))),
        asked(&["api", "GET", "/apps"], |_| list(apps::app(json!({})))),
        local(&["completion", "bash"]),
        local(&["man", "pages"]),
    ]
}
