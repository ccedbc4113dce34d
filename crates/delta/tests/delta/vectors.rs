//! The vectors in `sdk/vectors` that every SDK reads: this crate generates them and passes them.

use std::fs;
use std::path::PathBuf;

use launchway_delta::FileList;
use serde_json::{Value, json};

use crate::archives::{good, hostile};
use crate::{list, list_of};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/vectors"))
}

fn committed(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

/// Lists with their canonical bytes.
fn lists() -> Value {
    let cases: [(&str, &[(&str, &str)]); 7] = [
        ("one empty file", &[("index.html", "")]),
        (
            "sorted by bytes, not by letters",
            &[("b", "1"), ("C", "2"), ("a-b", "3"), ("a/b", "4"), ("a.b", "5")],
        ),
        (
            "sorted by UTF-8, not by UTF-16",
            &[("\u{1f600}", "1"), ("\u{ff61}", "2"), ("z", "3")],
        ),
        ("quotation marks", &[("a\"b", "1"), ("\"", "2")]),
        ("Unicode forms are kept", &[("e\u{301}", "1"), ("\u{fc}", "2")]),
        ("only quotation marks are escaped", &[("a/<b>&'c\u{2028}", "1")]),
        ("dots inside names", &[("..a/.b/c..", "1"), (".well-known", "2")]),
    ];
    let case = |(name, files): &(&str, &[(&str, &str)])| {
        let bytes: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(path, content)| (*path, content.as_bytes()))
            .collect();
        let made = list(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let files: Vec<Value> = files
            .iter()
            .map(|(path, content)| json!({"path": path, "content": content}))
            .collect();
        json!({
            "name": name,
            "files": files,
            "canonical": String::from_utf8(made.canonical()).unwrap(),
            "manifest": made.manifest().to_string(),
        })
    };
    cases.iter().map(case).collect()
}

/// Texts that are not valid file lists. `HASH` is a placeholder for a digest.
const NO_LISTS: [(&str, &str); 32] = [
    ("empty text", ""),
    ("no files", r#"{"alg":"lwfl-1","files":[]}"#),
    (
        "another algorithm",
        r#"{"alg":"lwfl-2","files":[{"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a space",
        r#"{"alg":"lwfl-1", "files":[{"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a line break at the end",
        "{\"alg\":\"lwfl-1\",\"files\":[{\"path\":\"a\",\"sha256\":\"HASH\",\"size\":1}]}\n",
    ),
    (
        "a byte order mark",
        "\u{feff}{\"alg\":\"lwfl-1\",\"files\":[{\"path\":\"a\",\"sha256\":\"HASH\",\"size\":1}]}",
    ),
    (
        "fields in another order",
        r#"{"files":[{"path":"a","sha256":"HASH","size":1}],"alg":"lwfl-1"}"#,
    ),
    (
        "fields of a file in another order",
        r#"{"alg":"lwfl-1","files":[{"path":"a","size":1,"sha256":"HASH"}]}"#,
    ),
    (
        "an unknown field",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1}],"x":1}"#,
    ),
    (
        "an unknown field of a file",
        r#"{"alg":"lwfl-1","files":[{"mode":420,"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a missing size",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH"}]}"#,
    ),
    (
        "a field twice",
        r#"{"alg":"lwfl-1","files":[{"path":"a","path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "unsorted",
        r#"{"alg":"lwfl-1","files":[{"path":"b","sha256":"HASH","size":1},{"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "the same path twice",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1},{"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "paths that differ by case",
        r#"{"alg":"lwfl-1","files":[{"path":"A","sha256":"HASH","size":1},{"path":"a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a file used as a folder",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1},{"path":"a/b","sha256":"HASH","size":1}]}"#,
    ),
    (
        "an escaped letter",
        r#"{"alg":"lwfl-1","files":[{"path":"\u0061","sha256":"HASH","size":1}]}"#,
    ),
    (
        "an escaped slash",
        r#"{"alg":"lwfl-1","files":[{"path":"a\/b","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a backslash",
        r#"{"alg":"lwfl-1","files":[{"path":"a\\b","sha256":"HASH","size":1}]}"#,
    ),
    (
        "an empty path",
        r#"{"alg":"lwfl-1","files":[{"path":"","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a climbing path",
        r#"{"alg":"lwfl-1","files":[{"path":"../a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "an absolute path",
        r#"{"alg":"lwfl-1","files":[{"path":"/a","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a folder",
        r#"{"alg":"lwfl-1","files":[{"path":"a/","sha256":"HASH","size":1}]}"#,
    ),
    (
        "a negative size",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":-1}]}"#,
    ),
    (
        "a size with a leading zero",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":01}]}"#,
    ),
    (
        "a size with a fraction",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1.0}]}"#,
    ),
    (
        "a size with an exponent",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1e0}]}"#,
    ),
    (
        "a size as text",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":"1"}]}"#,
    ),
    (
        "a size beyond the limit",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":2147483649}]}"#,
    ),
    (
        "a size beyond 64 bits",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":18446744073709551617}]}"#,
    ),
    (
        "a short digest",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"abc","size":1}]}"#,
    ),
    (
        "a comma at the end",
        r#"{"alg":"lwfl-1","files":[{"path":"a","sha256":"HASH","size":1},]}"#,
    ),
];

