//! Compares the responses of a release with those of this version: fields may be added, none may be missing or changed.

use serde_json::Value;

use super::Release;

/// Accepted differences from the responses of a release: path prefix, field, reason. Keep it short: each line is a
/// broken promise to callers.
const CHANGED: &[(&str, &str, &str)] = &[
    ("/fingerprints/diff", "/reason", "the sentence for an unknown change lost its full stop"),
    ("/webhooks", "/url", SHORTENED),
    ("/webhooks", "/items/0/url", SHORTENED),
    ("/webhooks", "/items/1/url", SHORTENED),
    ("/webhooks", "/items/2/url", SHORTENED),
];
const SHORTENED: &str = "the URL of a webhook is a credential";

/// A link that is signed until a time after the request; only what precedes the signature is compared.
const SIGNED: &str = "?expires=";
/// Fields that contain the time of the request if a signed link or a token is next to them.
const OF_THE_MOMENT: [&str; 2] = ["expiresAt", "reportToken"];

/// Texts for people, which every release may reword: what to do about an error, and what a build waits for.
fn is_prose(field: &str) -> bool {
    field.ends_with("/fix") || field.ends_with("/waitingFor")
}

/// Repeats every request that the release answered.
///
/// # Panics
/// With every difference.
pub async fn compare(release: &Release) {
    let mut differences = Vec::new();
    let answers = release.recorded["answers"].as_array().unwrap();
    assert!(answers.len() > 100, "{}", release.name);
    for before in answers {
        let text = |field: &str| before[field].as_str().unwrap();
        let (who, path) = (text("as"), text("path"));
        let now = release.ask(who, path).await;
        let mut found = Vec::new();
        if now.status.as_u16() != before["status"] {
            found.push(format!("the status is {} instead of {}", now.status, before["status"]));
        }
        let answer = serde_json::from_slice(&now.bytes).unwrap_or_else(|_| Value::String(now.text()));
        differ(&before["answer"], &answer, "", &mut found);
        let listed =
            |line: &String| CHANGED.iter().any(|(of, field, _)| path.starts_with(of) && line.starts_with(field));
        found.retain(|line| !listed(line));
        differences.extend(found.iter().map(|line| format!("{who} GET {path}: {line}")));
    }
    assert!(differences.is_empty(), "{} answered otherwise:\n{}", release.name, differences.join("\n"));
}

/// Records where `now` lacks something of `before`.
fn differ(before: &Value, now: &Value, field: &str, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let signed = before.values().any(is_signed);
            // Every release may reword why it refuses a request. The messages that the reference fixes have tests of their own.
            let is_refusal = before.contains_key("error");
            for (name, value) in before {
                let field = format!("{field}/{name}");
                match now.get(name) {
                    None => found.push(format!("{field} is missing")),
                    Some(now) if signed && OF_THE_MOMENT.contains(&name.as_str()) => {
                        if now.is_null() {
                            found.push(format!("{field} is null"));
                        }
                    }
                    Some(Value::String(text)) if is_refusal && name == "message" && !text.is_empty() => {}
                    Some(now) => differ(value, now, &field, found),
                }
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (at, (before, now)) in before.iter().zip(now).enumerate() {
                differ(before, now, &format!("{field}/{at}"), found);
            }
        }
        (Value::String(before), Value::String(now)) if unsigned(before) == unsigned(now) => {}
        (Value::String(_), Value::String(now)) if is_prose(field) && !now.is_empty() => {}
        _ if before == now => {}
        _ => found.push(format!("{field} is {now} instead of {before}")),
    }
}

fn is_signed(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(SIGNED))
}

fn unsigned(text: &str) -> &str {
    text.split_once(SIGNED).map_or(text, |(link, _)| link)
}

#[test]
fn an_added_field_is_no_difference_and_a_missing_one_is() {
    let before = serde_json::json!({"a": 1, "b": {"c": [1, null]}, "url": "http://h/x?expires=1", "expiresAt": "then"});
    let check = |now: Value| {
        let mut found = Vec::new();
        differ(&before, &now, "", &mut found);
        found
    };
    let same = serde_json::json!({"a": 1, "b": {"c": [1, null], "d": 2}, "url": "http://h/x?expires=2", "expiresAt": "now", "new": 1});
    assert!(check(same.clone()).is_empty());
    for (pointer, wrong, told) in [
        ("/a", Value::from("1"), "/a is \"1\" instead of 1"),
        ("/b/c/1", Value::from(0), "/b/c/1 is 0 instead of null"),
        ("/b/c", serde_json::json!([1]), "/b/c is [1] instead of [1,null]"),
        ("/b", Value::Null, "/b is null instead of {\"c\":[1,null]}"),
        ("/expiresAt", Value::Null, "/expiresAt is null"),
    ] {
        let mut now = same.clone();
        *now.pointer_mut(pointer).unwrap() = wrong;
        assert_eq!(check(now), [told]);
    }
    let reworded = |text: &str| {
        let mut found = Vec::new();
        let of = |text: &str| serde_json::json!({"error": {"code": "X", "fix": text}});
        differ(&of("Wait."), &of(text), "", &mut found);
        found.len()
    };
    assert_eq!((reworded("Wait an hour"), reworded("")), (0, 1));
    let mut now = same;
    now.as_object_mut().unwrap().remove("a");
    assert_eq!(check(now), ["/a is missing"]);
}
