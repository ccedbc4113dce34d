//! The decision for clients of other services compared with a literal implementation of
//! `docs/reference/foreign-clients.md#choice`, and with what clients do with its answers.

use launchway_domain::ota::{
    Abilities, Current, Held, NativeCode, Release, ReleaseCaller, ReleaseDecision, decide_release, is_forced,
    prune_releases, release_obstacle, release_order,
};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Sequence, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::version::Version;
use proptest::prelude::*;

use crate::published::version;

#[derive(Clone, Debug)]
struct Made {
    id: String,
    sequence: Sequence,
    is_published: bool,
    is_withdrawn: bool,
    kind: UpdateKind,
    format: Format,
    configuration: Option<&'static str>,
    runtime: Option<&'static str>,
    range: Option<BinaryRange>,
    fingerprint: Option<&'static str>,
    newest_app: Option<Version>,
    rollout: Rollout,
    mandatory: bool,
}

impl Release for Made {
    fn id(&self) -> &str {
        &self.id
    }
    fn sequence(&self) -> Sequence {
        self.sequence
    }
    fn kind(&self) -> UpdateKind {
        self.kind
    }
    fn format(&self) -> Format {
        self.format
    }
    fn platform(&self) -> Platform {
        Platform::Android
    }
    fn configuration(&self) -> Option<&str> {
        self.configuration
    }
    fn runtime_version(&self) -> Option<&str> {
        self.runtime
    }
    fn binary_range(&self) -> Option<&BinaryRange> {
        self.range.as_ref()
    }
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint
    }
    fn newest_app(&self) -> Option<&Version> {
        self.newest_app.as_ref()
    }
    fn rollout(&self) -> Rollout {
        self.rollout
    }
    fn is_mandatory(&self) -> bool {
        self.mandatory
    }
}

/// What a caller does not change: its app and its device.
#[derive(Clone, Debug)]
struct Phone {
    configuration: Option<&'static str>,
    format: Format,
    runtime: Option<&'static str>,
    version: Option<Version>,
    fingerprint: Option<&'static str>,
    abilities: Abilities,
    device: &'static str,
}

/// What a phone runs: the place in the history of releases, or one of the two contents that are in none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    BuiltIn,
    Release(usize),
    Unknown,
}

impl Phone {
    fn caller<'a>(&'a self, runs: Runs, history: &'a [Made]) -> ReleaseCaller<'a> {
        let current = match runs {
            Runs::BuiltIn => Current::Embedded,
            Runs::Unknown => Current::Unknown,
            Runs::Release(place) => Current::Known(Held {
                sequence: history[place].sequence,
                configuration: history[place].configuration,
                is_withdrawn: history[place].is_withdrawn,
            }),
        };
        ReleaseCaller {
            platform: Platform::Android,
            configuration: self.configuration,
            format: self.format,
            runtime_version: self.runtime,
            binary_version: self.version.as_ref(),
            native_code: self.fingerprint.map_or(NativeCode::Unsaid, NativeCode::Fingerprint),
            current,
            abilities: self.abilities,
        }
    }

    fn is_reached_by(&self, release: &Made) -> bool {
        let is_older = |newest: &Version| self.version.as_ref().is_none_or(|app| app <= newest);
        release.newest_app.as_ref().is_none_or(is_older) && release.rollout.includes(&release.id, Some(self.device))
    }

    /// Whether a release fits, condition by condition.
    fn fits(&self, release: &Made) -> bool {
        let configuration = release.configuration.is_none() || release.configuration == self.configuration;
        let format = release.kind == UpdateKind::Embedded || release.format == self.format;
        let runtime = release.runtime.is_none() || release.runtime == self.runtime;
        let in_range = |range: &BinaryRange| self.version.as_ref().is_some_and(|version| range.contains(version));
        let range = release.range.as_ref().is_none_or(in_range);
        let native =
            release.fingerprint.is_none() || self.fingerprint.is_none() || release.fingerprint == self.fingerprint;
        configuration && format && runtime && range && native && self.is_reached_by(release)
    }
}

