//! Strict JSON, and the texts in `sdk/vectors/json.json` that every SDK parses identically.

use std::fs;
use std::path::PathBuf;

use launchway_trust::json::{self, JsonError, MAX_DEPTH, MAX_INTEGER, parse, to_utf8};
use proptest::prelude::*;
use serde_json::{Value, json};

const MAX: usize = 1 << 20;

fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/vectors/json.json"))
}

/// Texts that are accepted, and how they are written back.
const READ: [(&str, &str); 22] = [
    ("null", "null"),
    (" true ", "true"),
    ("\t\r\nfalse\n", "false"),
    ("0", "0"),
    ("-1", "-1"),
    ("9007199254740991", "9007199254740991"),
    ("-9007199254740991", "-9007199254740991"),
    ("\"\"", "\"\""),
    ("\"a\"", "\"a\""),
    ("\"\\u0061\"", "\"a\""),
    ("\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"/\\u0008\\u000c\\n\\r\\t\\\"\\\\\""),
    ("\"\\ud83d\\ude00\"", "\"\u{1f600}\""),
    ("\"\u{1f600}\"", "\"\u{1f600}\""),
    ("\"\u{7f}\u{2028}\"", "\"\u{7f}\u{2028}\""),
    ("\"\\u0000\"", "\"\\u0000\""),
    ("[]", "[]"),
    ("[ 1 , [ ] ]", "[1,[]]"),
    ("{}", "{}"),
    ("{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}"),
    ("{ \"a\" : { \"a\" : 1 } }", "{\"a\":{\"a\":1}}"),
    ("{\"a\":1,\"A\":2}", "{\"A\":2,\"a\":1}"),
    ("{\"\":null}", "{\"\":null}"),
];

/// Texts that are rejected.
const REFUSED: [&str; 66] = [
    "",
    " ",
    "nul",
    "nulll",
    "None",
    "TRUE",
    "undefined",
    "NaN",
    "Infinity",
    "-Infinity",
    "'a'",
    "a",
    "1 2",
    "null,",
    "//c\n1",
    "/**/1",
    "#1",
    "+1",
    "01",
    "-01",
    "-",
    "--1",
    ".5",
    "1.",
    "1.0",
    "1.5",
    "1e0",
    "1E5",
    "1e400",
    "0x10",
    "1_000",
    "-0",
    "-0.0",
    "9007199254740992",
    "-9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551616",
    "1a",
    "\"",
    "\"a",
    "\"\n\"",
    "\"\t\"",
    "\"\\\"",
    "\"\\x61\"",
    "\"\\a\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\u0061\"",
    "\"\\ud83dx\"",
    "[",
    "]",
    "[1",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{",
    "}",
    "{\"a\"}",
    "{\"a\":1,}",
    "{a:1}",
    "{\"a\":1,\"a\":2}",
    "{\"a\":1,\"\\u0061\":2}",
];

/// Texts of bytes, in hexadecimal, that are rejected.
const REFUSED_BYTES: [&str; 6] = ["22ff22", "22c0af22", "22eda08022", "efbbbf31", "22f490808022", "310b"];

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

fn vectors() -> Value {
    let bytes = REFUSED_BYTES.iter().map(|hex| json!({"hex": hex}));
    let deep = [json!({"text": nested(MAX_DEPTH + 1)})];
    json!({
        "about": "read: texts and how they are written back. refused: texts, or bytes in hexadecimal.",
        "read": READ.iter().map(|(text, written)| json!({"text": text, "written": written}))
            .chain([json!({"text": nested(MAX_DEPTH), "written": nested(MAX_DEPTH)})]).collect::<Vec<_>>(),
        "refused": REFUSED.iter().map(|text| json!({"text": text})).chain(bytes).chain(deep).collect::<Vec<_>>(),
    })
}

#[test]
fn the_committed_texts_are_read_or_refused() {
    let committed: Value = serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    assert_eq!(
        committed,
        vectors(),
        "`cargo test -p launchway-device -- --ignored write_` writes them anew"
    );
    for case in committed["read"].as_array().unwrap() {
        let read = parse(case["text"].as_str().unwrap().as_bytes(), MAX).unwrap();
        assert_eq!(to_utf8(&read), case["written"].as_str().unwrap());
    }
    let refused = committed["refused"].as_array().unwrap();
    assert!(refused.len() >= 60);
    for case in refused {
        let bytes: Vec<u8> = match case["hex"].as_str() {
            Some(hex) => (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect(),
            None => case["text"].as_str().unwrap().as_bytes().to_vec(),
        };
        assert!(parse(&bytes, MAX).is_err(), "{case}");
    }
}

#[test]
fn a_million_brackets_do_not_reach_the_stack() {
    for text in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 17)] {
        assert!(matches!(parse(text.as_bytes(), MAX), Err(JsonError::Depth { .. })));
    }
    assert!(matches!(parse(&[b' '; 11], 10), Err(JsonError::TooLarge { limit: 10 })));
}

fn values() -> impl Strategy<Value = json::Value> {
    let leaf = prop_oneof![
        Just(json::Value::Null),
        any::<bool>().prop_map(json::Value::Bool),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(json::Value::Integer),
        any::<String>().prop_map(json::Value::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(json::Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..5).prop_map(json::Value::Object),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in values()) {
        let text = to_utf8(&value);
        prop_assert_eq!(parse(text.as_bytes(), MAX).unwrap(), value);
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
    }

    #[test]
    fn whatever_is_read_another_reader_reads_too(text in "[\\[\\]{}\",:0-9a-z\\\\u. -]{0,24}") {
        if parse(text.as_bytes(), MAX).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }
    }
}

#[test]
#[ignore = "writes the texts instead of checking them"]
fn write_texts() {
    fs::write(file(), serde_json::to_string_pretty(&vectors()).unwrap() + "\n").unwrap();
}
