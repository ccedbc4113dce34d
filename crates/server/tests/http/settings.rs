//! How the API uses HTTP (`docs/reference/conventions.md`): routes, methods, bodies, parameters, headers, failures.

mod bodies;
mod failures;
mod headers;
mod parameters;
mod routes;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Answer, TestApp};

/// Sends these bytes on a new connection and reads the response until the server closes it.
async fn raw(app: &TestApp, parts: &[&[u8]]) -> String {
    let address = app.origin.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    for part in parts {
        stream.write_all(part).await.unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// An error body: exactly `error` and `message`, as JSON, with a request id.
fn is_error(answer: &Answer, status: u16, message: &str, what: &str) {
    assert_eq!(answer.status.as_u16(), status, "{what}: {}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json", "{what}");
    answer.refused(status, message);
    assert!(!answer.header("x-request-id").is_empty(), "{what}");
}