/// The rows of the reference's table: the id of the release that a phone installs, `built-in`, or `nothing`.
fn reference(phone: &Phone, runs: Runs, history: &[Made]) -> String {
    let candidates = history
        .iter()
        .filter(|release| release.is_published && phone.fits(release));
    let highest = candidates.max_by_key(|release| release.sequence);
    let outcome = |release: &Made| match (release.kind, runs) {
        (UpdateKind::Update, _) => release.id.clone(),
        (UpdateKind::Embedded, Runs::BuiltIn) => "nothing".to_owned(),
        (UpdateKind::Embedded, _) if phone.abilities.returns_to_built_in => "built-in".to_owned(),
        (UpdateKind::Embedded, _) => "nothing".to_owned(),
    };
    let held = match runs {
        Runs::Release(place) => Some(&history[place]),
        Runs::BuiltIn | Runs::Unknown => None,
    };
    let held = held.filter(|held| held.configuration.is_none() || held.configuration == phone.configuration);
    match (held, highest) {
        (None, highest) => highest.map_or("nothing".to_owned(), outcome),
        (Some(held), Some(highest)) if highest.sequence > held.sequence => outcome(highest),
        (Some(held), highest) if held.is_withdrawn && phone.abilities.leaves_withdrawn => match highest {
            Some(lower) => outcome(lower),
            None if phone.abilities.returns_to_built_in => "built-in".to_owned(),
            None => "nothing".to_owned(),
        },
        (Some(_), _) => "nothing".to_owned(),
    }
}

fn offered(history: &[Made]) -> Vec<Made> {
    let mut list: Vec<Made> = history.iter().filter(|release| release.is_published).cloned().collect();
    list.sort_by(release_order);
    list
}

fn said(decision: &ReleaseDecision<'_, Made>) -> String {
    match decision {
        ReleaseDecision::UpToDate | ReleaseDecision::OtherBinary(_) => "nothing".to_owned(),
        ReleaseDecision::Update(release) | ReleaseDecision::RollBackTo(release) => release.id.clone(),
        ReleaseDecision::BuiltIn(_) => "built-in".to_owned(),
    }
}

fn any_release() -> impl Strategy<Value = Made> {
    let states = prop::sample::select(vec![
        (true, false),
        (true, false),
        (true, false),
        (false, false),
        (false, true),
    ]);
    let kind = prop::sample::select(vec![
        UpdateKind::Update,
        UpdateKind::Update,
        UpdateKind::Update,
        UpdateKind::Embedded,
    ]);
    let format = prop::sample::select(vec![Format::Codepush, Format::Codepush, Format::Expo]);
    let configuration = prop::sample::select(vec![None, Some("a"), Some("a"), Some("b")]);
    let runtime = prop::sample::select(vec![None, None, Some("r1"), Some("r2")]);
    let range = prop::sample::select(vec![None, None, Some("^1.0.0"), Some("2.x")]);
    let fingerprint = prop::sample::select(vec![None, None, Some("x"), Some("y")]);
    let rollout = prop::sample::select(vec![0u8, 40, 100, 100, 100]);
    let newest_app = prop::sample::select(vec![None, None, Some("1.2.0"), Some("1.9.0"), Some("2.0.0")]);
    let needs = (runtime, range, fingerprint, newest_app);
    (states, kind, format, configuration, needs, rollout, any::<bool>()).prop_map(
        |(
            (is_published, is_withdrawn),
            kind,
            format,
            configuration,
            (runtime, range, fingerprint, newest_app),
            rollout,
            mandatory,
        )| Made {
            id: String::new(),
            sequence: Sequence::EMBEDDED,
            is_published,
            is_withdrawn,
            kind,
            format,
            configuration,
            runtime,
            range: range.map(|text| BinaryRange::parse(text).expect("a range")),
            fingerprint,
            newest_app: newest_app.filter(|_| kind == UpdateKind::Update).map(version),
            rollout: Rollout::new(rollout).expect("a percentage"),
            mandatory,
        },
    )
}

/// Releases in the order in which they were made.
fn any_history() -> impl Strategy<Value = Vec<Made>> {
    prop::collection::vec(any_release(), 0..12).prop_map(|mut history| {
        for (place, release) in history.iter_mut().enumerate() {
            release.id = format!("update_{place:02}");
            release.sequence = Sequence::new(place as u64 + 1);
        }
        history
    })
}

