//! Streams end on every node when their caller loses access, whatever was lost.

use std::time::Duration;

use launchway_domain::org::SESSION_IDLE;
use launchway_domain::tenancy::Role;
use launchway_domain::time::DAY;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::stage::builds::{Play, built};
use crate::support::{Fields, NOBODY, Says, Setup, TestApp};

/// What a caller loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    KeyRevoked,
    KeyExpired,
    SignedOut,
    SessionRevoked,
    SessionExpired,
    PasswordReset,
    Removed,
    Demoted,
}

use Loss::{Demoted, KeyExpired, KeyRevoked, PasswordReset, Removed, SessionExpired, SessionRevoked, SignedOut};

const OF_KEYS: [Loss; 2] = [KeyRevoked, KeyExpired];
const OF_SESSIONS: [Loss; 6] = [SignedOut, SessionRevoked, SessionExpired, PasswordReset, Removed, Demoted];
const EMAIL: &str = "ada@example.com";

/// An organization on two nodes, with a queued build and an update, and a user to lose access.
struct Followed {
    node: TestApp,
    other: TestApp,
    admin_key: String,
    cookie: String,
    key: Value,
    build: String,
    update: String,
    org: String,
}

async fn followed(on_postgres: bool) -> Followed {
    let setup = if on_postgres { Setup::on_postgres() } else { Setup::default() };
    let node = TestApp::with(setup).await;
    let other = node.another_node().await;
    let (org, admin_key) = node.org_with_key().await;
    let cookie = node.user(org, EMAIL, Role::Admin).await;
    let body = json!({"name": "follower", "scopes": ["build"], "expiresInDays": 1});
    let key = node.post(&admin_key, "/api-keys", body).await.created();
    let build = built(&node, &admin_key, json!({})).await;
    let update = node.published(&admin_key, json!({"version": "1.0.1"})).await;
    Followed {
        node,
        other,
        admin_key,
        cookie,
        key,
        build: build.to_string(),
        update: update.id().to_owned(),
        org: org.to_string(),
    }
}

impl Followed {
    /// Revokes the access, through the other node where possible.
    async fn lose(&self, loss: Loss) {
        let session = async || self.node.get(&self.cookie, "/auth/session").await.ok();
        let browse = async |method, path: &str| self.other.send(&self.cookie, method, path, ()).await;
        let answer = match loss {
            KeyRevoked => {
                let path = format!("/api-keys?id={}", self.key.id());
                self.other.delete(&self.admin_key, &path).await
            }
            KeyExpired => return self.node.advance(DAY),
            SignedOut => browse(Method::POST, "/auth/sign-out").await,
            SessionRevoked => {
                let id = session().await.id().to_owned();
                browse(Method::DELETE, &format!("/auth/sessions?id={id}")).await
            }
            SessionExpired => return self.node.advance(SESSION_IDLE),
            PasswordReset => {
                let link = launchway_ops::accounts::offer_reset(&self.other.app, EMAIL).await.unwrap();
                let body = json!({"token": link, "password": "another good password"});
                self.other.post(NOBODY, "/auth/reset", body).await
            }
            Removed | Demoted => {
                let id = session().await["user"].id().to_owned();
                let path = format!("/orgs/members?id={id}");
                let (method, body) = match loss {
                    Removed => (Method::DELETE, None),
                    _ => (Method::PATCH, Some(json!({"role": "member"}))),
                };
                self.other.send(&self.admin_key, method, &path, body).await
            }
        };
        assert_eq!(answer.status.as_u16(), 200, "{loss:?}: {}", answer.text());
    }

    fn by_key(&self) -> RequestBuilder {
        let path = format!("/build/log/stream?id={}", self.build);
        self.node.request(Method::GET, &path).bearer_auth(self.key.text("key"))
    }

    fn by_session(&self, path: &str) -> RequestBuilder {
        self.node.request(Method::GET, path).header("cookie", &self.cookie)
    }

    /// A stream of the dashboard.
    fn on_page(&self, path: &str) -> RequestBuilder {
        self.by_session(&format!("{}/o/{}{path}", self.node.origin, self.org))
    }

    /// Every stream that a session can open.
    fn of_session(&self) -> Vec<RequestBuilder> {
        let id = &self.build;
        vec![
            self.by_session(&format!("/build/log/stream?id={id}")),
            self.on_page(&format!("/log/stream?id={id}")),
            self.on_page(&format!("/builds/{id}/live")),
            self.on_page("/builds/live"),
            self.on_page("/submissions/live"),
            self.on_page(&format!("/updates/{}/live", self.update)),
        ]
    }
}

/// Opens a stream and reads its first event.
async fn opened(request: RequestBuilder) -> Response {
    let mut response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let first = response.chunk().await.unwrap();
    assert!(first.is_some_and(|bytes| !bytes.is_empty()), "a stream begins with what there is");
    response
}

