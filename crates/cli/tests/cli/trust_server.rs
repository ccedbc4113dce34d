//! A server of signed updates that accepts what it is sent: it serves the files, and signs snapshot and timestamp. The real
//! one judges what it accepts; it is tested elsewhere.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use launchway_domain::time::{DAY, EpochMs};
use launchway_trust::metadata::{Metadata, Root, Snapshot};
use launchway_trust::online::{OnlineRequest, sign_online};
use launchway_trust::{PublicKey, SigningKey};
use ring::rand::SystemRandom;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::session::caller;

pub const APP: &str = "com.example.app";

/// What the server has, and how it answers.
#[derive(Clone, Default)]
pub struct Content {
    /// The files that it serves, by name.
    pub files: BTreeMap<String, String>,
    /// The current version of each role.
    pub versions: BTreeMap<String, u64>,
    /// `GET`, `POST` and what was asked for, in order.
    pub lines: Vec<String>,
    /// The paths whose next answer is an error: the request is carried out.
    pub broken: Vec<&'static str>,
    /// Answers for one request each, by `GET`, `POST` or `PUT` and path, in order.
    pub replies: Vec<(&'static str, u16, Value)>,
    /// The packages of updates, by id.
    pub packages: BTreeMap<String, Vec<u8>>,
    /// The body of the last request with one.
    pub last_body: Vec<u8>,
    /// How long snapshot and timestamp are valid.
    pub lifetime: EpochMs,
    online: Option<(u64, Snapshot, u64)>,
    root: String,
}

/// The server; it stops with the test's runtime.
pub struct TrustServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    key: SigningKey,
    content: Mutex<Content>,
}

impl TrustServer {
    /// A server that has nothing.
    pub async fn start() -> Self {
        let key = SigningKey::generate(&SystemRandom::new()).expect("a key");
        let content = Content {
            lifetime: 7 * DAY,
            ..Content::default()
        };
        Self::with(&key.to_pem(), content).await
    }

    /// A server with this key and content.
    pub async fn with(key: &str, content: Content) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            key: SigningKey::from_pem(key, None).expect("a key"),
            content: Mutex::new(content),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    /// Its address, such as `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its key, which signs snapshot and timestamp.
    pub fn key_pem(&self) -> String {
        self.shared.key.to_pem().to_string()
    }

    /// What it has. Not held while a command runs.
    pub fn content(&self) -> MutexGuard<'_, Content> {
        self.shared.content.lock().expect("no other holder panicked")
    }

    /// Restores a backup, as a server does that then renews snapshot and timestamp.
    pub fn restore(&self, backup: Content) {
        let mut content = self.content();
        let newest = content.online.take();
        *content = backup;
        // Versions are seconds, which go on.
        if let (Some(own), Some(newest)) = (&mut content.online, newest) {
            (own.0, own.2) = (newest.0, newest.2);
        }
        content.sign(&self.shared.key);
    }

    /// Accepts a version of a role that was signed with an update.
    pub fn accept(&self, role: &str, metadata: &Value) {
        let change = json!({"roles": {role: metadata}});
        self.content().accept(&change, &self.shared.key);
    }

    /// How often it was asked for this.
    pub fn count(&self, line: &str) -> usize {
        self.content().lines.iter().filter(|known| *known == line).count()
    }
}

/// The answer to a request for a package, or for where it is.
fn package(content: &Content, uri: &Uri, host: &str) -> Option<Response<Body>> {
    if let Some(id) = uri.path().strip_prefix("/packages/") {
        let bytes = content.packages.get(id)?.clone();
        return Response::builder().body(bytes.into()).ok();
    }
    let id = uri
        .query()?
        .strip_prefix("id=")
        .filter(|_| uri.path() == "/api/update/package")?;
    let place = format!("http://{host}/packages/{id}");
    let response = Response::builder().status(302).header("location", place);
    response.body(Body::empty()).ok()
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let line = format!("{method} {}", uri.path());
    let mut content = shared.content.lock().expect("no other holder panicked");
    content.lines.push(line.clone());
    if !body.is_empty() {
        content.last_body = body.to_vec();
    }
    if let Some(place) = content.replies.iter().position(|(known, ..)| *known == line) {
        let (_, status, body) = content.replies.remove(place);
        let response = Response::builder().status(status).header("x-request-id", "req-1");
        return response.body(body.to_string().into()).expect("a valid answer");
    }
    let host = headers
        .get("host")
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    if let Some(response) = package(&content, &uri, host) {
        return response;
    }
    let answer = match line.as_str() {
        "GET /api/trust" => Ok(content.view().to_string()),
        "GET /api/trust/drafts" => Err(404),
        "GET /api/auth/session" => Ok(caller_with(&["update", "admin"], Value::Null).to_string()),
        "GET /api/update" => Ok(json!({"items": [], "total": 0, "limit": 100, "offset": 0}).to_string()),
        "POST /api/trust/online-key" => Ok(online_key(&shared.key).to_string()),
        "POST /api/trust" => {
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            Ok(content.accept(&body, &shared.key).to_string())
        }
        "POST /api/trust/reset" => {
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            content.begin_again();
            let files = json!({"roots": [body["root"]], "roles": body["roles"]});
            Ok(content.accept(&files, &shared.key).to_string())
        }
        line => {
            let name = line.strip_prefix(&format!("GET /tuf/{APP}/"));
            name.and_then(|name| content.files.get(name).cloned()).ok_or(404)
        }
    };
    let broken = content.broken.iter().position(|path| line.ends_with(path));
    let answer = match broken {
        Some(place) => {
            content.broken.remove(place);
            Err(500)
        }
        None => answer,
    };
    let (status, text) = match answer {
        Ok(text) => (200, text),
        Err(status) => (status, json!({"error": "An Error", "message": "It is so"}).to_string()),
    };
    let response = Response::builder().status(status).header("x-request-id", "req-1");
    response.body(text.into()).expect("a valid answer")
}

