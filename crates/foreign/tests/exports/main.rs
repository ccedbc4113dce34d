//! Recorded outputs of the tools of other services, read and planned.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;
use launchway_domain::release::UpdateKind;
use launchway_foreign::exports::plan::{Known, Plan, PlanStep};
use launchway_foreign::exports::{Export, ExportError, MAX_EXPORT_BYTES, capgo, codepush, expo, hot_updater};

const DEPLOYMENTS: &[u8] = include_bytes!("files/codepush-deployments.json");
const HISTORY: &[u8] = include_bytes!("files/codepush-history.json");
const EXPO_CHANNELS: &[u8] = include_bytes!("files/expo-channels.json");
const EXPO_UPDATES: &[u8] = include_bytes!("files/expo-updates.json");
const CAPGO_CHANNELS: &[u8] = include_bytes!("files/capgo-channels.json");
const CAPGO_BUNDLES: &[u8] = include_bytes!("files/capgo-bundles.json");
const HOT_UPDATER_BUNDLES: &[u8] = include_bytes!("files/hot-updater-bundles.json");
const HOT_UPDATER_ROWS: &[u8] = include_bytes!("files/hot-updater-rows.json");

/// `configuration name rollout%` of each release, in order.
fn releases(export: &Export) -> Vec<String> {
    let one = |release: &launchway_foreign::exports::ExportedRelease| {
        format!("{} {} {}%", release.configuration, release.name, release.rollout)
    };
    export.releases.iter().map(one).collect()
}

fn left_out(export: &Export) -> Vec<String> {
    export
        .left_out
        .iter()
        .map(|left| format!("{}: {}", left.what, left.why))
        .collect()
}

fn steps(plan: &Plan) -> Vec<String> {
    let one = |step: &PlanStep| match step {
        PlanStep::CreateApp => "app".to_owned(),
        PlanStep::AddDeploymentKey(deployment) => format!("key of {}", deployment.configuration),
        PlanStep::Publish(release) => format!("{} {}", release.configuration, release.name),
    };
    plan.steps.iter().map(one).collect()
}

fn codepush_export() -> Export {
    let mut export = codepush::read_deployments(DEPLOYMENTS).unwrap();
    export.add(codepush::read_history(HISTORY, "Production").unwrap());
    export
}

#[test]
fn deployments_and_history_of_codepush_are_read() {
    let export = codepush_export();
    assert_eq!(
        releases(&export),
        [
            "Production v1 100%",
            "Production v2 100%",
            "Production v4 100%",
            "Production v5 25%"
        ]
    );
    let keys: Vec<&str> = export
        .deployments
        .iter()
        .map(|deployment| deployment.configuration.as_str())
        .collect();
    assert_eq!(keys, ["Production", "Staging"]);
    assert_eq!(
        left_out(&export),
        [
            "deployment Rolled out slowly: its name must be 1 to 64 letters, digits, `.`, `_` and `-`",
            "v3 of Production: it is disabled, so that no app receives it",
            "v6 of Production: `the next one` is not a range of versions",
        ]
    );
    let newest = export.releases.last().unwrap();
    assert_eq!(newest.range.as_deref(), Some("^1.2.0"));
    assert_eq!(
        newest.content_hash.as_deref(),
        Some(format!("{}{}", "5".repeat(32), "a".repeat(32)).as_str())
    );
    assert_eq!(newest.created_at, Some(1_700_300_000_000));
    assert!(export.releases[0].is_mandatory);
}

#[test]
fn what_no_device_can_receive_is_not_planned() {
    let export = codepush_export();
    let plan = export.plan(Platform::Android, &Known::default());
    // v2 is replaced by v4 for every version of its range; v5 is staged above it; v1 is for other versions.
    assert_eq!(
        steps(&plan),
        [
            "app",
            "key of Production",
            "key of Staging",
            "Production v1",
            "Production v4",
            "Production v5"
        ]
    );
    assert_eq!((plan.present, plan.replaced), (0, 1));
}

