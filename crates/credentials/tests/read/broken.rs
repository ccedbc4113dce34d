//! Truncated and modified files: no panic, no misleading message, and unchanged facts if the integrity check passes.

use launchway_testing::mutator::Mutator;
use std::time::{Duration, Instant};

use launchway_credentials::{CredentialError, CredentialInput, Facts, Kind, read};
use launchway_testing::settings::setting;
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{Fixture, NOW, fixture, good};

/// Bytes that are significant in ASN.1, JSON, PEM or XML.
const MEANING: &[u8] = &[
    0x00, 0x02, 0x04, 0x24, 0x30, 0x31, 0x7f, 0x80, 0x84, 0xa0, 0xff, b'-', b'"', b'{', b'<', b'\\',
];

fn read_changed(kind: Kind, fixture: &Fixture, content: &[u8]) -> Result<Facts, CredentialError> {
    read(
        kind,
        &CredentialInput {
            content,
            ..fixture.given()
        },
        NOW,
    )
}

#[test]
fn a_file_cut_anywhere_is_truncated_or_damaged() {
    for (kind, fixture) in good() {
        let whole = fixture.content.trim_ascii_end().len();
        assert_eq!(read_changed(kind, &fixture, &[]), Err(CredentialError::Empty));
        let half = read_changed(kind, &fixture, &fixture.content[..whole / 2]).unwrap_err();
        let title = kind.title();
        assert_eq!(
            half.to_string(),
            format!("The {title} is truncated or damaged. Upload the original file again.")
        );
        for length in 1..whole {
            let cut = read_changed(kind, &fixture, &fixture.content[..length]);
            assert_eq!(
                cut,
                Err(CredentialError::Damaged { kind }),
                "{} cut to {length}",
                fixture.name
            );
        }
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    for (kind, fixture) in good() {
        let content = [fixture.content.as_slice(), b"x"].concat();
        let longer = read_changed(kind, &fixture, &content);
        assert_eq!(longer, Err(CredentialError::Damaged { kind }), "{}", fixture.name);
    }
}

/// A changed byte in one part of a keystore leaves another part that the password opens, which proves the corruption.
#[test]
fn a_damaged_keystore_is_not_called_a_wrong_password() {
    for (name, unknowable) in [
        ("openssl-few-rounds.p12", 0),
        // The salt of its only key, and the first bytes of the key encrypted with it.
        ("ec256.jks", 20 + 4),
    ] {
        let original = fixture(name);
        let facts = original.read(Kind::AndroidKeystore).unwrap();
        let mut wrong_passwords = 0;
        for at in 0..original.content.len() {
            let mut content = original.content.clone();
            content[at] ^= 0x10;
            match read_changed(Kind::AndroidKeystore, &original, &content) {
                Ok(same) => assert_eq!(same, facts, "{name} changed at {at}"),
                Err(CredentialError::WrongPassword { .. }) => wrong_passwords += 1,
                Err(_) => {}
            }
        }
        assert!(wrong_passwords <= unknowable, "{name}: {wrong_passwords}");
    }
}

/// The facts that the integrity check of a file covers.
fn checked(facts: &Facts) -> Value {
    let mut facts = serde_json::to_value(facts).unwrap();
    if facts["kind"] == "provisioning_profile" {
        // Fingerprints of the whole file, and certificates whose signatures are not verified.
        for field in ["fingerprint", "signer", "root", "rootIsNamedApple"] {
            facts.as_object_mut().unwrap().remove(field);
        }
    }
    facts
}

/// Files whose contents are protected only by the parser's own rules.
fn is_unchecked(facts: &Facts) -> bool {
    use launchway_credentials::Details::{AppStoreConnectKey, GoogleServiceAccount};
    matches!(facts.details, AppStoreConnectKey(_) | GoogleServiceAccount(_))
}

struct Corpus {
    files: Vec<(Kind, Fixture)>,
    known: Vec<Value>,
}

impl Corpus {
    fn new() -> Self {
        let mut files = good();
        // More rounds give the same derivation; changes of a file without a check may go unnoticed.
        files.retain(|(_, fixture)| !["no-mac.p12", "keytool8.p12"].contains(&fixture.name.as_str()));
        let known = files
            .iter()
            .map(|(kind, fixture)| checked(&fixture.read(*kind).unwrap()))
            .collect();
        Self { files, known }
    }

    /// Reads a file that is modified according to the run's number, as each kind. Returns whether any kind accepted it.
    fn run(&self, run: u64) -> bool {
        let mut mutator = Mutator::new(run, MEANING);
        let (kind, file) = &self.files[mutator.below(self.files.len())];
        let (_, other) = &self.files[mutator.below(self.files.len())];
        let content = mutator.mutate(&file.content, &other.content);
        let own = read_changed(*kind, file, &content);
        if let Ok(facts) = &own {
            let is_known = is_unchecked(facts) || self.known.contains(&checked(facts));
            assert!(is_known, "run {run}: {} passes as {facts:?}", file.name);
        }
        // Another kind checks only the format.
        let other = Kind::ALL[mutator.below(Kind::ALL.len())];
        own.is_ok()
            || read(
                other,
                &CredentialInput {
                    content: &content,
                    ..CredentialInput::default()
                },
                NOW,
            )
            .is_ok()
    }
}

#[test]
fn some_thousand_broken_files_do_no_harm() {
    let corpus = Corpus::new();
    let passed = (0..4_000).filter(|run| corpus.run(*run)).count();
    // Line ends and ignored fields may change.
    assert!(passed < 400, "{passed}");
}

/// `FUZZ_RUNS` sets the number of runs. A run depends only on its number, which a failure prints.
#[test]
#[ignore = "long run"]
fn a_million_broken_files() {
    let runs = setting("FUZZ_RUNS").map_or(1_000_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    let corpus = Corpus::new();
    let (mut passed, mut slowest) = (0u64, Duration::ZERO);
    for run in 0..runs {
        let start = Instant::now();
        let looked = std::panic::catch_unwind(|| corpus.run(run));
        passed += u64::from(looked.unwrap_or_else(|_| panic!("run {run} failed, see above")));
        slowest = slowest.max(start.elapsed());
    }
    println!(
        "summary: {runs} broken credentials: {passed} passed and say what they said, the slowest took {slowest:?}"
    );
    assert!(passed < runs, "nothing was broken");
}

/// First bytes that select each reader.
const STARTS: &[&[u8]] = &[
    &[0x30, 0x80, 0x02, 0x01, 0x03],
    &[
        0x30, 0x80, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02, 0xa0, 0x80, 0x30, 0x80,
    ],
    &[0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2],
    b"{",
    b"-----BEGIN PRIVATE KEY-----",
    b"",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_do_no_harm(
        start in proptest::sample::select(STARTS),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let content = [start, &bytes].concat();
        for kind in Kind::ALL {
            let given = CredentialInput { content: &content, ..CredentialInput::default() };
            prop_assert!(read(kind, &given, NOW).is_err());
        }
    }
}
