//! The decision compared with a literal implementation of `docs/reference/updates.md#choice`, and properties of every list of
//! updates.

use std::cmp::Reverse;

use launchway_domain::build_number::CurrentBuild;
use launchway_domain::ota::{Caller, Decision, Obstacle, Running, decide, obstacle, order, prune};
use launchway_domain::platform::Platform;
use proptest::prelude::*;

use crate::published::{Published, ids, percent, sorted, told, version};

/// The reference implemented sentence by sentence, with lists and sorting that [`decide`] avoids.
fn reference(caller: &Caller<'_>, updates: &[Published]) -> String {
    // "Candidates are the published updates of that bundle and, if named, platform, whose rollout includes the caller."
    let mut found: Vec<&Published> = updates.iter().collect();
    if let Some(platform) = caller.platform {
        found.retain(|update| update.platform == platform);
    }
    found.retain(|update| update.rollout.includes(&update.id, caller.device_id));
    // "An update without configuration serves every check; one with a configuration serves only checks that name it."
    found.retain(|update| update.configuration.is_none() || update.configuration == caller.configuration);
    // `docs/reference/updates.md#when-an-update-is-newer`
    found.retain(|update| {
        update.version > caller.version
            || (update.version == caller.version
                && match (caller.build, caller.running) {
                    (Some(installed), _) => installed.as_str().parse::<u64>().expect("a number") < update.build,
                    // "Without `currentBuild`, a known `currentUpdateId` of the same version supplies it."
                    (None, Some(running)) => running.platform == update.platform && running.build < update.build,
                    (None, None) => false,
                })
    });
    // "Newest: highest version, then build number, then exact configuration before none, then latest created."
    found.sort_by_key(|update| {
        let exact = caller.configuration.is_some() && update.configuration == caller.configuration;
        Reverse((
            update.version.clone(),
            update.build,
            exact,
            update.created_at,
            update.id.clone(),
        ))
    });
    // "A caller without fingerprint, or an update without, agrees."
    let agreeing = found
        .iter()
        .find(|update| match (caller.fingerprint, update.fingerprint) {
            (Some(installed), Some(needed)) => installed == needed,
            _ => true,
        });
    // "The newest whose fingerprint agrees wins; when none agrees, the newest of all is answered with a store update."
    match (agreeing, found.first()) {
        (Some(update), _) => format!("update {}", update.id),
        (None, Some(update)) => format!("store {}", update.id),
        (None, None) => "none".to_owned(),
    }
}

const VERSIONS: [&str; 4] = ["1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0"];
const BUILDS: [&str; 4] = ["0", "1", "2", "03"];

fn any_platform() -> impl Strategy<Value = Platform> {
    prop::sample::select(Platform::ALL[..2].to_vec())
}

/// Few values in each field, so that updates tie and shadow each other; often rolled out to everybody.
fn any_updates() -> impl Strategy<Value = Vec<Published>> {
    let configuration = prop::sample::select(vec![None, None, Some("a"), Some("b")]);
    let fingerprint = prop::sample::select(vec![None, Some("x"), Some("y"), Some("z")]);
    let rollout = prop::sample::select(vec![0, 30, 70, 100, 100, 100]);
    let one = (
        any_platform(),
        0..VERSIONS.len(),
        1u64..4,
        configuration,
        fingerprint,
        rollout,
        0i64..3,
    );
    prop::collection::vec(one, 0..12).prop_map(|all| {
        let make = |(place, (platform, at, build, configuration, fingerprint, share, created_at))| Published {
            id: format!("update_{place}"),
            platform,
            version: version(VERSIONS[at]),
            build,
            configuration,
            fingerprint,
            rollout: percent(share),
            created_at,
        };
        all.into_iter().enumerate().map(make).collect()
    })
}

fn any_caller() -> impl Strategy<Value = Caller<'static>> {
    (
        prop::option::of(any_platform()),
        prop::sample::select(VERSIONS.to_vec()),
        prop::option::of(prop::sample::select(BUILDS.to_vec())),
        prop::option::of((any_platform(), 0u64..4).prop_map(|(platform, build)| Running { platform, build })),
        prop::sample::select(vec![None, Some("x"), Some("y"), Some("gone")]),
        prop::sample::select(vec![None, Some("a"), Some("b"), Some("c")]),
        prop::sample::select(vec![None, Some("one"), Some("two"), Some("three")]),
    )
        .prop_map(
            |(platform, text, installed, running, fingerprint, configuration, device_id)| Caller {
                platform,
                version: version(text),
                build: installed.map(|text| CurrentBuild::parse(text).expect("an installed build")),
                running,
                fingerprint,
                configuration,
                device_id,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The obstacle of each update agrees with the decision over all of them.
    #[test]
    fn obstacles_explain_the_decision(updates in any_updates(), asking in any_caller()) {
        let updates = sorted(updates);
        let first = |wanted| updates.iter().find(|update| obstacle(&asking, *update) == wanted);
        let expected = match (first(None), first(Some(Obstacle::Fingerprint))) {
            (Some(update), _) => Decision::Update(update),
            (None, Some(update)) => Decision::StoreUpdate(update),
            (None, None) => Decision::NoUpdate,
        };
        prop_assert_eq!(told(&decide(&asking, &updates)), told(&expected));
    }

    #[test]
    fn decides_as_the_reference_reads(updates in any_updates(), asking in any_caller()) {
        let expected = reference(&asking, &updates);
        prop_assert_eq!(told(&decide(&asking, &sorted(updates))), expected);
    }

    #[test]
    fn pruning_changes_no_answer(updates in any_updates(), asking in any_caller()) {
        let all = sorted(updates);
        let pruned = prune(all.clone());
        prop_assert_eq!(told(&decide(&asking, &pruned)), told(&decide(&asking, &all)));
        prop_assert!(pruned.is_sorted_by(|this, that| order(this, that).is_lt()));
        let again = prune(pruned.clone());
        prop_assert_eq!(ids(&again), ids(&pruned));
    }

    #[test]
    fn the_order_does_not_depend_on_where_it_starts(updates in any_updates()) {
        let forth = sorted(updates.clone());
        let back = sorted(updates.into_iter().rev().collect());
        prop_assert_eq!(ids(&forth), ids(&back));
        prop_assert!(forth.is_sorted_by(|this, that| order(this, that).is_lt()));
    }

    #[test]
    fn a_raise_takes_no_device_back(updates in any_updates(), asking in any_caller(), place in 0usize..12, by in 0u8..=100) {
        // A wider rollout never turns the answer into an older update.
        let before = sorted(updates);
        let mut after = before.clone();
        if let Some(raised) = after.get_mut(place) {
            raised.rollout = percent(raised.rollout.percent().saturating_add(by).min(100));
        }
        if let Decision::Update(had) = decide(&asking, &before) {
            let got = decide(&asking, &after);
            prop_assert!(matches!(got, Decision::Update(update) if order(update, had).is_le()));
        }
    }
}
