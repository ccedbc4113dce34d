//! No client is ever sent into a loop: models of the clients install what they are told, and must come to rest.

use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_foreign::capgo::{self, Choice, UpdateRequest};
use launchway_foreign::codepush::{self, Form};
use launchway_foreign::hot_updater::{self, BundleId, Status};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::codepush::answer;
use super::releases::{TestRelease, offered};

/// The built-in content of the app: made after the first two releases.
const MIN: &str = "0190a8c6-0000-7000-8000-000000000003";

/// Releases of one app, in an order of ids that may differ from that of publishing, and with contents that repeat.
fn history(format: Format) -> impl Strategy<Value = Vec<TestRelease>> {
    let entry = (
        0u8..8,
        0u8..6,
        0u64..4,
        prop::sample::select(vec![0, 1, 50, 99, 100, 100, 100]),
        0u8..4,
        0u8..3,
    );
    prop::collection::vec(entry, 0..8).prop_map(move |entries| {
        let release = |(index, (state, kind, hash, rollout, range, mandatory)): (usize, (u8, u8, u64, u8, u8, u8))| {
            let number = index as u64 + 1;
            // One of them was made earlier than its predecessor.
            let made = if number == 5 {
                4
            } else if number == 4 {
                5
            } else {
                number
            };
            TestRelease {
                kind: if kind == 0 {
                    UpdateKind::Embedded
                } else {
                    UpdateKind::Update
                },
                is_withdrawn: state == 0 || state == 1,
                is_paused: state == 2,
                hash: if hash == 0 {
                    "same".to_owned()
                } else {
                    format!("hash{number}")
                },
                rollout: Rollout::new(rollout).unwrap(),
                range: match range {
                    0 => None,
                    1 => BinaryRange::parse("*").ok(),
                    2 => BinaryRange::parse("^1.0.0").ok(),
                    _ => BinaryRange::parse("2.x").ok(),
                },
                is_mandatory: mandatory == 0,
                bundle_id: BundleId::parse(&format!("0190a8c6-0000-7000-8000-{made:012x}")).unwrap(),
                ..TestRelease::new(format, number)
            }
        };
        entries.into_iter().enumerate().map(release).collect()
    })
}

/// What `react-native-code-push` does with answers, until it is told nothing new. It remembers label and hash of what it installed.
fn play_codepush(releases: &[TestRelease], mut installed: Option<(String, String)>, device: &str) {
    let offered = offered(releases);
    for _ in 0..=releases.len() {
        let mut query = format!("deployment_key=abcdefghij&app_version=1.2.0&client_unique_id={device}");
        if let Some((label, hash)) = &installed {
            query.push_str(&format!("&label={label}&package_hash={hash}"));
        }
        let check = codepush::UpdateCheck::read(Form::Snake, &query).unwrap();
        let codepush::Answer::Update(offer) = answer(&check, releases, &offered) else {
            return;
        };
        let is_same = installed.as_ref().is_some_and(|(_, hash)| hash == offer.package_hash);
        assert!(!is_same, "the client is offered what it runs: {offer:?}");
        let release = releases.iter().find(|release| release.label == offer.label).unwrap();
        assert!(release.kind == UpdateKind::Update && !release.is_withdrawn && !release.is_paused);
        installed = Some((offer.label.to_owned(), offer.package_hash.to_owned()));
    }
    panic!("the client never comes to rest: {installed:?} {releases:#?}");
}

/// What `@hot-updater/react-native` does with answers, until it is told nothing new. It knows the id of what it runs, and throws on an
/// update that is not newer.
fn play_hot_updater(releases: &[TestRelease], mut running: BundleId, cohort: &str) {
    let min = BundleId::parse(MIN).unwrap();
    let offered = offered(releases);
    for _ in 0..=releases.len() + 1 {
        let path = format!("app-version/ios/1.2.0/production/{min}/{running}/{cohort}");
        let check = hot_updater::UpdateCheck::read(&path).unwrap();
        let named = releases
            .iter()
            .find(|release| release.kind == UpdateKind::Update && release.bundle_id == running);
        let current = hot_updater::current(&check, named.map(TestRelease::held));
        let caller = hot_updater::caller(&check, current);
        running = match hot_updater::choose(&check, &caller, &offered, |_| "https://u.example/".to_owned()) {
            hot_updater::Answer::UpToDate => return,
            hot_updater::Answer::BuiltIn => {
                assert!(running > min, "the client already runs the built-in content");
                min
            }
            hot_updater::Answer::Bundle(offer) => {
                let id = BundleId::parse(offer.id).unwrap();
                assert!(id >= min && id != running, "{offer:?}");
                assert_eq!(offer.status == Status::Update, id > running, "{offer:?}");
                id
            }
        };
    }
    panic!("the client never comes to rest: {running} {releases:#?}");
}