const HASH: &str = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b";

fn refused_texts() -> Value {
    let case = |(name, text): &(&str, &str)| json!({"name": name, "text": text.replace("HASH", HASH)});
    let upper = json!({
        "name": "a digest in upper case",
        "text": format!(r#"{{"alg":"lwfl-1","files":[{{"path":"a","sha256":"{}","size":1}}]}}"#, HASH.to_uppercase()),
    });
    NO_LISTS.iter().map(case).chain([upper]).collect()
}

fn file_lists() -> Value {
    json!({
        "alg": "lwfl-1",
        "about": "lists: files (content as UTF-8), the canonical text of their list and its SHA-256. refused: texts that are no file list.",
        "lists": lists(),
        "refused": refused_texts(),
    })
}

fn zips() -> Value {
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let good = good().into_iter().map(|(name, zip)| {
        json!({"name": name, "zip": bytes(&zip), "manifest": list_of(&zip).unwrap().manifest().to_string()})
    });
    let refused = hostile()
        .into_iter()
        .map(|(name, zip)| json!({"name": name, "zip": bytes(&zip)}));
    json!({
        "about": "zip: the bytes of a package in hexadecimal. good ones hold what manifest says; refused ones are never installed.",
        "good": good.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
    })
}

#[test]
fn the_committed_vectors_are_those_that_this_crate_makes() {
    let hint = "run `cargo test -p launchway-delta -- --ignored` to write them anew";
    assert_eq!(committed("file-lists.json"), file_lists(), "{hint}");
    assert_eq!(committed("hostile-zips/zips.json"), zips(), "{hint}");
}

#[test]
fn vectors_are_read_or_refused_as_they_say() {
    let vectors = committed("file-lists.json");
    for case in vectors["lists"].as_array().unwrap() {
        let read = FileList::parse(case["canonical"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(
            read.manifest().to_string(),
            case["manifest"].as_str().unwrap(),
            "{}",
            case["name"]
        );
    }
    let refused = vectors["refused"].as_array().unwrap();
    assert!(refused.len() > 30);
    for case in refused {
        let read = FileList::parse(case["text"].as_str().unwrap().as_bytes());
        assert!(read.is_err(), "{}", case["name"]);
    }
}

#[test]
#[ignore = "writes the vectors instead of checking them"]
fn write_vectors() {
    let text = |value: &Value| serde_json::to_string_pretty(value).unwrap() + "\n";
    fs::write(folder().join("file-lists.json"), text(&file_lists())).unwrap();
    fs::write(folder().join("hostile-zips/zips.json"), text(&zips())).unwrap();
}
