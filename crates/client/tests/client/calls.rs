//! The requests of the client, and how it interprets each kind of answer.

use launchway_api::updates::{ChangeUpdate, CreateUpdate};
use launchway_client::{Error, Method, Timeouts, UpdateFilter};
use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::{KEY, PAGE, client_of, client_with};

#[tokio::test]
async fn says_who_calls_and_for_which_organization() {
    let server = FakeServer::start([Reply::new(200, r#"{"items":[],"total":0,"limit":10,"offset":0}"#)]).await;
    let (client, _) = client_with(&server.url(), Some("org_1"), Timeouts::default());
    let filter = UpdateFilter {
        bundle_id: Some("com.example.a&b".to_owned()),
        ..UpdateFilter::default()
    };
    client.updates(&filter, PAGE).await.expect("a page");
    let seen = &server.seen()[0];
    assert_eq!(
        seen.line,
        "GET /api/update?bundleId=com.example.a%26b&limit=5&offset=10&orgId=org_1"
    );
    assert_eq!(seen.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(
        seen.header("user-agent"),
        format!("launchway/{}", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(seen.header("idempotency-key"), "");
}

#[tokio::test]
async fn an_organization_in_the_path_stays_the_only_one() {
    let server = FakeServer::start([Reply::new(200, "{}")]).await;
    let (client, _) = client_with(&server.url(), Some("org_1"), Timeouts::default());
    client
        .raw(Method::GET, "/apps?orgId=org_2", None)
        .await
        .expect("an answer");
    assert_eq!(server.lines(), ["GET /api/apps?orgId=org_2"]);
}

#[tokio::test]
async fn names_are_read_by_id_and_unknown_to_older_servers() {
    let server = FakeServer::start([]).await;
    let (client, _) = client_of(&server);
    client
        .names(&["key_1"])
        .await
        .expect_err("a server of an earlier release has no names");
    server.know_names(&json!({"key_1": "laptop"}));
    let names = client.names(&["key_1"]).await.expect("names").value.names;
    assert_eq!(names["key_1"], "laptop");
}

#[tokio::test]
async fn sends_only_the_fields_that_are_there() {
    let server = FakeServer::start([]).await;
    let (client, _) = client_of(&server);
    let change = ChangeUpdate {
        rollout: Some(20),
        ..ChangeUpdate::default()
    };
    client
        .change_update("update_1", &change)
        .await
        .expect_err("the test told no answer");
    let wanted = CreateUpdate {
        bundle_id: "com.example.app".to_owned(),
        ..CreateUpdate::default()
    };
    client
        .create_update(&wanted)
        .await
        .expect_err("the test told no answer");
    let seen = server.seen();
    assert_eq!(seen[0].line, "PATCH /api/update?id=update_1");
    assert_eq!(seen[0].json(), json!({"rollout": 20}));
    assert_eq!(seen[1].line, "POST /api/update");
    assert_eq!(
        seen[1].json(),
        json!({"bundleId": "com.example.app", "platform": "", "version": ""})
    );
    assert_eq!(seen[1].header("content-type"), "application/json");
}

#[tokio::test]
async fn an_error_of_the_api_keeps_its_words_and_its_request_id() {
    let server = FakeServer::start([Reply::error(404, "Not Found", "No such update")]).await;
    let error = client_of(&server).0.update("update_1").await.expect_err("a 404");
    let Error::Api {
        status,
        error,
        message,
        request_id,
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (status, error.as_str(), message.as_str()),
        (404, "Not Found", "No such update")
    );
    assert_eq!(request_id.as_deref(), Some("req-1"));
}

#[tokio::test]
async fn an_answer_of_something_else_is_told_apart() {
    let rows = [
        Reply::new(404, "<html>not here</html>"),
        Reply::new(200, "<html>welcome</html>"),
        Reply::new(304, ""),
        Reply::new(200, r#"{"id":"update_1"}"#),
    ];
    let mut other_versions = 0;
    for reply in rows {
        let server = FakeServer::start([reply]).await;
        let error = client_of(&server)
            .0
            .update("update_1")
            .await
            .expect_err("no answer of the API");
        match error {
            Error::OtherVersion { .. } => other_versions += 1,
            error => assert!(matches!(error, Error::Unexpected { .. }), "{error:?}"),
        }
    }
    assert_eq!(other_versions, 1, "the last one is JSON, but no update");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = FakeServer::start([]).await;
    let reply = Reply::new(301, "").header("location", other.url());
    let server = FakeServer::start([reply]).await;
    let error = client_of(&server).0.session().await.expect_err("a redirect");
    assert!(
        matches!(&error, Error::Redirected { location, .. } if *location == other.url()),
        "{error:?}"
    );
    assert!(other.seen().is_empty(), "the key must not go there");
}

#[tokio::test]
async fn what_is_no_path_is_not_sent() {
    let server = FakeServer::start([]).await;
    let (client, _) = client_of(&server);
    for path in ["", "update", "@evil.example/", ".evil.example/", ":1/"] {
        let error = client.raw(Method::GET, path, None).await.expect_err(path);
        assert!(matches!(error, Error::Invalid(_)), "{path}: {error:?}");
    }
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn neither_client_nor_error_shows_the_key() {
    let server = FakeServer::start([]).await;
    let (client, _) = client_of(&server);
    let error = client.session().await.expect_err("the test told no answer");
    assert!(!format!("{client:?} {error:?} {error}").contains(KEY));
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_is_over() {
    let server = FakeServer::start([Reply::silence()]).await;
    let (client, environment) = client_of(&server);
    let call = tokio::spawn(async move { client.session().await.map(drop) });
    server.arrival().await;
    call.abort();
    assert!(call.await.expect_err("it was given up").is_cancelled());
    assert_eq!((server.seen().len(), environment.pauses().len()), (1, 0));
}
