//! Fingerprint documents (`docs/reference/fingerprints.md#the-document`): the published vectors, and every field that can be
//! invalid.

use std::collections::BTreeMap;

use launchway_domain::fingerprint::{Algorithm, DocumentError, FingerprintDocument, Framework, MAX_DOCUMENT_BYTES};
use launchway_domain::platform::Platform;
use proptest::prelude::*;
use serde_json::{Value, json};

/// SHA-256 of no bytes: the hash of an empty tree.
const EMPTY_TREE: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn good() -> Value {
    json!({
        "alg": "lwfp-1",
        "framework": "nativescript",
        "native": EMPTY_TREE,
        "platform": "android",
        "plugins": { "@nativescript/camera": "5.0.0" },
        "resources": EMPTY_TREE,
    })
}

/// The valid document with one field set or removed.
fn with(field: &str, value: Option<Value>) -> Value {
    let mut document = good();
    let fields = document.as_object_mut().expect("an object");
    match value {
        Some(value) => fields.insert(field.to_owned(), value),
        None => fields.remove(field),
    };
    document
}

fn refusal(document: Value) -> String {
    FingerprintDocument::from_value(document)
        .expect_err("a refusal")
        .to_string()
}

fn plugins(count: usize, name_length: usize, version: &str) -> Value {
    (0..count)
        .map(|place| (format!("{place:0name_length$}"), json!(version)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The vectors are published for other implementations. They were computed with Python's `json` and `hashlib`, keys sorted
/// by their UTF-16-BE bytes, and verified with `JSON.stringify` and `sort` of JavaScript, whose order RFC 8785 adopts.
#[test]
fn published_vectors_hold() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../../../docs/fingerprint/documents.json")).unwrap();
    assert_eq!(vectors.len(), 6);
    for vector in vectors {
        let document = FingerprintDocument::from_value(vector["document"].clone()).unwrap();
        assert_eq!(document.canonical(), vector["canonical"], "{}", vector["name"]);
        assert_eq!(document.hash().as_str(), vector["hash"], "{}", vector["name"]);
    }
}

#[test]
fn a_document_tells_what_it_was_read_from() {
    let document = FingerprintDocument::from_value(good()).unwrap();
    assert_eq!(
        (document.framework(), document.platform()),
        (Framework::NativeScript, Platform::Android)
    );
    assert_eq!((document.native(), document.resources()), (EMPTY_TREE, EMPTY_TREE));
    assert_eq!(
        document.plugins(),
        &BTreeMap::from([("@nativescript/camera".to_owned(), "5.0.0".to_owned())])
    );
}

#[test]
fn every_framework_and_platform_is_read() {
    for name in ["nativescript", "capacitor", "react-native", "expo", "flutter", "native"] {
        let document = FingerprintDocument::from_value(with("framework", Some(json!(name)))).unwrap();
        assert_eq!(document.framework().as_str(), name);
    }
    for name in ["ios", "android", "visionos"] {
        let document = FingerprintDocument::from_value(with("platform", Some(json!(name)))).unwrap();
        assert_eq!(document.platform().as_str(), name);
    }
}

#[test]
fn a_wrong_document_is_refused_with_the_field_named() {
    for value in [json!(null), json!("text"), json!([]), json!(7)] {
        assert_eq!(
            refusal(value),
            "fingerprint must be text, or a lwfp-1 or lwfp-2 document"
        );
    }
    for field in ["alg", "framework", "native", "platform", "plugins", "resources"] {
        assert_eq!(refusal(with(field, None)), format!("fingerprint.{field} is required"));
        let wrong_type = if field == "plugins" {
            "an object of names and versions"
        } else {
            "text"
        };
        assert_eq!(
            refusal(with(field, Some(json!(7)))),
            format!("fingerprint.{field} must be {wrong_type}")
        );
    }
    let upper = EMPTY_TREE.to_uppercase();
    let frameworks = "fingerprint.framework must be nativescript, capacitor, react-native, expo, flutter or native";
    for (field, value, expected) in [
        ("alg", json!("lwfp-3"), "fingerprint.alg must be lwfp-1 or lwfp-2"),
        ("framework", json!("ionic"), frameworks),
        (
            "platform",
            json!("web"),
            "fingerprint.platform must be ios, android or visionos",
        ),
        (
            "native",
            json!(""),
            "fingerprint.native must be a SHA-256 in lower-case hex",
        ),
        (
            "native",
            json!(&EMPTY_TREE[1..]),
            "fingerprint.native must be a SHA-256 in lower-case hex",
        ),
        (
            "resources",
            json!(upper),
            "fingerprint.resources must be a SHA-256 in lower-case hex",
        ),
        ("hash", json!("x"), "fingerprint.hash is an unknown field"),
        (
            "a\n\u{1b}[31m",
            json!("x"),
            "fingerprint.a\\n\\u{1b}[31m is an unknown field",
        ),
        (
            "plugins",
            json!([]),
            "fingerprint.plugins must be an object of names and versions",
        ),
    ] {
        assert_eq!(refusal(with(field, Some(value))), expected);
    }
}

#[test]
fn plugins_have_printable_names_and_versions() {
    let name_error = "fingerprint.plugins has a name that is not 1 to 214 printable characters: ";
    let version_error =
        |name: &str| format!("fingerprint.plugins.{name} must be a version of 1 to 128 printable characters");
    for (entry, expected) in [
        (json!({ "": "1.0.0" }), name_error.to_owned()),
        (json!({ "a\tb": "1.0.0" }), format!("{name_error}a\\tb")),
        (plugins(1, 215, "1.0.0"), format!("{name_error}{}…", "0".repeat(60))),
        (json!({ "a": "" }), version_error("a")),
        (json!({ "a": "1\u{1b}[0m" }), version_error("a")),
        (json!({ "a": "1".repeat(129) }), version_error("a")),
        (json!({ "a": 1 }), version_error("a")),
        (json!({ "a": null }), version_error("a")),
    ] {
        assert_eq!(refusal(with("plugins", Some(entry))), expected);
    }
    let longest = with("plugins", Some(plugins(1, 214, &"1".repeat(128))));
    assert!(FingerprintDocument::from_value(longest).is_ok());
    let letters = json!({ "é".repeat(214): "ü".repeat(128) });
    assert!(
        FingerprintDocument::from_value(with("plugins", Some(letters))).is_ok(),
        "characters, not bytes"
    );
}

#[test]
fn a_document_is_bounded() {
    let read = |plugins| FingerprintDocument::from_value(with("plugins", Some(plugins)));
    assert!(read(plugins(2000, 4, "1")).is_ok());
    assert_eq!(read(plugins(2001, 4, "1")), Err(DocumentError::TooManyPlugins));
    assert_eq!(read(plugins(1500, 100, &"1".repeat(100))), Err(DocumentError::TooLarge));
}

#[test]
fn a_document_is_bounded_to_the_byte() {
    // The size of an entry `"name":"version"` is that of its two texts plus five, and a comma except for the first.
    let size_without = FingerprintDocument::from_value(with("plugins", Some(json!({}))))
        .unwrap()
        .canonical()
        .len();
    let entry = 150 + 100 + 6;
    let room = MAX_DOCUMENT_BYTES - size_without + 1;
    let (count, rest) = (room / entry, room % entry);
    for (spare, fits) in [(0, true), (1, false)] {
        let mut entries = plugins(count - 1, 150, &"1".repeat(100));
        // The last two share the rest, so that each respects its own limit.
        let last = entry + rest + spare - 6;
        entries["last"] = json!("1".repeat(100));
        entries["x".repeat(last - 104 - 6 - 28)] = json!("1".repeat(28));
        let read = FingerprintDocument::from_value(with("plugins", Some(entries)));
        assert_eq!(
            read.as_ref().map(|document| document.canonical().len()).ok(),
            fits.then_some(MAX_DOCUMENT_BYTES)
        );
        assert_eq!(read.err(), (!fits).then_some(DocumentError::TooLarge));
    }
}

proptest! {
    #[test]
    fn the_canonical_form_reads_back_to_the_same_document(
        entries in prop::collection::btree_map("\\PC{1,6}", "\\PC{1,4}", 0..6), resources in "[0-9a-f]{64}", native in "[0-9a-f]{64}",
    ) {
        let made = FingerprintDocument::new(Algorithm::Lwfp2, Framework::Expo, Platform::Ios, entries, resources, native).unwrap();
        let read = FingerprintDocument::from_value(serde_json::from_str(&made.canonical()).unwrap()).unwrap();
        prop_assert_eq!(read.hash(), made.hash());
        prop_assert_eq!(read, made);
    }

    #[test]
    fn the_hash_tells_documents_apart(
        this in prop::collection::btree_map("[a-b\"]", "[12]", 0..3), that in prop::collection::btree_map("[a-b\"]", "[12]", 0..3),
    ) {
        let make = |entries| {
            FingerprintDocument::new(Algorithm::Lwfp1, Framework::Expo, Platform::Ios, entries, EMPTY_TREE.into(), EMPTY_TREE.into()).unwrap()
        };
        let (this, that) = (make(this), make(that));
        prop_assert_eq!(this.hash() == that.hash(), this == that);
    }
}