#[test]
fn an_import_that_ended_halfway_goes_on_and_then_does_nothing() {
    let export = codepush_export();
    let whole = steps(&export.plan(Platform::Android, &Known::default()));
    let mut known = Known::default();
    for done in 0..=whole.len() {
        let plan = export.plan(Platform::Android, &known);
        assert_eq!(steps(&plan), whole[done..], "after {done} steps");
        match plan.steps.first() {
            None => {}
            Some(PlanStep::CreateApp) => known.has_app = true,
            Some(PlanStep::AddDeploymentKey(deployment)) => {
                known.deployment_keys.insert(deployment.key.clone());
            }
            Some(PlanStep::Publish(release)) => {
                known
                    .releases
                    .insert((release.configuration.clone(), release.name.clone()));
            }
        }
    }
}

#[test]
fn an_import_without_releases_changes_nothing() {
    for empty in [&b"[]"[..], b"{\"data\": []}"] {
        let known = Known {
            has_app: true,
            deployment_keys: BTreeSet::new(),
            releases: BTreeSet::from([("production".to_owned(), "v1".to_owned())]),
        };
        let export = hot_updater::read_bundles(empty).unwrap();
        assert!(export.plan(Platform::Ios, &known).steps.is_empty());
        assert!(
            export.plan(Platform::Ios, &Known::default()).steps.is_empty(),
            "not even an app"
        );
    }
}

#[test]
fn updates_of_expo_belong_to_the_channels_of_their_branch() {
    let (channels, mut export) = expo::read_channels(EXPO_CHANNELS).unwrap();
    export.add(expo::read_updates(EXPO_UPDATES, Some(&channels)).unwrap());
    assert_eq!(
        releases(&export),
        [
            "production 019abcde-0000-7000-8000-000000000000 100%",
            "production 019abcde-0000-7000-8000-000000000002 100%",
            "production 019abcde-0000-7000-8000-000000000001 100%",
        ]
    );
    assert_eq!(export.releases[0].kind, UpdateKind::Embedded);
    assert_eq!(
        export.releases[1].group.as_deref(),
        Some("11111111-0000-4000-8000-000000000001")
    );
    assert_eq!(
        left_out(&export),
        [
            "channel beta: it divides its devices between branches; end that rollout first, or publish with a rollout here",
            "channel old: it is paused",
            "update 019abcde-0000-7000-8000-000000000009: no channel serves its branch next",
        ]
    );
    let of = |platform| {
        steps(&export.plan(
            platform,
            &Known {
                has_app: true,
                ..Known::default()
            },
        ))
    };
    assert_eq!(
        of(Platform::Android),
        ["production 019abcde-0000-7000-8000-000000000002"]
    );
    assert_eq!(of(Platform::Ios), ["production 019abcde-0000-7000-8000-000000000001"]);
    let alone = expo::read_updates(EXPO_UPDATES, None).unwrap();
    assert_eq!(alone.releases.len(), 4, "a branch is its own channel");
}

#[test]
fn a_copy_in_another_channel_has_an_id_of_its_own() {
    let (id, other) = (
        "019abcde-0000-7000-8000-000000000001",
        "019abcde-0000-7000-8000-000000000002",
    );
    let copy = expo::id_of_copy(id, "beta");
    assert_eq!(copy, expo::id_of_copy(id, "beta"), "a repeated import finds it");
    assert_ne!(copy, expo::id_of_copy(id, "gamma"));
    assert_ne!(copy, expo::id_of_copy(other, "beta"));
}

