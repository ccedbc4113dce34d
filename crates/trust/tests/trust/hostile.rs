//! Changed bytes: no panic, and nothing unsigned is trusted.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use launchway_trust::client::Client;
use launchway_trust::json::{self, MAX_DEPTH, MAX_INTEGER, Value};
use proptest::prelude::*;

use crate::repository::{NOW, Repository, drive};

/// The signed contents of a repository.
struct Signed {
    repository: Repository,
    messages: BTreeSet<Vec<u8>>,
}

// `OnceLock`: keys and signatures are created once for all cases.
fn signed() -> &'static Signed {
    static SIGNED: OnceLock<Signed> = OnceLock::new();
    SIGNED.get_or_init(|| {
        let mut repository = Repository::new();
        repository.sign_root(&[]);
        let messages = repository.files.values().map(|text| {
            let file = json::parse(text.as_bytes(), text.len()).unwrap();
            json::canonical(file.get("signed").unwrap())
        });
        Signed {
            messages: messages.collect(),
            repository,
        }
    })
}

/// One change of bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    /// Copies a range to another place.
    Copy(usize, usize, usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let place = any::<prop::sample::Index>().prop_map(|index| index.index(1 << 16));
    let token = prop::sample::select(vec![
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "0",
        "-",
        "9007199254740993",
        "null",
        "\\u0000",
        "\"x\":1,",
        " ",
        "e9",
        "\u{feff}",
    ]);
    let change = prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (place.clone(), token).prop_map(|(at, token)| Change::Insert(at, token.as_bytes().to_vec())),
        (place.clone(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (place.clone(), 1..200_usize, place).prop_map(|(from, length, to)| Change::Copy(from, length, to)),
    ];
    prop::collection::vec(change, 1..4)
}

fn apply(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len().max(1);
        match change {
            Change::Set(at, byte) => {
                if let Some(place) = bytes.get_mut(at % length) {
                    *place = *byte;
                }
            }
            Change::Insert(at, more) => drop(bytes.splice(at % length..at % length, more.iter().copied())),
            Change::Remove(at, count) => {
                let end = (at % length + count).min(bytes.len());
                bytes.drain((at % length).min(end)..end);
            }
            Change::Copy(from, count, to) => {
                let end = (from % length + count).min(bytes.len());
                let part = bytes[(from % length).min(end)..end].to_vec();
                bytes.splice(to % length..to % length, part);
            }
        }
    }
    bytes
}

fn messages_of(client: &Client) -> Vec<Vec<u8>> {
    let trusted = client.metadata();
    let mut messages = vec![trusted.root().message().to_vec()];
    messages.extend(trusted.timestamp().map(|file| file.message().to_vec()));
    messages.extend(trusted.snapshot().map(|file| file.message().to_vec()));
    messages.extend(trusted.targets().map(|file| file.message().to_vec()));
    messages.extend(trusted.roles().map(|(_, file)| file.message().to_vec()));
    messages
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_trusted_that_was_not_signed(which in 0..5_usize, changes in changes()) {
        check_changed(which, &changes)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\",:0-9a-z\\\\ -]{0,60}") {
        for bytes in [&bytes[..], text.as_bytes()] {
            if let Ok(value) = json::parse(bytes, 1000) {
                prop_assert_eq!(json::parse(json::to_text(&value).as_bytes(), 10_000), Ok(value));
            }
        }
    }

    #[test]
    fn a_value_reads_back_as_it_was_written(value in value()) {
        let text = json::to_text(&value);
        prop_assert!(text.is_ascii());
        prop_assert_eq!(json::parse(text.as_bytes(), text.len()), Ok(value));
    }

    #[test]
    fn different_values_have_different_canonical_forms(this in value(), that in value()) {
        prop_assert_eq!(this == that, json::canonical(&this) == json::canonical(&that));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "long run"]
    fn nothing_is_trusted_after_very_many_changes(which in 0..5_usize, changes in changes()) {
        check_changed(which, &changes)?;
    }
}

/// Serves a repository with one changed file to a client.
fn check_changed(which: usize, changes: &[Change]) -> Result<(), TestCaseError> {
    let Signed { repository, messages } = signed();
    let role = ["root", "timestamp", "snapshot", "targets", "c-production"][which];
    let name = repository.name_of(role);
    let changed = apply(repository.files[&name].clone().into_bytes(), changes);
    let mut client = repository.client();
    let outcome = drive(&mut client.refresh(NOW), |request| {
        let text = repository.files.get(request)?;
        Some(if request == name {
            changed.clone()
        } else {
            text.clone().into_bytes()
        })
    });
    for message in messages_of(&client) {
        prop_assert!(messages.contains(&message));
    }
    if let Err(refusal) = outcome {
        prop_assert_eq!(refusal.role, role);
    }
    // A changed root in the app is no better.
    if role == "root" {
        let mut file = repository.trust_file();
        file.root = String::from_utf8_lossy(&changed).into_owned();
        if let Ok(client) = Client::open(&file, &repository.identity.bundle_id, None, None) {
            prop_assert!(messages.contains(client.metadata().root().message()));
        }
    }
    Ok(())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(Value::Integer),
        prop_oneof![".{0,6}", "[\"\\\\\n\u{0}a]{0,3}"].prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(".{0,3}", inner, 0..4).prop_map(Value::Object),
        ]
    })
}

#[test]
fn depth_is_bounded_before_the_stack_is() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(json::parse(nested(MAX_DEPTH).as_bytes(), 1 << 20).is_ok());
    for depth in [MAX_DEPTH + 1, 500_000] {
        let refused = json::parse(nested(depth).as_bytes(), 1 << 20);
        assert_eq!(refused, Err(json::JsonError::Depth { at: MAX_DEPTH }));
    }
    let objects = "{\"a\":".repeat(100_000);
    assert!(matches!(
        json::parse(objects.as_bytes(), 1 << 20),
        Err(json::JsonError::Depth { .. })
    ));
}
