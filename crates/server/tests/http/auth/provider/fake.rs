//! A fake provider on this machine, and a browser that visits it and returns.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post as form_data};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_os::clock::Clock;
use reqwest::{Method, Url};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use crate::auth::{EMAIL, cookie};
use crate::pages::page;
use crate::support::{Answer, START, TestApp};

/// A key that only these tests use.
const RSA_TEST_KEY: &[u8] = include_bytes!("rsa-test-key.pk8");

/// The provider's signing key.
pub struct Signer {
    kid: &'static str,
    pair: Pair,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Signer {
    /// A new key for ES256.
    pub fn ec(kid: &'static str) -> Signer {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let pair = Pair::Ec(pair);
        Signer { kid, pair }
    }

    /// The key for RS256.
    pub fn rsa(kid: &'static str) -> Signer {
        let pair = Pair::Rsa(RsaKeyPair::from_pkcs8(RSA_TEST_KEY).unwrap());
        Signer { kid, pair }
    }

    fn jwk(&self) -> Value {
        match &self.pair {
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (part(&point[1..33]), part(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": self.kid, "x": x, "y": y})
            }
            Pair::Rsa(pair) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                let (n, e) = (part(&public.n), part(&public.e));
                json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid, "n": n, "e": e})
            }
        }
    }

    /// A signed token; `head` replaces its own header.
    fn sign(&self, claims: &Value, head: Option<Value>) -> String {
        let alg = match &self.pair {
            Pair::Ec(_) => "ES256",
            Pair::Rsa(_) => "RS256",
        };
        let head = head.unwrap_or_else(|| json!({"alg": alg, "kid": self.kid, "typ": "JWT"}));
        let input = format!("{}.{}", part(head.to_string()), part(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, input.as_bytes()).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, input.as_bytes(), &mut signature).unwrap();
                signature
            }
        };
        format!("{input}.{}", part(signature))
    }
}

fn part(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// The state of the fake provider.
pub struct Fake {
    pub issuer: String,
    /// The signing key, and the one key that it publishes.
    pub signer: Mutex<Signer>,
    /// A header that misrepresents its tokens.
    pub head: Mutex<Option<Value>>,
    /// Changes to its default discovery document.
    pub discovery: Mutex<Value>,
    /// The status of all its responses.
    pub status: AtomicU16,
    /// How often its discovery was read.
    pub reads: AtomicUsize,
    /// The claims of the next response.
    pub claims: Mutex<Value>,
    /// The forms that the token endpoint received, with the `Authorization` header.
    pub asked: Mutex<Vec<(String, String)>>,
}

impl Fake {
    async fn start() -> Arc<Fake> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Arc::new(Fake {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            signer: Mutex::new(Signer::ec("one")),
            head: Mutex::default(),
            discovery: Mutex::new(json!({})),
            status: AtomicU16::new(200),
            reads: AtomicUsize::new(0),
            claims: Mutex::default(),
            asked: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/token", form_data(token))
            .with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }
}

async fn discovery(State(fake): State<Arc<Fake>>) -> (StatusCode, Json<Value>) {
    fake.reads.fetch_add(1, Ordering::SeqCst);
    let issuer = &fake.issuer;
    let mut says = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
    });
    for (name, value) in fake.discovery.lock().unwrap().as_object().unwrap() {
        says[name] = value.clone();
    }
    let status = fake.status.load(Ordering::SeqCst);
    (StatusCode::from_u16(status).unwrap(), Json(says))
}

async fn keys(State(fake): State<Arc<Fake>>) -> Json<Value> {
    Json(json!({"keys": [fake.signer.lock().unwrap().jwk()]}))
}

async fn token(State(fake): State<Arc<Fake>>, headers: HeaderMap, form: String) -> Json<Value> {
    let proof = headers.get("authorization").map(|value| value.to_str().unwrap());
    let proof = proof.unwrap_or_default().to_owned();
    fake.asked.lock().unwrap().push((form, proof));
    let claims = fake.claims.lock().unwrap().clone();
    let head = fake.head.lock().unwrap().clone();
    let token = fake.signer.lock().unwrap().sign(&claims, head);
    Json(json!({"id_token": token, "access_token": "x", "token_type": "Bearer"}))
}

