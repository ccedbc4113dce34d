//! The vectors in `sdk/vectors/trust`, which clients in all languages share. Their generators are independent of this
//! crate (`scripts/make-trust-vectors`).

use std::collections::BTreeMap;

use launchway_domain::build_number::CurrentBuild;
use launchway_domain::configuration::Configuration;
use launchway_domain::version::Version;
use launchway_trust::client::{App, Client, Offer, StoredTrust};
use launchway_trust::json::{self, Value};
use launchway_trust::{PublicKey, TrustFile};

use crate::repository::{drive, outcome};

fn read(text: &str) -> Value {
    json::parse(text.as_bytes(), 8 << 20).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    let member = value.get(name).and_then(Value::as_text);
    member.unwrap_or_else(|| panic!("no text {name:?} in {value:?}"))
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    match value.get(name) {
        Some(Value::Array(items)) => items,
        other => panic!("no array {name:?}: {other:?}"),
    }
}

fn integer(value: &Value, name: &str) -> i64 {
    match value.get(name) {
        Some(Value::Integer(number)) => *number,
        other => panic!("no integer {name:?}: {other:?}"),
    }
}

#[test]
fn json_is_read_as_the_vectors_say() {
    let vectors = read(include_str!("../../../../sdk/vectors/trust/json.json"));
    let limit = integer(&vectors, "limit") as usize;
    for case in array(&vectors, "accepted") {
        let value = json::parse(text(case, "text").as_bytes(), limit);
        let canonical = value.map(|value| String::from_utf8(json::canonical(&value)).unwrap());
        assert_eq!(
            canonical.as_deref(),
            Ok(text(case, "canonical")),
            "{}",
            text(case, "name")
        );
    }
    let refused = array(&vectors, "refused");
    assert!(refused.len() >= 90);
    for case in refused {
        let bytes = match (case.get("text"), case.get("hex")) {
            (Some(Value::Text(text)), _) => text.clone().into_bytes(),
            (_, Some(Value::Text(digits))) => hex::decode(digits).unwrap(),
            _ => text(case, "repeat")
                .repeat(integer(case, "count") as usize)
                .into_bytes(),
        };
        let error = json::parse(&bytes, limit).map(|value| json::to_text(&value));
        let code = error.as_ref().map_err(json::JsonError::code);
        assert_eq!(code, Err(text(case, "reason")), "{case:?}");
    }
}

#[test]
fn signatures_verify_as_the_vectors_say() {
    let vectors = read(include_str!("../../../../sdk/vectors/trust/signatures.json"));
    let key = PublicKey::from_pem(text(&vectors, "publicKey")).unwrap();
    let keys = vectors.get("publicKeys").unwrap();
    let off_curve = PublicKey::from_pem(text(keys, "verifiesNothing")).unwrap();
    for case in array(&vectors, "signatures") {
        let signature = text(case, "signature");
        // Only lower-case digits are accepted.
        let der = hex::decode(signature).ok().filter(|der| hex::encode(der) == signature);
        let message = text(case, "message").as_bytes();
        let valid = der.as_ref().is_some_and(|der| key.verifies(message, der));
        assert_eq!(Some(&Value::Bool(valid)), case.get("valid"), "{}", text(case, "name"));
        assert!(!der.is_some_and(|der| off_curve.verifies(message, &der)));
    }
    for pem in array(keys, "accepted") {
        assert_eq!(PublicKey::from_pem(pem.as_text().unwrap()), Ok(key));
    }
    for case in array(keys, "refused") {
        assert!(
            PublicKey::from_pem(text(case, "pem")).is_err(),
            "{}",
            text(case, "name")
        );
    }
}

#[test]
fn clients_do_as_the_scenarios_say() {
    let vectors = read(include_str!("../../../../sdk/vectors/trust/workflow.json"));
    let scenarios = array(&vectors, "scenarios");
    assert!(scenarios.len() >= 20);
    for scenario in scenarios {
        let embedded = json::to_text(scenario.get("embedded").unwrap());
        let embedded = TrustFile::parse(embedded.as_bytes()).unwrap();
        let bundle_id = text(scenario, "bundleId").parse().unwrap();
        let configuration = Configuration::parse(text(scenario, "configuration")).unwrap();
        let mut files = BTreeMap::new();
        let mut stored: Option<StoredTrust> = None;
        for (index, step) in array(scenario, "steps").iter().enumerate() {
            let name = format!("{}, step {index}", text(scenario, "name"));
            let Some(Value::Object(changed)) = step.get("files") else {
                unreachable!()
            };
            files.extend(changed.clone());
            let now = integer(step, "now");
            // Each step is a start of the app, with the state that the previous one stored.
            let mut client = Client::open(&embedded, &bundle_id, Some(&configuration), stored.as_ref()).unwrap();
            let result = drive(&mut client.refresh(now), |wanted| {
                Some(files.get(wanted)?.as_text()?.as_bytes().to_vec())
            });
            assert_eq!(outcome(result), text(step, "expect"), "{name}");
            check_revoked(&client, step, &name);
            if let Some(Value::Array(offers)) = step.get("offers") {
                for offer in offers {
                    assert_eq!(decide(&client, offer, now), text(offer, "expect"), "{name}: {offer:?}");
                }
            }
            stored = Some(StoredTrust::from_json(client.stored_trust().to_json().as_bytes()).unwrap());
        }
    }
}

fn check_revoked(client: &Client, step: &Value, name: &str) {
    if let Some(Value::Array(expected)) = step.get("revoked") {
        let revoked: Vec<Value> = client
            .revoked_packages()
            .iter()
            .map(|hash| hash.to_string().into())
            .collect();
        assert_eq!(&revoked, expected, "{name}");
    }
}

fn decide(client: &Client, case: &Value, now: i64) -> &'static str {
    let app = case.get("app").unwrap();
    let version = Version::parse(text(app, "version")).unwrap();
    let build = app.get("build").and_then(Value::as_text);
    let app = App {
        platform: text(app, "platform").parse().unwrap(),
        fingerprint: app.get("fingerprint").and_then(Value::as_text),
        version: &version,
        build: build.map(|build| CurrentBuild::parse(build).unwrap()),
    };
    let offer = Offer {
        platform: text(case, "platform").parse().unwrap(),
        version: text(case, "version"),
        build_number: text(case, "buildNumber"),
        sha256: text(case, "sha256").parse().unwrap(),
        length: integer(case, "size").unsigned_abs(),
    };
    client
        .accept(&offer, &app, now)
        .map_or_else(|refusal| refusal.code(), |_| "accepted")
}