/// What Capgo's clients do with answers, until they are told nothing new: a phone installs what it does not run and what did not fail
/// before, a desktop app whatever it is told, which cannot be the built-in content. The latter names the built-in content by the
/// version of the app.
fn play_capgo(releases: &[TestRelease], mut running: Option<String>, build: &str, platform: &str, device: &str) {
    let offered = offered(releases);
    let is_desktop = platform == "electron";
    let mut failed = Vec::new();
    for round in 0..=releases.len() * 2 + 1 {
        let built_in = if is_desktop { build } else { "builtin" };
        let name = running.as_deref().unwrap_or(built_in);
        let body = format!(
            r#"{{"app_id": "a", "platform": "{platform}", "device_id": "{device}", "version_build": "{build}", "version_name": "{name}"}}"#
        );
        let request = UpdateRequest::read(body.as_bytes()).unwrap();
        let named = releases
            .iter()
            .find(|release| release.kind == UpdateKind::Update && release.name == name);
        let current = capgo::current(&request.device, named.map(TestRelease::held));
        match capgo::choose(&request, Platform::Ios, current, &offered) {
            Choice::Keep(_) | Choice::NeedsNewApp(_) => return,
            Choice::BuiltIn if is_desktop => return,
            Choice::BuiltIn => {
                assert_ne!(running.take(), None, "the client already runs the built-in content");
            }
            Choice::Update(release) => {
                let offered = release.name.as_str();
                assert_ne!(offered, name, "the client is offered what it runs");
                assert!(release.kind == UpdateKind::Update && !release.is_withdrawn && !release.is_paused);
                assert!(!request.is_under_native(&release.version));
                if failed.iter().any(|failed| failed == offered) {
                    return;
                }
                // Every third update crashes, and the client stays with what it ran.
                match round % 3 {
                    2 => failed.push(offered.to_owned()),
                    _ => running = Some(offered.to_owned()),
                }
            }
        }
    }
    panic!("the client never comes to rest: {running:?} {releases:#?}");
}

fn play(cases: u32) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let codepush = (history(Format::Codepush), 0usize..9, "[a-f0-9]{4}");
    runner
        .run(&codepush, |(releases, held, device)| {
            let installed = match held {
                0 => None,
                8 => Some(("v99".to_owned(), "unknown".to_owned())),
                held => releases
                    .get(held - 1)
                    .map(|release| (release.label.clone(), release.hash.clone())),
            };
            play_codepush(&releases, installed, &device);
            Ok(())
        })
        .unwrap();
    let capgo = (
        history(Format::Archive),
        0usize..9,
        prop::sample::select(vec!["1.0.0", "1.0.3", "1.0.5", "1.2.0", "2.0.0", "one"]),
        prop::sample::select(vec!["ios", "electron"]),
        "[a-f0-9]{4}",
    );
    runner
        .run(&capgo, |(releases, held, build, platform, device)| {
            let running = match held {
                0 => None,
                8 => Some("7.7.7".to_owned()),
                held => releases.get(held - 1).map(|release| release.name.clone()),
            };
            play_capgo(&releases, running, build, platform, &device);
            Ok(())
        })
        .unwrap();
    let hot_updater = (history(Format::HotUpdater), 0u64..10, 0u16..1002);
    runner
        .run(&hot_updater, |(releases, running, cohort)| {
            let running = BundleId::parse(&format!("0190a8c6-0000-7000-8000-{running:012x}")).unwrap();
            play_hot_updater(&releases, running, &cohort.to_string());
            Ok(())
        })
        .unwrap();
}

#[test]
fn clients_come_to_rest() {
    play(3000);
}

#[test]
#[ignore = "long run"]
fn clients_of_a_million_histories_come_to_rest() {
    play(1_000_000);
}
