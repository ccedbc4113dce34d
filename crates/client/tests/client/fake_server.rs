//! A server that returns prepared answers in order, and records its requests. The tests of the command line use it too.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response};
use futures::{StreamExt, TryStreamExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// One answer.
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Body,
    silent: bool,
}

impl Reply {
    /// An answer with this status and body, and the `X-Request-Id` of every answer.
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        let headers = vec![("x-request-id", "req-1".to_owned())];
        Self {
            status,
            headers,
            body: Body::from(body.into()),
            silent: false,
        }
    }

    /// An error in the API's form.
    pub fn error(status: u16, error: &str, message: &str) -> Self {
        Self::new(
            status,
            serde_json::json!({ "error": error, "message": message }).to_string(),
        )
    }

    /// No answer at all, while the connection stays open.
    pub fn silence() -> Self {
        Self {
            silent: true,
            ..Self::new(200, "")
        }
    }

    /// The same, but the connection breaks after the body.
    pub fn cut(self) -> Self {
        // Earlier bytes are sent while this waits for its turn.
        let rest = futures::stream::once(async {
            tokio::task::yield_now().await;
            Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
        });
        let bytes = self.body.into_data_stream().map_err(std::io::Error::other);
        Self {
            body: Body::from_stream(bytes.chain(rest)),
            ..self
        }
    }

    /// The same, but the connection stays open after the body.
    pub fn open(self) -> Self {
        let bytes = self.body.into_data_stream();
        Self {
            body: Body::from_stream(bytes.chain(futures::stream::pending())),
            ..self
        }
    }

    /// The same with one more header.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method, path and query, such as `GET /api/update?id=update_1`.
    pub line: String,
    pub headers: HeaderMap,
    /// Its whole body.
    pub body: Vec<u8>,
}

impl Seen {
    /// The value of a header, empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("headers of these tests are text"))
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

#[derive(Default)]
struct Script {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Seen>>,
    /// The answer to requests for names, which are no part of the script.
    names: Mutex<Option<String>>,
    arrived: Notify,
}

/// The server; it stops with the test's runtime.
pub struct FakeServer {
    address: SocketAddr,
    script: Arc<Script>,
}

impl FakeServer {
    /// Starts a server with these answers. A request beyond them is answered with 500.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let script = Arc::new(Script::default());
        let server = Self { address, script };
        server.then(replies);
        let router = Router::new().fallback(answer).with_state(Arc::clone(&server.script));
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// Adds answers, for those that contain the server's own address.
    pub fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script
            .replies
            .lock()
            .expect("no other holder panicked")
            .extend(replies);
    }

    /// Knows these names from now on. Without, it answers requests for names as a server of an earlier release does. They are
    /// in no list of requests.
    pub fn know_names(&self, names: &serde_json::Value) {
        let body = serde_json::json!({ "names": names }).to_string();
        *self.script.names.lock().expect("no other holder panicked") = Some(body);
    }

    /// Its address, such as `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.script.seen.lock().expect("no other holder panicked").clone()
    }

    /// The request lines of all requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }

    /// Waits until a request has arrived since the last call.
    pub async fn arrival(&self) {
        self.script.arrived.notified().await;
    }
}

async fn answer(State(script): State<Arc<Script>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    if head.uri.path() == "/api/names" {
        let names = script.names.lock().expect("no other holder panicked").clone();
        let of_before = || Reply::error(404, "Not Found", "Nothing is at this path");
        return response(names.map_or_else(of_before, |names| Reply::new(200, names)));
    }
    let body = to_bytes(body, usize::MAX)
        .await
        .map(|bytes| bytes.to_vec())
        .unwrap_or_default();
    let line = format!("{} {}", head.method, head.uri);
    script.seen.lock().expect("no other holder panicked").push(Seen {
        line,
        headers: head.headers,
        body,
    });
    script.arrived.notify_one();
    let told = script.replies.lock().expect("no other holder panicked").pop_front();
    let reply = told.unwrap_or_else(|| Reply::error(500, "Internal Error", "the test told no answer for this"));
    if reply.silent {
        std::future::pending::<()>().await;
    }
    response(reply)
}

fn response(reply: Reply) -> Response<Body> {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(reply.body).expect("the test told a valid answer")
}