/// A caller whose key has these scopes, and whose user has this role.
pub fn caller_with(scopes: &[&str], role: Value) -> Value {
    let mut caller = caller(json!({}));
    caller["key"]["scopes"] = json!(scopes);
    caller["organization"]["role"] = role;
    caller
}

fn online_key(key: &SigningKey) -> Value {
    json!({"keyId": key.public().id(), "publicKey": key.public().to_pem(), "createdAt": "2026-11-20T10:00:00.000Z"})
}

#[expect(
    clippy::disallowed_methods,
    reason = "commands of these tests use the clock of this machine"
)]
pub fn now() -> EpochMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("before the end of time")
}

impl Content {
    /// `GET /trust`.
    fn view(&self) -> Value {
        let parsed: Option<Metadata<Root>> = Metadata::parse(self.root.as_bytes()).ok();
        let identity = parsed.as_ref().and_then(|root| root.header().identity.clone());
        let role = |(role, version): (&String, &u64)| {
            json!({"role": role, "version": version, "threshold": 1, "keys": [], "expiresAt": null, "expired": false,
                "acceptedAt": null, "targets": 0, "revoked": 0})
        };
        json!({"bundleId": APP, "repository": identity.map(|identity| identity.repository.to_string()),
            "snapshot": self.online.as_ref().map(|online| online.0), "onlineKey": null, "pendingOnlineKey": null,
            "roles": self.versions.iter().map(role).collect::<Vec<_>>(), "drafts": [], "otherFormatsAllowed": false})
    }

    /// A new repository has no files yet.
    fn begin_again(&mut self) {
        self.files.clear();
        self.versions.clear();
        self.online = None;
    }

    /// `POST /trust`.
    fn accept(&mut self, body: &Value, key: &SigningKey) -> Value {
        let mut accepted = Vec::new();
        for text in body["roots"].as_array().into_iter().flatten() {
            self.root = text.as_str().expect("text").to_owned();
            self.take("root", &self.root.clone());
            accepted.push("root".to_owned());
        }
        for (role, text) in body["roles"].as_object().into_iter().flatten() {
            self.take(role, text.as_str().expect("text"));
            accepted.push(role.clone());
        }
        self.sign(key);
        json!({"trust": self.view(), "accepted": accepted, "drafts": [], "publishedUpdateIds": []})
    }

    fn take(&mut self, role: &str, text: &str) {
        let file: Value = serde_json::from_str(text).expect("JSON");
        let version = file["signed"]["version"].as_u64().expect("a version");
        self.versions.insert(role.to_owned(), version);
        self.files.insert(format!("{version}.{role}.json"), text.to_owned());
    }

    fn sign(&mut self, key: &SigningKey) {
        let root: Metadata<Root> = Metadata::parse(self.root.as_bytes()).expect("a root");
        let mut roles = self.versions.clone();
        roles.remove("root");
        let now = now();
        let request = OnlineRequest {
            root: root.body(),
            identity: root.header().identity.as_ref().expect("an identity"),
            previous_snapshot: self.online.as_ref().map(|(version, snapshot, _)| (*version, snapshot)),
            previous_timestamp: self.online.as_ref().map(|(_, _, version)| *version),
            roles: &roles,
            now,
            expires: now + self.lifetime,
        };
        let signed = sign_online(&request, key, &SystemRandom::new()).expect("files");
        let snapshot: Metadata<Snapshot> = Metadata::parse(signed.snapshot.as_bytes()).expect("a snapshot");
        self.online = Some((
            signed.snapshot_version,
            snapshot.body().clone(),
            signed.timestamp_version,
        ));
        self.files
            .insert(format!("{}.snapshot.json", signed.snapshot_version), signed.snapshot);
        self.files.insert("timestamp.json".to_owned(), signed.timestamp);
    }

    /// The key that the current root names for snapshot and timestamp.
    pub fn named_online_key(&self) -> PublicKey {
        let root: Metadata<Root> = Metadata::parse(self.root.as_bytes()).expect("a root");
        let signers = root.body().authority(launchway_trust::TopLevel::Timestamp).signers();
        *signers.first().expect("a key")
    }
}
