//! Which calls are repeated, and what the repetitions contain.

use std::time::Duration;

use bytes::Bytes;
use launchway_api::updates::CreateUpdate;
use launchway_client::{Error, Method, Reason, Timeouts};

use crate::fake_server::{FakeServer, Reply};
use crate::{client_of, client_with};

fn unavailable() -> Reply {
    Reply::error(503, "Service Unavailable", "The database does not answer")
}

#[tokio::test]
async fn waits_as_long_as_the_rate_limit_asks() {
    let limited = Reply::error(429, "Rate Limited", "Too many requests").header("retry-after", "7");
    let server = FakeServer::start([limited, Reply::new(200, "{}")]).await;
    let (client, environment) = client_of(&server);
    let answer = client
        .raw(Method::DELETE, "/apps?id=app_1", None)
        .await
        .expect("an answer");
    assert_eq!(answer.status, 200);
    assert_eq!(environment.pauses(), [(Duration::from_secs(7), Reason::RateLimited)]);
}

#[tokio::test]
async fn gives_up_at_once_when_the_wait_would_be_too_long() {
    let limited = Reply::error(429, "Rate Limited", "Too many requests").header("retry-after", "31");
    let server = FakeServer::start([limited]).await;
    let (client, environment) = client_of(&server);
    let error = client.session().await.expect_err("a rate limit");
    assert!(matches!(error, Error::Api { status: 429, .. }), "{error:?}");
    assert_eq!(environment.pauses(), []);
}

#[tokio::test]
async fn a_post_made_again_is_the_same_call_to_the_server() {
    let server = FakeServer::start([unavailable(), unavailable()]).await;
    let (client, _) = client_of(&server);
    let wanted = CreateUpdate::default();
    client
        .create_update(&wanted)
        .await
        .expect_err("the test told no success");
    client
        .create_update(&wanted)
        .await
        .expect_err("the test told no success");
    let keys: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("idempotency-key").to_owned())
        .collect();
    assert_eq!(
        keys,
        ["01".repeat(16), "01".repeat(16), "01".repeat(16), "02".repeat(16)]
    );
}

#[tokio::test]
async fn gives_up_after_five_tries_with_the_last_answer() {
    let server = FakeServer::start((0..6).map(|_| unavailable())).await;
    let (client, environment) = client_of(&server);
    let error = client.session().await.expect_err("no success");
    assert!(matches!(error, Error::Api { status: 503, .. }), "{error:?}");
    assert_eq!(server.seen().len(), 5);
    assert_eq!(environment.pauses().len(), 4);
}

#[tokio::test]
async fn a_delete_is_not_repeated_when_it_may_have_happened() {
    let server = FakeServer::start([unavailable(), Reply::new(200, "{}")]).await;
    let answer = client_of(&server)
        .0
        .raw(Method::DELETE, "/update?id=update_1", None)
        .await
        .expect("an answer");
    assert_eq!(answer.status, 503);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn what_the_server_refuses_is_not_repeated() {
    for status in [400, 401, 403, 404, 405, 413, 500, 501] {
        let server = FakeServer::start([Reply::error(status, "Some Error", "no")]).await;
        let answer = client_of(&server)
            .0
            .raw(Method::GET, "/update", None)
            .await
            .expect("an answer");
        assert_eq!((answer.status, server.seen().len()), (status, 1));
    }
}

#[tokio::test]
async fn an_unreachable_server_is_tried_again_and_then_named() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    let (client, environment) = client_with(&format!("http://{address}"), None, Timeouts::default());
    let error = client
        .raw(Method::DELETE, "/update?id=update_1", None)
        .await
        .expect_err("nobody is there");
    assert!(
        matches!(&error, Error::Network { origin, .. } if *origin == format!("http://{address}")),
        "{error:?}"
    );
    assert_eq!(
        environment.pauses().iter().map(|pause| pause.1).collect::<Vec<_>>(),
        [Reason::NotConnected; 4]
    );
}

#[tokio::test]
async fn a_server_that_falls_silent_is_asked_again() {
    let server = FakeServer::start([Reply::silence(), Reply::new(200, "{}")]).await;
    let timeouts = Timeouts {
        read: Duration::from_secs(1),
        ..Timeouts::default()
    };
    let (client, environment) = client_with(&server.url(), None, timeouts);
    let body = Bytes::from_static(b"{}");
    let answer = client
        .raw(Method::PATCH, "/update?id=update_1", Some(body))
        .await
        .expect("an answer");
    assert_eq!(answer.status, 200);
    assert_eq!(environment.pauses(), [(Duration::from_millis(250), Reason::Broken)]);
}
