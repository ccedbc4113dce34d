//! Secrets at rest: the database, its dump, a backup and the logs contain no stored secret in any common encoding.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use launchway_testing::says::Fields;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::deployment::{Deployment, Ground};

/// Places where a secret may have been left.
struct Place {
    name: String,
    bytes: Vec<u8>,
}

/// The spellings of a secret: unchanged, as hex, and as base64 at each of the three offsets in a longer text, without
/// the boundary characters that depend on the neighbors.
fn spellings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![
        secret.to_vec(),
        hex::encode(secret).into_bytes(),
        hex::encode_upper(secret).into_bytes(),
    ];
    for offset in 0..3 {
        let mut padded = vec![0; offset];
        padded.extend(secret);
        for engine in [&BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE_NO_PAD] {
            let text = engine.encode(&padded);
            let start = [0, 2, 3][offset];
            all.push(text.as_bytes()[start..text.len() - 2].to_vec());
        }
    }
    // Escaped as in JSON, and reversed, which costs nothing.
    let text = serde_json::to_string(&String::from_utf8_lossy(secret)).unwrap();
    all.push(text.trim_matches('"').as_bytes().to_vec());
    all.push(secret.iter().rev().copied().collect());
    all
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

fn files(folder: &Path, places: &mut Vec<Place>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, places);
        } else {
            let name = path.display().to_string();
            places.push(Place {
                name,
                bytes: fs::read(&path).unwrap(),
            });
        }
    }
}

#[test]
fn every_spelling_is_found_where_it_is() {
    let secret = b"a secret of some length";
    let text = format!("xy{}", String::from_utf8_lossy(secret));
    for hidden in [
        text.clone().into_bytes(),
        hex::encode(&text).into_bytes(),
        BASE64_STANDARD_NO_PAD.encode(&text).into_bytes(),
        BASE64_STANDARD_NO_PAD.encode(&text[1..]).into_bytes(),
        BASE64_STANDARD_NO_PAD.encode(&text[2..]).into_bytes(),
    ] {
        assert!(spellings(secret).iter().any(|spelling| holds(&hidden, spelling)));
    }
}

async fn nothing_is_left(ground: Ground) {
    let mut deployment = Deployment::start(ground).await;
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    let mut secrets: Vec<Vec<u8>> = vec![team.key.clone().into_bytes()];
    let mut store = |secret: &str| secrets.push(secret.as_bytes().to_vec());
    let password = "a password of the test, 77";
    let user = [
        "create-user",
        "--email",
        "ada@example.com",
        "--org",
        &team.id,
        "--role",
        "admin",
    ];
    let _ = deployment.node().admin_with_input(&user, password);
    store(password);
    let sign_in = api
        .request(Method::POST, "/auth/sign-in")
        .json(&json!({"email": "ada@example.com", "password": password}));
    let cookie = sign_in.send().await.unwrap();
    let cookie = cookie.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .split([';', '='])
        .nth(1)
        .unwrap()
        .to_owned();
    store(&cookie);
    for (value, more) in [
        ("hunter2-environment-secret", json!({})),
        ("a plain value is sealed too", json!({"visibility": "plain"})),
        (
            "{\"file\": \"content of a secret file\"}",
            json!({"kind": "file", "path": "secrets.json"}),
        ),
    ] {
        let mut body = json!({"name": format!("N{}", value.len()), "value": value});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let request = api
            .request(Method::POST, "/env")
            .header("idempotency-key", value.len().to_string());
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
        store(value);
    }
    let wrong = json!({"name": "A B", "value": "hunter2-in-a-wrong-request"});
    api.call(Method::POST, "/env", Some(wrong)).await.expect(400);
    store("hunter2-in-a-wrong-request");
    let invitation = api
        .call(
            Method::POST,
            "/orgs/invitations",
            Some(json!({"email": "bob@example.com"})),
        )
        .await
        .created();
    let link = invitation["link"]
        .as_str()
        .or(invitation["url"].as_str())
        .unwrap_or_else(|| panic!("{invitation}"));
    store(link.rsplit_once("token=").map_or(link, |(_, token)| token));
    let key: Value = api
        .call(
            Method::POST,
            "/api-keys",
            Some(json!({"name": "k", "scopes": ["build"]})),
        )
        .await
        .created();
    store(key.text("key"));

    let keystore = include_bytes!("../../crates/credentials/tests/fixtures/rsa.jks");
    let account = include_bytes!("../../crates/credentials/tests/fixtures/service-account.json");
    for (kind, content) in [
        ("android_keystore", keystore.as_slice()),
        ("google_service_account", account.as_slice()),
    ] {
        let content = BASE64_STANDARD.encode(content);
        let body = json!({"kind": kind, "content": content, "password": "store-secret"});
        let request = api
            .request(Method::POST, "/credentials")
            .header("idempotency-key", kind);
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
        let wrong = json!({"kind": kind, "content": &content[..200], "password": "another-secret-password"});
        api.call(Method::POST, "/credentials", Some(wrong)).await.expect(400);
    }
    // Parts of the files that only their owners know: the middle of the keystore, a line of the private key.
    secrets.push(keystore[keystore.len() / 2..][..64].to_vec());
    let account: Value = serde_json::from_slice(account).unwrap();
    let private_key = account.text("private_key");
    secrets.push(private_key.lines().nth(3).unwrap().as_bytes().to_vec());
    secrets.push(b"another-secret-password".to_vec());
    let hook = json!({"name": "CI", "url": "https://hooks.invalid/of-the-test", "events": ["*"]});
    let request = api.request(Method::POST, "/webhooks").header("idempotency-key", "hook");
    let hook: Value = request.json(&hook).send().await.unwrap().json().await.unwrap();
    let rotate = format!("/webhooks/rotate-secret?id={}", hook.id());
    let rotated = api.call(Method::POST, &rotate, None).await.ok();
    for hook in [&hook, &rotated] {
        let secret = hook["secret"].as_str().unwrap_or_else(|| panic!("{hook}"));
        secrets.push(secret.as_bytes().to_vec());
        secrets.push(BASE64_STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap());
    }

    let backup = deployment.key_folder().join("backup");
    let _ = deployment.node().admin(&["backup", backup.to_str().unwrap()]);
    let live = deployment.database_bytes();
    let _ = deployment.node().admin(&["rotate-master-key"]);
    deployment.nodes[0].kill9();
    let mut places = vec![
        Place {
            name: "the database".into(),
            bytes: live,
        },
        Place {
            name: "the database after a crash".into(),
            bytes: deployment.database_bytes(),
        },
        Place {
            name: "the log".into(),
            bytes: deployment.node().stderr().into_bytes(),
        },
    ];
    files(&backup, &mut places);
    assert!(
        places.iter().take(3).all(|place| !place.bytes.is_empty()),
        "there is nothing to search"
    );
    // The search finds what is meant to be there, so it works.
    assert!(holds(&places[0].bytes, b"ada@example.com") && holds(&places[1].bytes, b"ada@example.com"));
    for secret in &secrets {
        assert!(secret.len() >= 16, "too short to be told from chance");
        for place in &places {
            for spelling in spellings(secret) {
                let found = holds(&place.bytes, &spelling);
                assert!(!found, "{} holds {}", place.name, String::from_utf8_lossy(&spelling));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_on_sqlite() {
    nothing_is_left(Ground::SqliteDirectory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_on_postgres() {
    nothing_is_left(Ground::PostgresS3).await;
}