#[test]
fn bundles_of_capgo_are_live_if_a_channel_serves_them() {
    let (channels, mut export) = capgo::read_channels(CAPGO_CHANNELS).unwrap();
    export.add(capgo::read_bundles(CAPGO_BUNDLES, &channels).unwrap());
    assert_eq!(releases(&export), ["production 1.0.2 100%"]);
    assert_eq!(export.releases[0].content_hash.as_deref(), Some("aaaa"));
    assert_eq!(
        left_out(&export),
        [
            "channel empty: it serves no bundle",
            "channel two words: its name must be 1 to 64 letters, digits, `.`, `_` and `-`",
            "bundle 1.1.0-beta.1: it is encrypted, which this server has no bundles of; publish it without a key",
            "bundle 1.0.1: no channel serves it",
            "bundle 1.0.0: it was deleted",
        ]
    );
}

#[test]
fn bundles_of_hot_updater_come_from_its_server_or_its_table() {
    let mut export = hot_updater::read_bundles(HOT_UPDATER_BUNDLES).unwrap();
    export.add(hot_updater::read_bundles(HOT_UPDATER_ROWS).unwrap());
    assert_eq!(
        releases(&export),
        [
            "production 019abcde-0000-7000-8000-000000000001 100%",
            "production 019abcde-0000-7000-8000-000000000003 26%",
            "production 019abcde-0000-7000-8000-000000000004 100%",
        ],
        "a device that was reached stays among those that are"
    );
    assert!(export.releases[1].is_mandatory && export.releases[2].is_mandatory);
    assert_eq!(
        export.releases[2].fingerprint.as_deref(),
        Some("0123456789abcdef0123456789abcdef01234567")
    );
    assert_eq!(
        left_out(&export),
        [
            "bundle 019abcde-0000-7000-8000-000000000002: it is disabled, so that no app receives it",
            "bundle 019abcde-0000-7000-8000-000000000005: its rollout reaches no device",
        ]
    );
}

/// A tool of a service, with what reads its output.
type Reader = fn(&[u8]) -> Result<Export, ExportError>;

const READERS: [Reader; 6] = [
    codepush::read_deployments,
    |bytes| codepush::read_history(bytes, "Production"),
    |bytes| expo::read_channels(bytes).map(|(_, export)| export),
    |bytes| expo::read_updates(bytes, None),
    |bytes| capgo::read_channels(bytes).map(|(_, export)| export),
    hot_updater::read_bundles,
];

#[test]
fn other_files_are_refused() {
    for read in READERS {
        assert_eq!(read(b"Error: not logged in"), Err(ExportError::NotJson));
        assert_eq!(read(&vec![b' '; MAX_EXPORT_BYTES + 1]), Err(ExportError::TooLarge));
        assert!(matches!(read(b"{\"error\": \"no\"}"), Err(ExportError::OtherForm(_))));
        assert!(matches!(read(b"[{}]"), Err(ExportError::OtherForm(_))));
        assert_eq!(read("\u{FEFF}[]".as_bytes()), Ok(Export::default()));
    }
}

#[test]
fn mutated_files_are_read_to_an_end() {
    let files = [
        DEPLOYMENTS,
        HISTORY,
        EXPO_CHANNELS,
        EXPO_UPDATES,
        CAPGO_CHANNELS,
        CAPGO_BUNDLES,
        HOT_UPDATER_BUNDLES,
        HOT_UPDATER_ROWS,
    ];
    for file in files {
        let text = std::str::from_utf8(file).unwrap();
        // Every value becomes one of another kind, one at a time.
        for (at, _) in text.match_indices(": ") {
            for value in ["null", "-1", "1e300", "[]", "{}", "true", "\"\\u0000\"", "\"é\""] {
                let rest = &text[at + 2..];
                let end = rest.find([',', '}', '\n']).unwrap_or(rest.len());
                let mutated = format!("{}: {value}{}", &text[..at], &rest[end..]);
                for read in READERS {
                    if let Ok(export) = read(mutated.as_bytes()) {
                        let plan = export.plan(Platform::Android, &Known::default());
                        assert!(plan.steps.len() <= 12);
                    }
                }
            }
        }
    }
}
