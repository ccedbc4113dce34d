//! Sign-in through an OpenID Connect provider: a fake one on this machine, that says what a test wants it to say.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::{get, post as posted};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use launchway_domain::tenancy::{Role, Tier};
use launchway_server::config::RawSettings;
use reqwest::{Method, Url};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::links::invite;
use super::two_factor::enrol;
use super::{EMAIL, cookie, who};
use crate::pages::page;
use crate::support::{Answer, START, Setup, TestApp};

/// What the fake provider has and says.
struct Fake {
    issuer: String,
    key: EcdsaKeyPair,
    /// The next answer's claims.
    claims: Mutex<Value>,
    /// The forms that came to the token endpoint, with the header that proves the service.
    asked: Mutex<Vec<(String, String)>>,
}

impl Fake {
    async fn start() -> Arc<Fake> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let fake = Arc::new(Fake {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            key: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap(),
            claims: Mutex::new(Value::Null),
            asked: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/token", posted(token))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    /// A signed token.
    fn sign(&self, claims: &Value) -> String {
        let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let input = format!("{}.{}", part(&json!({"alg": "ES256", "kid": "one"})), part(claims));
        let signature = self.key.sign(&SystemRandom::new(), input.as_bytes()).unwrap();
        format!("{input}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn discovery(State(fake): State<Arc<Fake>>) -> Json<Value> {
    let issuer = &fake.issuer;
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
    }))
}

async fn keys(State(fake): State<Arc<Fake>>) -> Json<Value> {
    let point = fake.key.public_key().as_ref();
    let part = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let key = json!({"kty": "EC", "crv": "P-256", "kid": "one", "x": part(&point[1..33]), "y": part(&point[33..])});
    Json(json!({"keys": [key]}))
}

async fn token(State(fake): State<Arc<Fake>>, headers: axum::http::HeaderMap, form: String) -> Json<Value> {
    let proof = headers["authorization"].to_str().unwrap().to_owned();
    fake.asked.lock().unwrap().push((form, proof));
    let claims = fake.claims.lock().unwrap().clone();
    Json(json!({"id_token": fake.sign(&claims), "access_token": "x", "token_type": "Bearer"}))
}

async fn stage() -> (TestApp, Arc<Fake>) {
    let fake = Fake::start().await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "the secret\n").unwrap();
    let settings = RawSettings {
        oidc_issuer: Some(fake.issuer.clone()),
        oidc_client_id: Some("launchway".to_owned()),
        oidc_client_secret_file: Some(file.path().display().to_string()),
        ..RawSettings::default()
    };
    let app = TestApp::with(Setup {
        settings,
        ..Setup::default()
    })
    .await;
    (app, fake)
}

/// A sign-in that went to the provider: its cookie, and what the provider was told.
async fn begin(app: &TestApp) -> (String, HashMap<String, String>) {
    let answer = page(app, "/sign-in/provider", "").await;
    assert_eq!(answer.status.as_u16(), 303, "{}", answer.text());
    let url = Url::parse(answer.header("location")).unwrap();
    (cookie(&answer), url.query_pairs().into_owned().collect())
}

fn good_claims(fake: &Fake, told: &HashMap<String, String>) -> Value {
    json!({
        "iss": fake.issuer, "aud": "launchway", "sub": "42", "exp": START / 1000 + 300, "iat": START / 1000,
        "nonce": told["nonce"], "email": EMAIL, "email_verified": true,
    })
}

/// Comes back from the provider with claims that `change` changed.
async fn come_back(app: &TestApp, fake: &Fake, change: impl FnOnce(&mut Value)) -> Answer {
    let (kept, told) = begin(app).await;
    let mut claims = good_claims(fake, &told);
    change(&mut claims);
    *fake.claims.lock().unwrap() = claims;
    let path = format!(
        "{}/sign-in/provider/callback?code=a%20code&state={}",
        app.origin, told["state"]
    );
    // What a browser says that another site sends here.
    let request = app
        .request(Method::GET, &path)
        .header("cookie", kept)
        .header("sec-fetch-site", "cross-site");
    Answer::of(request.send().await.unwrap()).await
}

/// The session that an answer begins.
fn session(answer: &Answer) -> String {
    assert_eq!(
        (answer.status.as_u16(), answer.header("location")),
        (303, "/"),
        "{}",
        answer.text()
    );
    let set = answer
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|value| value.to_str().unwrap());
    let set: Vec<_> = set.filter(|cookie| cookie.starts_with("launchway=")).collect();
    set[0].split(';').next().unwrap().to_owned()
}

fn is_refused(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status.as_u16(), status, "{}", answer.text());
    assert!(answer.text().contains(words), "{words}: {}", answer.text());
    let set = answer.headers.get_all("set-cookie").iter();
    assert!(
        !set.map(|value| value.to_str().unwrap())
            .any(|cookie| cookie.starts_with("launchway="))
    );
}

