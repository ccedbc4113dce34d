//! The forms of the check's parameters: bundle identifier, versions, builds, platform, repeated and absurd parameters.

use serde_json::{Value, json};

use crate::support::{Fields, NOBODY, TestApp};

/// The response to a query.
#[derive(Debug, PartialEq)]
enum Reply {
    Update,
    NoUpdate,
    NoUpdates,
    Bad(String),
}
use Reply::{NoUpdate, NoUpdates, Update};

fn bad(message: &str) -> Reply {
    Reply::Bad(message.to_owned())
}

/// A 400 whose message names this parameter.
fn bad_form(name: &str) -> Reply {
    Reply::Bad(format!("{name} must "))
}

async fn ask(app: &TestApp, path: &str) -> Reply {
    let answer = app.get(NOBODY, &format!("/update/check/{path}")).await;
    if answer.status == 400 {
        let message = answer.json().text("message").to_owned();
        answer.refused(400, &message);
        let form = message.find(" must ").map(|at| at + " must ".len());
        return Reply::Bad(message[..form.unwrap_or(message.len())].to_owned());
    }
    let answer = answer.ok();
    match (&answer["updateAvailable"], answer["message"].as_str()) {
        (Value::Bool(true), None) => Update,
        (Value::Bool(false), Some("No update available")) => NoUpdate,
        (Value::Bool(false), Some("No updates found for this bundle")) => NoUpdates,
        _ => panic!("{path}: {answer}"),
    }
}

/// A service with version 1.2.0, build 5 of an app.
async fn with_an_update() -> TestApp {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"bundleId": "com.example.App", "version": "1.2.0", "buildNumber": "5"})).await;
    app
}

#[tokio::test]
async fn any_bundle_id_but_a_blank_one_is_looked_up() {
    let app = with_an_update().await;
    let long = "a".repeat(5000);
    for (bundle, reply) in [
        ("com.example.App", Update),
        ("com.example.app", Update),
        ("COM.EXAMPLE.APP", Update),
        ("com%2Eexample%2eapp", Update),
        ("", bad("Bundle ID is required")),
        ("%20", bad("Bundle ID is required")),
        ("%20%09%0D%0A", bad("Bundle ID is required")),
        ("com.example", NoUpdates),
        ("com.example.app.", NoUpdates),
        ("com.example.app%20", NoUpdates),
        ("com.example.app%00", NoUpdates),
        ("com.example%2Fapp", NoUpdates),
        ("com.example+app", NoUpdates),
        ("*", NoUpdates),
        ("%25", NoUpdates),
        ("%", NoUpdates),
        ("%zz", NoUpdates),
        ("%FF%FE", NoUpdates),
        ("%C3%A4pp", NoUpdates),
        ("com.example.%F0%9F%9A%80", NoUpdates),
        ("'%20OR%201=1--", NoUpdates),
        ("null", NoUpdates),
        (&long, NoUpdates),
    ] {
        assert_eq!(ask(&app, &format!("{bundle}?currentVersion=1.0.0")).await, reply, "{bundle:?}");
    }
}

#[tokio::test]
async fn the_bundle_id_is_looked_at_before_the_version() {
    let app = with_an_update().await;
    for (path, message) in [
        ("", "Bundle ID is required"),
        ("%20", "Bundle ID is required"),
        ("%20?currentVersion=x&currentVersion=y", "Bundle ID is required"),
        ("com.example.app", "currentVersion is required"),
        ("com.example.app?currentVersion=", "currentVersion is required"),
        ("com.example.app?currentVersion", "currentVersion is required"),
        ("com.example.app?currentversion=1.0.0", "currentVersion is required"),
        ("com.example.unknown", "currentVersion is required"),
        ("%FF", "currentVersion is required"),
    ] {
        assert_eq!(ask(&app, path).await, bad(message), "{path:?}");
    }
    app.get(NOBODY, "/update/check?currentVersion=1.0.0").await.refused(400, "Bundle ID is required");
}

#[tokio::test]
async fn versions_are_semantic_ones_and_short_forms() {
    let app = with_an_update().await;
    let long = format!("1.0.0-{}", "a".repeat(200));
    for (version, reply) in [
        ("1.1.9", Update),
        ("0.99.99", Update),
        ("1.2.0-rc.1", Update),
        ("1.2.0-0", Update),
        ("1.0.0-a.b.c.d%2Bmeta", Update),
        ("1", Update),
        ("1.1", Update),
        ("1.2", NoUpdate),
        ("1.2.0", NoUpdate),
        ("1.2.0%2Bbuild.7", NoUpdate),
        ("1.2.0+build.7", NoUpdate),
        ("1.2.1-alpha", NoUpdate),
        ("1.10.0", NoUpdate),
        ("2", NoUpdate),
        ("18446744073709551615.0.0", NoUpdate),
        ("18446744073709551616.0.0", bad_form("currentVersion")),
        ("01.0.0", bad_form("currentVersion")),
        ("1.0.0.0", bad_form("currentVersion")),
        ("1.0.0-01", bad_form("currentVersion")),
        ("1.0-rc", bad_form("currentVersion")),
        ("1.0.0-", bad_form("currentVersion")),
        ("v1.0.0", bad_form("currentVersion")),
        ("1.0.x", bad_form("currentVersion")),
        ("1..0", bad_form("currentVersion")),
        ("-1.0.0", bad_form("currentVersion")),
        ("latest", bad_form("currentVersion")),
        ("%201.0.0", bad_form("currentVersion")),
        ("1.0.0%0A", bad_form("currentVersion")),
        ("1%2C0", bad_form("currentVersion")),
        ("%EF%BC%91.0.0", bad_form("currentVersion")),
        ("%FF", bad("currentVersion is not valid UTF-8")),
        (&long, bad_form("currentVersion")),
    ] {
        assert_eq!(ask(&app, &format!("com.example.app?currentVersion={version}")).await, reply, "{version}");
    }
}

