//! The load generator against a twin in this process: it counts correctly, and notices every wrong response.

use bytes::Bytes;
use hyper::StatusCode;
use tokio::net::TcpListener;

use super::*;
use crate::twin;

const BODY: &[u8] = br#"{"updateAvailable":false}"#;

/// The outcome of a load on a twin with this response, and how many requests reached the twin.
async fn ask_twin(load: Load, status: StatusCode, body: &'static [u8]) -> (Result<Outcome, LoadError>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = reached.clone();
    tokio::spawn(twin::serve(listener, move || {
        counter.fetch_add(1, Ordering::Relaxed);
        let mut response = twin::respond(Bytes::from_static(body));
        *response.status_mut() = status;
        response
    }));
    let outcome = ask(address, vec![question(address); 3].into(), load).await;
    (outcome, reached.load(Ordering::Relaxed))
}

fn question(address: SocketAddr) -> Question {
    Question {
        request: format!("GET /x HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
        expected: twin::BEGINNING,
    }
}

fn load(requests: usize) -> Load {
    Load {
        connections: 8,
        requests,
        limit: Duration::from_secs(60),
        awake: false,
        rate: None,
    }
}

#[tokio::test]
async fn latencies_at_a_rate_count_from_when_a_request_was_due() {
    let steady = Load {
        rate: Some(2_000.0),
        ..load(200)
    };
    let (outcome, reached) = ask_twin(steady, StatusCode::OK, BODY).await;
    assert_eq!(reached, 200);
    assert!(outcome.unwrap().elapsed >= Duration::from_millis(99));
}

#[tokio::test]
async fn counts_what_the_twin_answers() {
    let (outcome, reached) = ask_twin(load(1_001), StatusCode::OK, BODY).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.latencies.len(), reached), (1_001, 1_001));
    assert_eq!(outcome.body_bytes, 1_001 * BODY.len() as u64);
    assert!(outcome.latencies.is_sorted() && outcome.latencies[1_000] <= outcome.elapsed);
    assert!(outcome.throughput() > 0.0);
}

#[tokio::test]
async fn a_wrong_answer_ends_the_load() {
    for (status, body) in [
        (StatusCode::INTERNAL_SERVER_ERROR, BODY),
        (StatusCode::OK, b"{}".as_slice()),
        (StatusCode::OK, b"".as_slice()),
    ] {
        let (outcome, _) = ask_twin(load(20), status, body).await;
        assert!(
            matches!(outcome, Err(LoadError::Unexpected { .. })),
            "{status} {outcome:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_ends_the_load() {
    // Accepts nothing, so nothing is answered.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = Load {
        limit: Duration::from_millis(1),
        ..load(1)
    };
    let outcome = ask(address, vec![question(address)].into(), never).await;
    assert!(matches!(outcome, Err(LoadError::Timeout(_))), "{outcome:?}");
}

#[tokio::test]
async fn asks_only_this_machine() {
    let outcome = ask(SocketAddr::from(([192, 0, 2, 1], 80)), Arc::new([]), load(1)).await;
    assert!(matches!(outcome, Err(LoadError::NotHere(_))), "{outcome:?}");
}

#[test]
fn reads_an_answer_in_any_pieces() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
    for end in 0..answer.len() {
        assert_eq!(complete(&answer[..end]), None, "{end}");
    }
    assert_eq!(complete(answer), Some((b"200".as_slice(), b"{}".as_slice())));
    assert_eq!(complete(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}"), None);
    let empty = b"HTTP/1.1 204 No Content\r\nx: y\r\n\r\n";
    assert_eq!(complete(empty), Some((b"204".as_slice(), b"".as_slice())));
    assert_eq!(complete(&empty[..20]), None);
}

#[test]
fn percentiles_are_of_all_answers() {
    let outcome = Outcome {
        elapsed: Duration::from_secs(2),
        latencies: (1..=100).map(Duration::from_millis).collect(),
        body_bytes: 0,
    };
    assert_eq!(outcome.percentile(0.5), Duration::from_millis(50));
    assert_eq!(outcome.percentile(0.99), Duration::from_millis(99));
    assert_eq!(outcome.percentile(1.0), Duration::from_millis(100));
    assert_eq!(outcome.throughput(), 50.0);
}