#[tokio::test]
async fn who_has_an_account_is_signed_in() {
    let (app, fake) = stage().await;
    let org = app.org(Tier::Pro).await;
    app.user(org, EMAIL, Role::Member).await;
    assert!(page(&app, "/", "").await.text().contains("/sign-in/provider"));
    let answer = come_back(&app, &fake, |_| {}).await;
    let view = who(&app, &session(&answer)).await.expect(200);
    assert_eq!(view["user"]["email"], EMAIL);
    assert_eq!(view["organization"]["id"], json!(org));
    let (form, proof) = fake.asked.lock().unwrap().pop().unwrap();
    assert_eq!(
        proof,
        format!("Basic {}", BASE64_STANDARD.encode("launchway:the%20secret"))
    );
    for part in [
        "grant_type=authorization_code",
        "code=a%20code",
        "redirect_uri=http%3A%2F%2F127.0.0.1",
    ] {
        assert!(form.contains(part), "{part}: {form}");
    }
}

#[tokio::test]
async fn the_provider_is_told_a_challenge_and_the_code_comes_with_its_verifier() {
    let (app, fake) = stage().await;
    let (kept, told) = begin(&app).await;
    assert_eq!(
        (told["response_type"].as_str(), told["code_challenge_method"].as_str()),
        ("code", "S256")
    );
    *fake.claims.lock().unwrap() = good_claims(&fake, &told);
    let path = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
    page(&app, &path, &kept).await;
    let (form, _) = fake.asked.lock().unwrap().pop().unwrap();
    let verifier = form
        .split('&')
        .find_map(|pair| pair.strip_prefix("code_verifier="))
        .unwrap();
    assert_eq!(
        BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)),
        told["code_challenge"]
    );
    // What the provider is told tells neither the verifier nor what the browser keeps.
    for name in ["state", "nonce", "code_challenge"] {
        assert!(told[name] != verifier && !kept.contains(&told[name]), "{name}");
    }
}

#[tokio::test]
async fn an_invitation_makes_an_account_and_nothing_makes_an_organization() {
    let (app, fake) = stage().await;
    let (org, key) = app.org_with_key().await;
    is_refused(
        &come_back(&app, &fake, |_| {}).await,
        403,
        "has no account here and no invitation",
    );
    invite(&app, &key, EMAIL, "admin").await;
    let view = who(&app, &session(&come_back(&app, &fake, |_| {}).await))
        .await
        .expect(200);
    assert_eq!(
        (&view["organization"]["id"], &view["organization"]["role"]),
        (&json!(org), &json!("admin"))
    );
    // Again, by the account.
    session(&come_back(&app, &fake, |_| {}).await);
    // It has no password, also not the text that stands for none.
    for password in ["", "none"] {
        let body = json!({"email": EMAIL, "password": password});
        super::post(&app, "/auth/sign-in", body, &[])
            .await
            .expect_error(401, "The address or the password is wrong");
    }
}

#[tokio::test]
async fn tokens_that_do_not_hold_are_refused() {
    let (app, fake) = stage().await;
    let org = app.org(Tier::Pro).await;
    app.user(org, EMAIL, Role::Member).await;
    let end = START / 1000;
    for (field, value, words) in [
        ("iss", json!("https://evil.example"), "not made for this service"),
        ("aud", json!("another"), "not made for this service"),
        ("aud", json!(["launchway", "another"]), "not made for this service"),
        ("azp", json!("another"), "not made for this service"),
        ("exp", json!(end - 60), "its time is over"),
        ("nonce", json!("another"), "belongs to another sign-in"),
        ("nonce", Value::Null, "belongs to another sign-in"),
        ("email_verified", json!(false), "no e-mail address"),
        ("email", Value::Null, "no e-mail address"),
        ("exp", json!("soon"), "no signed token"),
    ] {
        let answer = come_back(&app, &fake, |claims| claims[field] = value.clone()).await;
        is_refused(&answer, 401, words);
    }
}

#[tokio::test]
async fn a_sign_in_ends_in_the_browser_where_it_began() {
    let (app, fake) = stage().await;
    let org = app.org(Tier::Pro).await;
    app.user(org, EMAIL, Role::Member).await;
    let ((kept, told), (other, _)) = (begin(&app).await, begin(&app).await);
    *fake.claims.lock().unwrap() = good_claims(&fake, &told);
    let anew = "This sign-in was not begun in this browser";
    let path = format!("/sign-in/provider/callback?code=x&state={}", told["state"]);
    for cookie in ["", other.as_str(), "launchway-provider=x"] {
        is_refused(&page(&app, &path, cookie).await, 401, anew);
    }
    is_refused(&page(&app, "/sign-in/provider/callback?code=x", &kept).await, 401, anew);
    assert_eq!(fake.asked.lock().unwrap().len(), 0, "no code was exchanged");
    let refused = format!("/sign-in/provider/callback?error=access_denied&state={}", told["state"]);
    is_refused(&page(&app, &refused, &kept).await, 401, "did not sign you in");
}

#[tokio::test]
async fn an_account_that_asks_for_codes_asks_here_too() {
    let (app, fake) = stage().await;
    let org = app.org(Tier::Pro).await;
    let cookie = app.user(org, EMAIL, Role::Member).await;
    let view = who(&app, &cookie).await.expect(200);
    enrol(&app, view["user"]["id"].as_str().unwrap().parse().unwrap()).await;
    let answer = come_back(&app, &fake, |_| {}).await;
    is_refused(&answer, 200, r#"name="one-time-code""#);
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_page() {
    let app = TestApp::start().await;
    for path in ["/sign-in/provider", "/sign-in/provider/callback?code=x&state=y"] {
        assert_eq!(page(&app, path, "").await.status.as_u16(), 404, "{path}");
    }
    assert!(!page(&app, "/", "").await.text().contains("/sign-in/provider"));
}
