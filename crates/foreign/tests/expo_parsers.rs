//! Expo's own parsers read what we write, and read structured fields as we do.
#![cfg(test)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use launchway_foreign::expo::structured::{Item, dictionary, list};
use launchway_foreign::expo::{Answer, Part, Request, Served, Signature};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const MANIFEST: &str = r#"{"id":"0193c9a1-7c4e-7d7e-8a9b-0123456789ab","extra":{"name":"Größe --launchway-part"}}"#;
const CHAIN: &str = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

/// What the parsers make of an input. Installs them first.
fn read(input: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign-clients/expo");
    for name in ["package.json", "package-lock.json", "read.mjs"] {
        std::fs::copy(scripts.join(name), folder.path().join(name)).unwrap();
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--loglevel=error"]).current_dir(folder.path());
    assert!(install.output().unwrap().status.success());
    let mut node = Command::new("node");
    node.arg("read.mjs")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut node = node.spawn().unwrap();
    node.stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Fields that are often, but not always, well-formed.
fn fields(pattern: &str) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = proptest::string::string_regex(pattern).unwrap();
    (0..2000)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}

fn text(item: Item<'_>) -> Value {
    item.into_text().map_or(Value::Null, |text| json!(text))
}

#[test]
fn expos_parsers_read_what_we_write_and_fields_as_we_do() {
    let member = r#"("[ -!#-~]{0,4}"|"\\\\"|[a-c*][a-c*/]{0,3}|\?[01]|-?[0-9]{1,3}(\.[0-9]{1,3})?|\((a( b)?)?\))(;[a-c](=[0-9])?)?"#;
    let dictionaries = fields(&format!(" {{0,1}}([a-c*][a-c.]{{0,2}}(={member})?,? ?){{0,3}}"));
    let lists = fields(&format!("({member},? ?){{0,3}}"));
    let signature = Signature::new("main", vec![7; 256]).unwrap();
    let header = signature.header();
    let served = Served::manifest(
        &Part {
            body: MANIFEST.into(),
            signature: Some(signature),
        },
        Some(CHAIN),
    );
    let required: [(&str, &[u8]); 3] = [
        ("expo-platform", b"ios"),
        ("expo-runtime-version", b"1"),
        ("expo-protocol-version", b"1"),
    ];
    let request = Request::read(|name| Some(required.iter().find(|(known, _)| *known == name)?.1)).unwrap();
    let response = Answer::Served(&served).respond(&request);
    let content_type = response
        .headers
        .iter()
        .find(|(name, _)| *name == "content-type")
        .unwrap();
    let read = read(&json!({
        "contentType": content_type.1, "body": STANDARD.encode(&response.body), "dictionaries": dictionaries, "lists": lists,
    }));
    let expected = json!([
        {"name": "manifest", "body": MANIFEST, "signature": header},
        {"name": "extensions", "body": "{\"assetRequestHeaders\":{}}", "signature": null},
        {"name": "certificate_chain", "body": CHAIN, "signature": null},
    ]);
    assert_eq!(read["parts"], expected);
    let mut accepted = 0;
    for (field, theirs) in dictionaries.iter().zip(read["dictionaries"].as_array().unwrap()) {
        let ours = dictionary(field).map(|members| {
            members
                .into_iter()
                .map(|(key, value)| json!([key, text(value)]))
                .collect()
        });
        assert_eq!(&ours.unwrap_or(Value::Null), theirs, "{field:?}");
        accepted += usize::from(!theirs.is_null());
    }
    for (field, theirs) in lists.iter().zip(read["lists"].as_array().unwrap()) {
        let ours = list(field).map(|members| members.into_iter().map(text).collect());
        assert_eq!(&ours.unwrap_or(Value::Null), theirs, "{field:?}");
        accepted += usize::from(!theirs.is_null());
    }
    assert!((400..3900).contains(&accepted), "{accepted} fields are well-formed");
}