/// A service whose users may sign in through a fake provider.
pub async fn stage() -> (TestApp, Arc<Fake>) {
    let fake = Fake::start().await;
    (with_issuer(&fake.issuer).await, fake)
}

/// A service whose provider has this address.
pub async fn with_issuer(issuer: &str) -> TestApp {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "the secret\n").unwrap();
    TestApp::with(settings!(
        oidc_issuer = issuer,
        oidc_client_id = "launchway",
        oidc_client_secret_file = file.path().display()
    ))
    .await
}

/// A sign-in that was sent to the provider: its cookie, and the parameters for the provider.
pub async fn begin(app: &TestApp) -> (String, HashMap<String, String>) {
    begin_at(app, "/sign-in/provider").await
}

/// The same, from a link on a page.
pub async fn begin_at(app: &TestApp, path: &str) -> (String, HashMap<String, String>) {
    let answer = page(app, path, "").await;
    answer.is(303);
    let url = Url::parse(answer.header("location")).unwrap();
    (cookie(&answer), url.query_pairs().into_owned().collect())
}

pub fn good_claims(app: &TestApp, fake: &Fake, told: &HashMap<String, String>) -> Value {
    let now = app.clock.now() / 1000;
    json!({
        "iss": fake.issuer, "aud": "launchway", "sub": "42", "exp": now + 300, "iat": now,
        "nonce": told["nonce"], "email": EMAIL, "email_verified": true,
    })
}

/// Returns from the provider with claims modified by `change`.
pub async fn come_back(app: &TestApp, fake: &Fake, change: impl FnOnce(&mut Value)) -> Answer {
    come_back_to(app, fake, "/sign-in/provider", change).await
}

/// The same, for a sign-in that started from a link on a page.
pub async fn come_back_to(app: &TestApp, fake: &Fake, link: &str, change: impl FnOnce(&mut Value)) -> Answer {
    let (kept, told) = begin_at(app, link).await;
    let mut claims = good_claims(app, fake, &told);
    change(&mut claims);
    *fake.claims.lock().unwrap() = claims;
    let path = format!("{}/sign-in/provider/callback?code=a%20code&state={}", app.origin, told["state"]);
    // The headers of a browser that another site redirects here.
    let request = app.request(Method::GET, &path).header("cookie", kept).header("sec-fetch-site", "cross-site");
    Answer::to(request).await
}

/// The session that a response starts, redirecting to the first page.
pub fn session(answer: &Answer) -> String {
    session_at(answer, "/")
}

/// Records that the provider confirmed an account's address earlier.
pub async fn prove(app: &TestApp, email: &str) {
    let mut tx = app.app.db.write().await.unwrap();
    let mut system = tx.system("a test");
    let (user, _) = system.user_by_email(email).await.unwrap().unwrap();
    assert!(system.prove_user(user.id, START).await.unwrap());
    tx.commit().await.unwrap();
}

/// The session that a response starts, redirecting to a page.
pub fn session_at(answer: &Answer, next: &str) -> String {
    let led = (answer.status.as_u16(), answer.header("location"));
    assert_eq!(led, (303, next), "{}", answer.text());
    session_cookie(answer).unwrap()
}

/// The session cookie that a response sets, if any.
pub fn session_cookie(answer: &Answer) -> Option<String> {
    let set = answer.headers.get_all("set-cookie").iter();
    let mut set = set.map(|value| value.to_str().unwrap());
    let cookie = set.find(|cookie| cookie.starts_with("launchway="))?;
    cookie.split(';').next().map(str::to_owned)
}

pub fn is_refused(answer: &Answer, status: u16, words: &str) {
    answer.is(status);
    assert!(answer.text().contains(words), "{words}: {}", answer.text());
    assert_eq!(session_cookie(answer), None);
}