fn any_phone() -> impl Strategy<Value = Phone> {
    let configuration = prop::sample::select(vec![None, Some("a"), Some("a"), Some("b")]);
    let runtime = prop::sample::select(vec![None, Some("r1")]);
    let of_version = prop::sample::select(vec![None, Some("1.2.0"), Some("2.0.0")]);
    let fingerprint = prop::sample::select(vec![None, Some("x")]);
    let device = prop::sample::select(vec!["one", "two", "three"]);
    (
        configuration,
        runtime,
        of_version,
        fingerprint,
        device,
        any::<[bool; 2]>(),
    )
        .prop_map(
            |(configuration, runtime, of_version, fingerprint, device, [leaves_withdrawn, returns_to_built_in])| {
                Phone {
                    configuration,
                    format: Format::Codepush,
                    runtime,
                    version: of_version.map(version),
                    fingerprint,
                    abilities: Abilities {
                        leaves_withdrawn,
                        returns_to_built_in,
                    },
                    device,
                }
            },
        )
}

/// What a phone may run: any release of the history, the built-in content, or something unknown.
fn any_runs(history: &[Made], choice: prop::sample::Index) -> Runs {
    match choice.index(history.len() + 2) {
        0 => Runs::BuiltIn,
        1 => Runs::Unknown,
        // The return to the built-in content is nothing that a phone runs.
        place if history[place - 2].kind == UpdateKind::Embedded => Runs::BuiltIn,
        place => Runs::Release(place - 2),
    }
}

fn run_after(decision: &ReleaseDecision<'_, Made>, before: Runs, history: &[Made]) -> Runs {
    match decision {
        ReleaseDecision::UpToDate | ReleaseDecision::OtherBinary(_) => before,
        ReleaseDecision::BuiltIn(_) => Runs::BuiltIn,
        ReleaseDecision::Update(new) | ReleaseDecision::RollBackTo(new) => Runs::Release(
            history
                .iter()
                .position(|release| release.id == new.id)
                .expect("a release of the history"),
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn decides_as_the_reference_says(history in any_history(), phone in any_phone(), choice: prop::sample::Index) {
        let runs = any_runs(&history, choice);
        let list = offered(&history);
        let decision = decide_release(&phone.caller(runs, &history), &list, |release| phone.is_reached_by(release));
        prop_assert_eq!(said(&decision), reference(&phone, runs, &history));
    }

    #[test]
    fn no_caller_is_offered_again_what_it_just_installed(history in any_history(), phone in any_phone(), choice: prop::sample::Index) {
        let runs = any_runs(&history, choice);
        let list = offered(&history);
        let first = decide_release(&phone.caller(runs, &history), &list, |release| phone.is_reached_by(release));
        let after = run_after(&first, runs, &history);
        let second = decide_release(&phone.caller(after, &history), &list, |release| phone.is_reached_by(release));
        prop_assert_eq!(said(&second), "nothing", "after {:?}", first);
    }

    #[test]
    fn pruning_changes_no_answer(history in any_history(), phone in any_phone(), choice: prop::sample::Index) {
        let runs = any_runs(&history, choice);
        let list = offered(&history);
        let pruned = prune_releases(list.clone());
        let caller = phone.caller(runs, &history);
        let decide = |list| said(&decide_release(&caller, list, |release| phone.is_reached_by(release)));
        prop_assert_eq!(decide(&list), decide(&pruned));
        if phone.is_offered_anything(&caller, &list) {
            prop_assert_eq!(is_forced(&caller, &list), is_forced(&caller, &pruned));
        }
    }

    #[test]
    fn what_is_offered_has_no_obstacle(history in any_history(), phone in any_phone(), choice: prop::sample::Index) {
        let runs = any_runs(&history, choice);
        let list = offered(&history);
        let caller = phone.caller(runs, &history);
        let reaches = |release: &Made| phone.is_reached_by(release);
        match decide_release(&caller, &list, reaches) {
            ReleaseDecision::Update(release) | ReleaseDecision::RollBackTo(release) | ReleaseDecision::BuiltIn(Some(release)) => {
                prop_assert_eq!(release_obstacle(&caller, release, reaches), None);
            }
            ReleaseDecision::OtherBinary(release) => {
                prop_assert!(release_obstacle(&caller, release, reaches).is_some());
            }
            ReleaseDecision::UpToDate | ReleaseDecision::BuiltIn(None) => {}
        }
    }
}

impl Phone {
    fn is_offered_anything(&self, caller: &ReleaseCaller<'_>, list: &[Made]) -> bool {
        matches!(
            decide_release(caller, list, |release| self.is_reached_by(release)),
            ReleaseDecision::Update(_)
        )
    }
}
