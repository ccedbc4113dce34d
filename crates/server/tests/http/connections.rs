//! Connections: a refusal reaches a client that is still sending, stalled clients are disconnected, and nobody takes
//! all connections.

mod stop;

use std::net::SocketAddr;
use std::time::Duration;

use launchway_domain::tenancy::Role;
use launchway_ops::embedded::Embedded;
use launchway_web::connection::Timeouts;
use launchway_web::server::{self, HttpServer};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Fields, Says, TestApp, until};

/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(3600);
const MIB: usize = 1 << 20;

/// Serves the app at another address, with these timeouts, for the duration of the test.
async fn with_timeouts(app: &TestApp, timeouts: Timeouts) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = HttpServer::with_timeouts(app.app.clone(), timeouts);
    tokio::spawn(server::serve(server, listener, std::future::pending()));
    address
}

fn address(app: &TestApp) -> SocketAddr {
    app.origin.strip_prefix("http://").unwrap().parse().unwrap()
}

/// A service with this many connections, and no exempt addresses.
async fn with_places(all: usize, of_client: usize) -> TestApp {
    TestApp::with(settings!(
        max_connections = all,
        max_connections_per_client = of_client,
        trusted_proxies = "192.0.2.1"
    ))
    .await
}

fn head(method: Method, path: &str, more: &[(&str, String)]) -> String {
    let more: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\nHost: launchway.example\r\n{more}\r\n")
}

const CHECK: &str = "/api/update/check/com.example.none?currentVersion=1.0.0";