/// Reads a stream to its end, which must come before the end of the test.
async fn ends(mut response: Response, what: &str) {
    let reading = async { while response.chunk().await.unwrap().is_some() {} };
    let ended = tokio::time::timeout(Duration::from_secs(30), reading).await;
    assert!(ended.is_ok(), "{what}: the stream goes on");
}

async fn all_end(on_postgres: bool) {
    for loss in OF_KEYS {
        let stage = followed(on_postgres).await;
        let stream = opened(stage.by_key()).await;
        stage.lose(loss).await;
        ends(stream, &format!("{loss:?}")).await;
        assert_eq!(stage.by_key().send().await.unwrap().status().as_u16(), 401, "{loss:?}");
    }
    for loss in OF_SESSIONS {
        let stage = followed(on_postgres).await;
        let mut open = Vec::new();
        for request in stage.of_session() {
            open.push(opened(request).await);
        }
        stage.lose(loss).await;
        for (number, stream) in open.into_iter().enumerate() {
            ends(stream, &format!("{loss:?}, stream {number}")).await;
        }
    }
}

#[tokio::test]
async fn every_stream_ends_with_the_access_on_sqlite() {
    all_end(false).await;
}

#[tokio::test]
async fn every_stream_ends_with_the_access_on_postgres() {
    all_end(true).await;
}

/// Other members' streams continue, including that of a member who got a greater role.
#[tokio::test]
async fn streams_of_others_go_on() {
    let stage = followed(false).await;
    let org = stage.org.parse().unwrap();
    let bystander = stage.node.user(org, "bob@example.com", Role::Member).await;
    let path = format!("/build/log/stream?id={}", stage.build);
    let open = |cookie: &str| stage.node.request(Method::GET, &path).header("cookie", cookie).send();
    let (lost, mut bobs) = (open(&stage.cookie).await.unwrap(), open(&bystander).await.unwrap());
    let view = stage.node.get(&bystander, "/auth/session").await.ok();
    let bob = format!("/orgs/members?id={}", view["user"].id());
    stage.node.patch(&stage.admin_key, &bob, json!({"role": "admin"})).await.ok();
    stage.lose(Removed).await;
    ends(lost, "the one who was removed").await;
    stage.node.post(&stage.admin_key, &format!("/build/cancel?id={}", stage.build), ()).await.ok();
    let mut rest = String::new();
    while let Some(bytes) = bobs.chunk().await.unwrap() {
        rest += &String::from_utf8_lossy(&bytes);
    }
    rest.says("event: end");
}

/// Starts a download of the log and reads its first bytes. The network holds much less than the whole log.
async fn begin_download(stage: &Followed, proof: &str) -> TcpStream {
    let address = stage.node.origin.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(256 << 10).unwrap();
    let mut connection = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!(
        "GET /api/build/log?id={} HTTP/1.1\r\nhost: {address}\r\n{proof}\r\nconnection: close\r\n\r\n",
        stage.build
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 1024];
    let count = connection.read(&mut first).await.unwrap();
    let first = String::from_utf8_lossy(&first[..count]);
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    connection
}

/// A caller who loses access in between does not get the rest of a long log.
#[tokio::test]
async fn a_download_of_a_log_ends_with_the_access() {
    const PIECES: usize = 24;
    let stage = followed(false).await;
    let play = Play { app: &stage.node, org: stage.org.parse().unwrap(), id: stage.build.parse().unwrap() };
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..PIECES {
        play.prints(&piece).await;
    }
    let whole = PIECES * piece.len();
    let by_key = format!("authorization: Bearer {}", stage.key.text("key"));
    let by_session = format!("cookie: {}", stage.cookie);
    for (loss, proof) in [(KeyRevoked, by_key), (Removed, by_session)] {
        let mut download = begin_download(&stage, &proof).await;
        stage.lose(loss).await;
        let mut rest = Vec::new();
        // The connection ends before everything is sent, with or without an error.
        let ended = download.read_to_end(&mut rest).await;
        assert!(rest.len() < whole / 2, "{loss:?}: {} bytes, {ended:?}", rest.len());
    }
    let read = stage.node.get(&stage.admin_key, &format!("/build/log?id={}", stage.build)).await;
    assert_eq!(read.bytes.len(), whole, "who keeps the access gets it all");
}

/// A runner that waits for a build learns at once that it was disabled, even on another node.
#[tokio::test]
async fn a_runner_that_was_shut_out_waits_no_longer() {
    let stage = followed(true).await;
    let runner = stage.node.runner(&stage.admin_key, &["os=none"]).await;
    let body = json!({"labels": ["os=none"], "version": "0.1.0", "waitSeconds": 30});
    stage.node.post(&stage.admin_key, &format!("/build/cancel?id={}", stage.build), ()).await.ok();
    let waiting = stage.node.request(Method::POST, "/runner/lease").bearer_auth(&runner.token).json(&body);
    let waiting = tokio::spawn(waiting.send());
    stage.other.delete(&stage.admin_key, &format!("/runners?id={}", runner.id)).await.ok();
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.status().as_u16(), 401);
}