#[tokio::test]
async fn builds_count_between_equal_versions_part_by_part() {
    let app = with_an_update().await;
    let (nines, too_long) = ("9".repeat(64), "1".repeat(65));
    let dotted = format!("4{}", ".9".repeat(31));
    for (build, reply) in [
        ("4", Update),
        ("0", Update),
        ("04", Update),
        ("4.9.9", Update),
        (&dotted, Update),
        ("5", NoUpdate),
        ("5.0", NoUpdate),
        ("5.0.0", NoUpdate),
        ("5.0.1", NoUpdate),
        ("0005", NoUpdate),
        ("10", NoUpdate),
        ("18446744073709551616", NoUpdate),
        (&nines, NoUpdate),
        ("", NoUpdate),
        (&too_long, bad_form("currentBuild")),
        ("four", bad_form("currentBuild")),
        ("-1", bad_form("currentBuild")),
        ("+4", bad_form("currentBuild")),
        ("4.", bad_form("currentBuild")),
        (".4", bad_form("currentBuild")),
        ("4..1", bad_form("currentBuild")),
        ("4-1", bad_form("currentBuild")),
        ("1e3", bad_form("currentBuild")),
        ("%D9%A4", bad_form("currentBuild")),
        ("%FF", bad("currentBuild is not valid UTF-8")),
    ] {
        let question = format!("com.example.app?currentVersion=1.2.0&currentBuild={build}");
        assert_eq!(ask(&app, &question).await, reply, "{build}");
    }
    for (question, reply) in [
        ("currentVersion=1.2.0", NoUpdate),
        ("currentVersion=1.1.0&currentBuild=999", Update),
        ("currentVersion=1.3.0&currentBuild=1", NoUpdate),
    ] {
        assert_eq!(ask(&app, &format!("com.example.app?{question}")).await, reply, "{question}");
    }
}

#[tokio::test]
async fn the_other_parameters_have_their_forms() {
    let app = with_an_update().await;
    let (allowed, too_long) = ("a".repeat(128), "a".repeat(129));
    for (parameter, reply) in [
        ("platform=android", Update),
        ("platform=ios", NoUpdate),
        ("platform=visionos", NoUpdate),
        ("platform=", Update),
        ("platform=windows", bad_form("platform")),
        ("platform=Android", bad_form("platform")),
        ("platform=%FF", bad("platform is not valid UTF-8")),
        ("fingerprint=", Update),
        (&format!("fingerprint={allowed}"), Update),
        (&format!("fingerprint={too_long}"), bad_form("fingerprint")),
        ("fingerprint=a%20b", bad_form("fingerprint")),
        ("fingerprint=%C3%A4", bad_form("fingerprint")),
        ("fingerprint=%FF", bad("fingerprint is not valid UTF-8")),
        ("configuration=anything%20else", Update),
        (&format!("configuration={too_long}"), bad_form("configuration")),
        ("configuration=%FF", bad("configuration is not valid UTF-8")),
        ("deviceId=", Update),
        (&format!("deviceId={allowed}"), Update),
        (&format!("deviceId={too_long}"), bad_form("deviceId")),
        ("deviceId=%FF", bad("deviceId is not valid UTF-8")),
        ("currentUpdateId=anything", Update),
        (&format!("currentUpdateId={too_long}"), bad_form("currentUpdateId")),
        ("unknown=1&unknown=2&=&&%FF=%FF", Update),
        (&format!("unknown={}", "x".repeat(10_000)), Update),
    ] {
        let question = format!("com.example.app?currentVersion=1.0.0&{parameter}");
        assert_eq!(ask(&app, &question).await, reply, "{parameter}");
    }
}

/// A repeated known parameter is a 400, however its name is encoded and whatever its values:
/// `docs/reference/conventions.md#query-parameters`.
#[tokio::test]
async fn a_known_parameter_given_twice_is_refused() {
    let app = with_an_update().await;
    for name in
        ["currentVersion", "currentBuild", "platform", "fingerprint", "configuration", "deviceId", "currentUpdateId"]
    {
        let first = if name == "currentVersion" { "" } else { "currentVersion=1.0.0&" };
        for twice in [
            format!("{name}=1&{name}=1"),
            format!("{name}=1&{name}="),
            format!("{name}&{name}=1"),
            format!("{name}=1&x=y&%{:02x}{}=2", name.as_bytes()[0], &name[1..]),
        ] {
            let reply = ask(&app, &format!("com.example.app?{first}{twice}")).await;
            assert_eq!(reply, bad(&format!("{name} is given twice")), "{twice}");
        }
    }
}
