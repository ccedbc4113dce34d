//! Thresholds: which signatures count, and which files are invalid.

use std::collections::BTreeMap;

use launchway_trust::draft::Draft;
use launchway_trust::json::{self, Value, object};
use launchway_trust::metadata::{Delegation, FormError, Key, Metadata, MetadataError, RoleKeys, Root, Targets};
use launchway_trust::{SigningKey, TopLevel};
use ring::rand::SystemRandom;

use crate::attacks::{change, change_file};
use crate::repository::{NOW, Repository, key, keys, role_keys};

/// A root whose role `root` has these keys by id, and its file, for others to sign.
fn root_of(named: &[(&str, &SigningKey)], threshold: u64) -> (Root, Draft) {
    let repository = Repository::new();
    let mut root = repository.root.clone();
    for (id, key) in named {
        root.keys.insert((*id).to_owned(), Key::from(*key.public()));
    }
    root.root = RoleKeys {
        key_ids: named.iter().map(|(id, _)| (*id).to_owned()).collect(),
        threshold,
    };
    let draft = Draft::new(&repository.header(1, NOW), &root);
    (root, draft)
}

/// The file with these signatures: id and text.
fn with_signatures(draft: &Draft, signatures: &[(&str, &str)]) -> Result<Metadata<Root>, MetadataError> {
    let text = change_file(&draft.to_text().unwrap(), |file| {
        let Value::Object(members) = file else { unreachable!() };
        let list = signatures
            .iter()
            .map(|(id, text)| Value::Object(object([("keyid", (*id).into()), ("sig", (*text).into())])));
        members.insert("signatures".to_owned(), Value::Array(list.collect()));
    });
    Metadata::parse(text.as_bytes())
}

fn sign(draft: &Draft, key: &SigningKey) -> String {
    hex::encode(key.sign(draft.message(), &SystemRandom::new()).unwrap())
}

#[test]
fn two_ids_of_one_key_count_once() {
    let (first, second) = (key(), key());
    let (root, draft) = root_of(&[("a", &first), ("b", &first), ("c", &second)], 2);
    let (one, also, two) = (sign(&draft, &first), sign(&draft, &first), sign(&draft, &second));
    let authority = root.authority(TopLevel::Root);
    let of = |signatures: &[(&str, &str)]| authority.verify(&with_signatures(&draft, signatures).unwrap()).is_ok();
    assert!(!of(&[("a", &one), ("b", &also)]));
    assert!(of(&[("a", &one), ("c", &two)]));
    assert!(of(&[("b", &one), ("c", &two)]));
    assert_eq!(authority.signers().len(), 2);
}

#[test]
fn signatures_that_cannot_be_read_do_no_harm_and_no_good() {
    let (first, second) = (key(), key());
    let (root, draft) = root_of(&[("a", &first), ("b", &second)], 1);
    let (good, of_other) = (sign(&draft, &first), sign(&draft, &second));
    let authority = root.authority(TopLevel::Root);
    for bad in [
        "",
        "zz",
        "0",
        &good.to_uppercase(),
        &good[2..],
        &format!("{good}00"),
        &of_other,
    ] {
        let alone = with_signatures(&draft, &[("a", bad)]).unwrap();
        assert!(authority.verify(&alone).is_err(), "{bad}");
        let beside = with_signatures(&draft, &[("a", bad), ("b", &of_other), ("stranger", bad)]).unwrap();
        assert!(authority.verify(&beside).is_ok(), "{bad}");
    }
    assert!(authority.verify(&with_signatures(&draft, &[]).unwrap()).is_err());
}

#[test]
fn one_id_signs_once() {
    let first = key();
    let (_, draft) = root_of(&[("a", &first)], 1);
    let good = sign(&draft, &first);
    let twice = with_signatures(&draft, &[("a", &good), ("a", "")]);
    assert_eq!(twice.unwrap_err(), MetadataError::DuplicateSignature);
}

#[test]
fn a_role_lists_an_id_once() {
    let first = key();
    let (_, draft) = root_of(&[("a", &first), ("a", &first)], 1);
    let refused = with_signatures(&draft, &[]).unwrap_err();
    assert_eq!(refused, MetadataError::Form(FormError { field: "keyids" }));
}

#[test]
fn a_role_is_delegated_to_once_and_never_a_top_level_one() {
    let repository = Repository::new();
    let parse = |names: &[&str]| {
        let mut targets = repository.targets.clone();
        let roles = &mut targets.delegations.as_mut().unwrap().roles;
        let delegation = roles.remove(0);
        roles.extend(names.iter().map(|name| Delegation {
            name: (*name).to_owned(),
            ..delegation.clone()
        }));
        let text = Draft::new(&repository.header(1, NOW), &targets).to_text().unwrap();
        Metadata::<Targets>::parse(text.as_bytes()).map(|_| ())
    };
    let refused = Err(MetadataError::Form(FormError { field: "roles" }));
    assert_eq!(parse(&["any", "c-production"]), Ok(()));
    assert_eq!(parse(&["any", "any"]), refused);
    for name in ["root", "timestamp", "snapshot", "targets"] {
        assert_eq!(parse(&[name]), refused, "{name}");
    }
}