/// Sends a request, and returns what arrives first: the answers to these requests arrive as one piece.
async fn ask(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(head(Method::GET, path, &[]).as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let count = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

fn length(bytes: usize) -> (&'static str, String) {
    ("Content-Length", bytes.to_string())
}

fn json_body() -> (&'static str, String) {
    ("Content-Type", "application/json".to_owned())
}

/// Sends the whole request before it reads anything, as simple clients do; returns the status and the body of the
/// response.
async fn write_first(to: SocketAddr, request: &[&[u8]]) -> (u16, String) {
    let mut stream = TcpStream::connect(to).await.unwrap();
    for part in request {
        stream.write_all(part).await.unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn message(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{body:?}"));
    body.text("message").to_owned()
}

/// Whether the service accepts a request at this address.
async fn is_served(at: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(at).await else {
        return false;
    };
    let head = head(Method::GET, "/healthz", &[("Connection", "close".to_owned())]);
    let mut answer = Vec::new();
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.read_to_end(&mut answer).await;
    answer.starts_with(b"HTTP/1.1 200")
}

#[tokio::test]
async fn a_client_that_sends_everything_first_gets_its_refusal() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, "ada@example.com", Role::Owner).await;
    let upload = json!({"fileName": "a.zip", "size": 8 * MIB - 1, "sha256": "00".repeat(32)});
    let upload = app.post(&key, "/uploads", upload).await.created();
    let signed = upload.text("url").strip_prefix(&app.origin).unwrap().to_owned();
    let forged = format!("{signed}0");
    let bytes = vec![b' '; 8 * MIB];
    let bearer = ("Authorization", format!("Bearer {key}"));
    let form = ("Content-Type", "application/x-www-form-urlencoded".to_owned());
    let here = [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin".to_owned())];
    let page = format!("/o/{org}/env");
    for (method, path, headers, size, status) in [
        (Method::POST, "/api/auth/sign-in", vec![json_body()], 3 * MIB, 413),
        (Method::POST, "/api/apps", vec![json_body(), bearer.clone()], 3 * MIB, 413),
        (Method::POST, "/api/apps", vec![json_body()], 3 * MIB, 401),
        (Method::POST, "/api/uploads", vec![bearer], 3 * MIB, 400),
        (Method::PUT, forged.as_str(), vec![], 8 * MIB, 403),
        (Method::PUT, signed.as_str(), vec![], 8 * MIB, 413),
        (Method::POST, "/api/runner/log", vec![], 3 * MIB, 401),
        (Method::POST, "/", vec![form.clone()], 3 * MIB, 413),
        (Method::POST, page.as_str(), [here.to_vec(), vec![form.clone()]].concat(), 3 * MIB, 413),
        (Method::POST, page.as_str(), vec![form], 3 * MIB, 303),
        (Method::POST, "/nothing", vec![], 8 * MIB, 404),
        (Method::GET, "/api/update/check/com.example.app", vec![], 8 * MIB, 400),
    ] {
        let mut headers = headers;
        headers.push(length(size));
        let head = head(method.clone(), path, &headers);
        let (given, body) = write_first(address(&app), &[head.as_bytes(), &bytes[..size]]).await;
        assert_eq!(given, status, "{method} {path}: {body}");
        if path.starts_with("/api") || path.starts_with("/files") {
            assert!(!message(&body).is_empty(), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let app = TestApp::start().await;
    for (line, host, expected) in [
        ("HTTP/1.1", "", 400),
        ("HTTP/1.1", "Host: a\r\nHost: a\r\n", 400),
        ("HTTP/1.1", "Host: a\r\nHost: b\r\n", 400),
        ("HTTP/1.1", "Host:\r\n", 200),
        ("HTTP/1.0", "", 200),
        ("HTTP/1.0", "Host: a\r\nhost: a\r\n", 400),
    ] {
        for path in [CHECK, "/healthz"] {
            let request = format!("GET {path} {line}\r\n{host}Connection: close\r\n\r\n");
            let mut stream = TcpStream::connect(address(&app)).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let status = answer.split(' ').nth(1);
            assert_eq!(status, Some(&*expected.to_string()), "{request:?}: {answer:?}");
            if expected == 400 {
                let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                assert_eq!(message(body), "The request must have exactly one Host header");
                assert!(answer.contains("x-request-id: "), "{answer:?}");
            }
        }
    }
}

/// The size is not announced, so the service cannot refuse the body before it arrives.
#[tokio::test]
async fn a_client_that_sends_in_chunks_gets_its_refusal() {
    let app = TestApp::start().await;
    let chunked = ("Transfer-Encoding", "chunked".to_owned());
    let head = head(Method::POST, "/api/auth/sign-in", &[json_body(), chunked]);
    let chunk = [format!("{MIB:x}\r\n").as_bytes(), &vec![b' '; MIB], b"\r\n"].concat();
    let request = [head.as_bytes(), &chunk, &chunk, &chunk, b"0\r\n\r\n"];
    let (status, body) = write_first(address(&app), &request).await;
    assert_eq!((status, message(&body).as_str()), (413, "The body may have at most 16384 bytes"));
}

/// A client that waits for `100 Continue` does not get it.
#[tokio::test]
async fn a_client_that_asks_first_sends_nothing() {
    let app = TestApp::start().await;
    let expect = ("Expect", "100-continue".to_owned());
    let head = head(Method::POST, "/api/auth/sign-in", &[json_body(), length(3 * MIB), expect]);
    let (status, _) = write_first(address(&app), &[head.as_bytes()]).await;
    assert_eq!(status, 413);
}

#[tokio::test]
async fn a_connection_goes_on_after_a_body_that_was_read() {
    let app = TestApp::start().await;
    let body = br#"{"email":"ada@example.com","password":"wrong password"}"#;
    let one = head(Method::POST, "/api/auth/sign-in", &[json_body(), length(body.len())]);
    let last = head(Method::GET, "/healthz", &[("Connection", "close".to_owned())]);
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    for part in [one.as_bytes(), body, last.as_bytes()] {
        stream.write_all(part).await.unwrap();
    }
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 2, "{answers}");
    answers.says("HTTP/1.1 401");
    answers.says("HTTP/1.1 200");
}

/// Keeps sending to a server that has refused the request. Returns when the connection is closed.
async fn send_for_ever(to: SocketAddr) {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let head = head(Method::POST, "/api/auth/sign-in", &[json_body(), length(usize::MAX / 4)]);
    stream.write_all(head.as_bytes()).await.unwrap();
    while stream.write_all(&[b' '; 64 << 10]).await.is_ok() {}
}

#[tokio::test]
async fn who_never_ends_sending_is_ended() {
    let app = TestApp::start().await;
    let by_bytes = Timeouts { linger: FOR_EVER, linger_bytes: MIB as u64, ..Timeouts::default() };
    let by_time = Timeouts { linger: Duration::from_millis(50), linger_bytes: u64::MAX, ..Timeouts::default() };
    for timeouts in [by_bytes, by_time] {
        send_for_ever(with_timeouts(&app, timeouts).await).await;
    }
}

#[tokio::test]
async fn who_stands_still_after_a_refusal_gives_its_place_back() {
    let app = with_places(1, 1).await;
    let timeouts = Timeouts { linger: Duration::from_millis(50), ..Timeouts::default() };
    let at = with_timeouts(&app, timeouts).await;
    let mut stream = TcpStream::connect(at).await.unwrap();
    let head = head(Method::POST, "/api/auth/sign-in", &[json_body(), length(3 * MIB)]);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 413"));
    until("the place is free", async || is_served(at).await).await;
    drop(stream);
}

/// Unfinished posts once stayed in memory forever.
#[tokio::test]
async fn bodies_that_do_not_come_are_not_waited_for() {
    let app = with_places(20, 20).await;
    let timeouts = Timeouts { body: Duration::from_millis(50), body_rate: u32::MAX, ..Timeouts::default() };
    let at = with_timeouts(&app, timeouts).await;
    let head = head(Method::POST, "/api/auth/sign-in", &[json_body(), length(16_000)]);
    let mut unfinished = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&[b' '; 10_000]).await.unwrap();
        unfinished.push(stream);
    }
    for stream in &mut unfinished {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(
            answer.contains(r#"{"error":"Request Timeout","message":"The body arrived too slowly. Send it again."}"#)
        );
    }
    drop(unfinished);
    until("the places are free", async || is_served(at).await).await;
}

#[tokio::test]
async fn who_sends_no_request_is_let_go() {
    let app = with_places(1, 1).await;
    let timeouts = Timeouts { headers: Duration::from_millis(50), ..Timeouts::default() };
    let at = with_timeouts(&app, timeouts).await;
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
    until("the place is free", async || is_served(at).await).await;
}

/// Checks have a timer of their own, which is set before the first of them.
#[tokio::test]
async fn who_falls_silent_after_a_check_is_let_go() {
    let app = with_places(1, 1).await;
    let timeouts = Timeouts { headers: Duration::from_millis(50), ..Timeouts::default() };
    let mut stream = TcpStream::connect(with_timeouts(&app, timeouts).await).await.unwrap();
    for _ in 0..3 {
        assert!(ask(&mut stream, CHECK).await.contains("No updates found for this bundle"));
    }
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn one_connection_carries_checks_and_other_requests() {
    let app = with_places(1, 1).await;
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    for path in [CHECK, CHECK, "/healthz", CHECK, "/healthz"] {
        let answer = ask(&mut stream, path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn who_reads_no_answer_is_let_go() {
    let app = with_places(1, 1).await;
    let timeouts = Timeouts { write: Duration::from_millis(50), ..Timeouts::default() };
    let at = with_timeouts(&app, timeouts).await;
    let mut stream = TcpStream::connect(at).await.unwrap();
    let head = head(Method::GET, "/openapi.json", &[]);
    // More than the buffers of both ends hold. The rest is not sent: the service reads no further request meanwhile.
    let many = head.repeat(1000);
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.write_all(many.as_bytes())).await;
    until("the place is free", async || is_served(at).await).await;
}

#[tokio::test]
async fn a_client_takes_its_own_places_only() {
    let app = with_places(100, 2).await;
    let at = address(&app);
    let mut taken = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let head = head(Method::GET, "/healthz", &[]);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        taken.push(stream);
    }
    assert!(!is_served(at).await);
    taken.pop();
    until("its place is free again", async || is_served(at).await).await;
}

#[tokio::test]
async fn a_trusted_proxy_takes_more() {
    let app = TestApp::with(settings!(max_connections_per_client = "1")).await;
    let at = address(&app);
    let _held = [TcpStream::connect(at).await.unwrap(), TcpStream::connect(at).await.unwrap()];
    assert!(is_served(at).await);
}

/// A proxy on this machine is trusted; a build on the same machine is not, although its address is the same.
#[tokio::test]
async fn a_build_on_this_machine_does_not_choose_its_address() {
    let own = rustix::process::geteuid().as_raw();
    for (builders, statuses) in
        [(None, [200, 200]), (Some(own + 1..=own + 1000), [200, 200]), (Some(own..=own), [200, 429])]
    {
        let app = TestApp::with(settings!(check_limit = "1")).await;
        if let Some(builders) = builders.clone() {
            let runner = app.app.random.id(app.app.clock.now());
            let origin = app.origin.clone();
            let embedded = Embedded { runner, origin, builders };
            app.app.embedded.set(embedded).unwrap();
        }
        for (address, status) in ["192.0.2.1", "192.0.2.2"].into_iter().zip(statuses) {
            let check = app.request(Method::GET, "/update/check/com.example.app?currentVersion=1");
            let answer = check.header("x-forwarded-for", address).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{builders:?}");
        }
    }
}

#[tokio::test]
async fn headers_above_64_kib_are_refused_with_an_answer() {
    let app = TestApp::start().await;
    let at = address(&app);
    for (size, status) in [(60 << 10, 200), (65 << 10, 431), (90 << 10, 431), (4 * MIB, 431)] {
        let more = [("Connection", "close".to_owned()), ("X-Filler", "x".repeat(size))];
        for path in ["/healthz", "/api/update/check/com.example.app?currentVersion=1.0.0"] {
            let (answered, _) = write_first(at, &[head(Method::GET, path, &more).as_bytes()]).await;
            assert_eq!(answered, status, "{path} {size}");
        }
    }
    let many: Vec<_> = (0..4000).map(|_| ("X-Filler", "x".repeat(20))).collect();
    assert_eq!(write_first(at, &[head(Method::GET, "/healthz", &many).as_bytes()]).await.0, 431);
}

#[tokio::test]
async fn the_next_request_of_a_connection_is_refused_alike() {
    let app = TestApp::start().await;
    let (_, key) = app.org_with_key().await;
    let body = format!("{:20000}", r#"{"bundleId": "com.example.app"}"#);
    let bearer = ("Authorization", format!("Bearer {key}"));
    let first = head(Method::POST, "/api/apps", &[bearer, json_body(), length(body.len())]);
    let second = head(Method::GET, "/healthz", &[("X-Filler", "x".repeat(MIB))]);
    let mut stream = TcpStream::connect(address(&app)).await.unwrap();
    stream.write_all(first.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut made = [0; 12];
    stream.read_exact(&mut made).await.unwrap();
    assert_eq!(&made, b"HTTP/1.1 201");
    stream.write_all(second.as_bytes()).await.unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(rest.contains("HTTP/1.1 431 "), "{rest}");
}
