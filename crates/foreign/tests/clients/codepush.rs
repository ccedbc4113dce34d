//! Checks of CodePush, compared with what the original server answers.

use launchway_domain::ota::{Abilities, Current, Held, NativeCode, ReleaseCaller};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format};
use launchway_domain::rollout::Rollout;
use launchway_foreign::codepush::{Answer, CurrentPackage, Form, Refusal, UpdateCheck, choose, current};
use proptest::prelude::*;
use serde_json::Value;

use super::releases::{TestRelease, offered};

/// A history, a query and the answer of each, printed by the `getUpdatePackageInfo` and `isSelectedForRollout` of code-push-server
/// ff1d84c. They leave out where this server differs on purpose (`docs/reference/codepush.md#choice`), and
/// `should_run_binary_version`.
const CHECKS: &str = include_str!("codepush-checks.json");

/// A release as the vectors write it: label, hash, whether disabled, whether mandatory, rollout, range, description.
type Entry = (String, String, u8, u8, u8, String, String);

fn release((label, hash, disabled, mandatory, rollout, range, description): Entry, number: u64) -> TestRelease {
    TestRelease {
        label,
        hash,
        is_withdrawn: disabled == 1,
        is_mandatory: mandatory == 1,
        rollout: Rollout::new(rollout).unwrap(),
        range: Some(BinaryRange::parse(&range).unwrap()),
        description,
        ..TestRelease::new(Format::Codepush, number)
    }
}

pub fn caller<'a>(check: &'a UpdateCheck<'_>, current: Current<'a>) -> ReleaseCaller<'a> {
    ReleaseCaller {
        platform: Platform::Ios,
        configuration: Some("production"),
        format: Format::Codepush,
        runtime_version: None,
        binary_version: Some(&check.version),
        native_code: NativeCode::Unsaid,
        current,
        abilities: Abilities {
            leaves_withdrawn: true,
            returns_to_built_in: false,
        },
    }
}

/// The release that a check names, with its hash.
pub fn named<'r>(check: &UpdateCheck<'_>, releases: &'r [TestRelease]) -> Option<(Held<'static>, &'r str)> {
    let found = match check.current() {
        CurrentPackage::BuiltIn => None,
        CurrentPackage::Label(label) => releases.iter().find(|release| release.label == label),
        CurrentPackage::Hash(hash) => releases.iter().rfind(|release| release.hash == hash),
    };
    found.map(|release| (release.held(), release.hash.as_str()))
}

/// The answer to a check.
pub fn answer<'r>(check: &UpdateCheck<'_>, releases: &[TestRelease], offered: &'r [TestRelease]) -> Answer<'r> {
    let caller = caller(check, current(check, named(check, releases)));
    choose(check, &caller, offered, |release| {
        format!("https://u.example/{}", release.sequence)
    })
}

#[test]
fn answers_are_those_of_the_original() {
    let checks: Vec<(Vec<Entry>, String, Value)> = serde_json::from_str(CHECKS).unwrap();
    assert!(checks.len() > 100, "only {} checks", checks.len());
    for (history, query, expected) in checks {
        let releases: Vec<_> = history
            .into_iter()
            .zip(1..)
            .map(|(entry, number)| release(entry, number))
            .collect();
        let check = UpdateCheck::read(Form::Snake, &query).unwrap();
        let offered = offered(&releases);
        let body = answer(&check, &releases, &offered).body(&check);
        let mut body: Value = serde_json::from_slice(&body).unwrap();
        let info = body["update_info"].as_object_mut().unwrap();
        assert_eq!(info.remove("should_run_binary_version"), Some(Value::Bool(false)));
        assert_eq!(Value::from(info.clone()), expected, "{query} {releases:#?}");
    }
}

#[test]
fn the_old_form_answers_in_camel_case() {
    let releases = [TestRelease::new(Format::Codepush, 1)];
    let query = "deploymentKey=abcdefghij&appVersion=1.0.0";
    let check = UpdateCheck::read(Form::Camel, query).unwrap();
    let body = answer(&check, &releases, &releases).body(&check);
    assert_eq!(
        String::from_utf8(body).unwrap(),
        r#"{"updateInfo":{"downloadURL":"https://u.example/1","description":"","isAvailable":true,"isMandatory":false,"appVersion":"1.0.0","packageHash":"hash1","label":"v1","packageSize":101,"updateAppVersion":false,"shouldRunBinaryVersion":false,"target_binary_range":"1.0.0"}}"#
    );
}

#[test]
fn a_label_of_another_deployment_is_told_by_its_hash() {
    let releases = [TestRelease::new(Format::Codepush, 1)];
    let query = "deployment_key=abcdefghij&app_version=1&label=v1&package_hash=other";
    let check = UpdateCheck::read(Form::Snake, query).unwrap();
    assert_eq!(current(&check, named(&check, &releases)), Current::Unknown);
    assert!(matches!(answer(&check, &releases, &releases), Answer::Update(_)));
}

#[test]
fn malformed_checks_are_refused() {
    for (query, expected) in [
        ("", Refusal::DeploymentKey),
        ("app_version=1.0.0", Refusal::DeploymentKey),
        ("deployment_key=short&app_version=1.0.0", Refusal::DeploymentKey),
        ("deployment_key=abcdefghi%2F&app_version=1.0.0", Refusal::DeploymentKey),
        (
            "deployment_key=abcdefghij&deployment_key=abcdefghij&app_version=1",
            Refusal::DeploymentKey,
        ),
        ("deployment_key=abcdefghij", Refusal::AppVersion),
        ("deployment_key=abcdefghij&app_version=latest", Refusal::AppVersion),
        ("deployment_key=abcdefghij&app_version=1.2.3.4", Refusal::AppVersion),
        ("deployment_key=abcdefghij&app_version=01", Refusal::AppVersion),
        (&"a".repeat(5000), Refusal::QueryTooLong),
    ] {
        assert_eq!(UpdateCheck::read(Form::Snake, query).err(), Some(expected), "{query}");
    }
    assert_eq!(Refusal::UnknownDeploymentKey.status(), 404);
    assert_eq!(Refusal::AppVersion.status(), 400);
}

#[test]
fn short_versions_are_read() {
    for (text, expected) in [
        ("1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("1.2-rc.1", "1.2.0-rc.1"),
        ("v1.2.3", "1.2.3"),
        ("1.2%2B5", "1.2.0"),
    ] {
        let query = format!("deployment_key=abcdefghij&app_version={text}");
        let check = UpdateCheck::read(Form::Snake, &query).unwrap();
        assert_eq!(check.version.precedence_key(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_query_is_read_or_refused(query in ".{0,80}|(deployment_key=[a-z%=&]{0,12}|app_version=[0-9.a+%-]{0,8}|&|label=.{0,5}){0,5}") {
        if let Ok(check) = UpdateCheck::read(Form::Snake, &query) {
            let releases = [TestRelease::new(Format::Codepush, 1)];
            let body = answer(&check, &releases, &releases).body(&check);
            prop_assert!(serde_json::from_slice::<Value>(&body).is_ok());
        }
    }
}