#[test]
fn keys_of_other_kinds_count_for_nothing() {
    let first = key();
    let (_, draft) = root_of(&[("a", &first)], 1);
    let good = sign(&draft, &first);
    for (field, value) in [
        ("keytype", Value::from("rsa")),
        ("scheme", "ed25519".into()),
        ("keyval", Value::Null),
        ("keyval", Value::Object(object([("public", "abc".into())]))),
    ] {
        let text = change(&draft.to_text().unwrap(), |signed| {
            let Value::Object(members) = signed else { unreachable!() };
            let Some(Value::Object(keys)) = members.get_mut("keys") else {
                unreachable!()
            };
            let Some(Value::Object(key)) = keys.get_mut("a") else {
                unreachable!()
            };
            key.insert(field.to_owned(), value);
        });
        let mut file = Draft::from_bytes::<Root>(text.as_bytes()).unwrap();
        let root: Metadata<Root> = Metadata::parse(text.as_bytes()).unwrap();
        let authority = root.body().authority(TopLevel::Root);
        assert!(authority.signers().is_empty());
        assert!(file.attach(authority, "a", &good).is_err());
    }
}

#[test]
fn unknown_fields_are_part_of_what_is_signed() {
    let mut repository = Repository::new();
    let more = key();
    repository.root.keys.extend(keys([more.public()]));
    repository.root.root = role_keys(&[&repository.root_key, &more], 1);
    let draft = Draft::new(&repository.header(2, NOW), &repository.root);
    let text = change(&draft.to_text().unwrap(), |signed| {
        let Value::Object(members) = signed else { unreachable!() };
        members.insert("x-other-system".to_owned(), "é\n\"".into());
    });
    let mut draft = Draft::from_bytes::<Root>(text.as_bytes()).unwrap();
    let authority = repository.root.authority(TopLevel::Root);
    draft.sign(authority, &more, &SystemRandom::new()).unwrap();
    let signed = draft.to_text().unwrap();
    let parse = |text: &str| Metadata::<Root>::parse(text.as_bytes()).unwrap();
    assert!(authority.verify(&parse(&signed)).is_ok());
    // Spelled differently, it has the same meaning.
    let pretty = signed.replace(',', ",\n ").replace("\\u00e9", "é");
    assert!(authority.verify(&parse(&pretty)).is_ok());
    assert!(authority.verify(&parse(&signed.replace("x-other", "y-other"))).is_err());
}

#[test]
fn a_file_of_another_type_or_form_is_none() {
    let repository = Repository::new();
    let text = repository.files["1.root.json"].clone();
    let parse = |text: &str| Metadata::<Root>::parse(text.as_bytes()).map(|_| ());
    let set = |name: &str, value: Value| {
        parse(&change(&text, |signed| {
            let Value::Object(members) = signed else { unreachable!() };
            members.insert(name.to_owned(), value);
        }))
    };
    let form = |field| Err(MetadataError::Form(FormError { field }));
    assert_eq!(parse(&text), Ok(()));
    assert_eq!(
        set("_type", "targets".into()),
        Err(MetadataError::Type { expected: "root" })
    );
    for (version, expected) in [
        ("1.0", Ok(())),
        ("1.0.31", Ok(())),
        ("1.99.0", Ok(())),
        ("1", Err(MetadataError::SpecVersion)),
        ("1.", Err(MetadataError::SpecVersion)),
        ("1.x", Err(MetadataError::SpecVersion)),
        ("2.0.0", Err(MetadataError::SpecVersion)),
        ("10.0", Err(MetadataError::SpecVersion)),
    ] {
        assert_eq!(set("spec_version", version.into()), expected, "{version}");
    }
    for version in [Value::Integer(0), Value::Integer(-1), "1".into(), Value::Null] {
        assert_eq!(set("version", version), form("version"));
    }
    for expires in [
        "2026-11-20",
        "2026-11-20T10:00:00",
        "2026-11-20T10:00:00.000Z",
        "2026-11-20T10:00:00+00:00",
        "2026-02-30T10:00:00Z",
        "2026-11-20t10:00:00z",
        "",
    ] {
        assert_eq!(set("expires", expires.into()), form("expires"), "{expires}");
    }
    assert_eq!(set("x-launchway", Value::Bool(true)), form("x-launchway"));
    assert_eq!(set("roles", Value::Object(BTreeMap::new())), form("root"));
    assert_eq!(set("keys", Value::Array(vec![])), form("keys"));
    assert_eq!(parse("{}"), form("signatures"));
    assert_eq!(parse("[]"), form("signed"));
    let without_signed = json::to_text(&Value::Object(object([("signatures", Value::Array(vec![]))])));
    assert_eq!(parse(&without_signed), form("signed"));
}
