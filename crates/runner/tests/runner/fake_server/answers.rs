//! The responses of the fake server: its endpoints, and the faults in them.

use std::collections::HashMap;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use launchway_api::runner::{AnnounceArtifact, Finish, Renew, TellPlan};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Build, FakeServer, Fault};

pub(super) async fn answer(State(server): State<FakeServer>, request: Request) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let fault = server.inner().faults.as_mut().and_then(|faults| faults(&path));
    match fault {
        Some(Fault::Unheard) => return cut(),
        Some(Fault::Unavailable) => {
            let body = json!({"error": "Service Unavailable", "message": "Not now."}).to_string();
            return (StatusCode::SERVICE_UNAVAILABLE, body).into_response();
        }
        Some(Fault::Defect) => return error(StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
        Some(Fault::Nonsense) => return (StatusCode::INTERNAL_SERVER_ERROR, "<html>oops</html>").into_response(),
        _ => {}
    }
    let answer = act(&server, &path, request).await;
    match fault {
        Some(Fault::Unanswered) => cut(),
        _ => answer,
    }
}

/// A response that breaks off.
fn cut() -> Response<Body> {
    let broken = futures::stream::iter([Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("cut"))]);
    Response::new(Body::from_stream(broken))
}

async fn act(server: &FakeServer, path: &str, request: Request) -> Response<Body> {
    let token = request
        .headers()
        .get("authorization")
        .map(|value| value.to_str().unwrap().to_owned());
    let query: HashMap<String, String> = request
        .uri()
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let Ok(body) = to_bytes(request.into_body(), usize::MAX).await else {
        return cut();
    };
    if let Some(id) = path.strip_prefix("/put/") {
        if server.inner().hold_puts {
            std::future::pending::<()>().await;
        }
        return put(server, id, body);
    }
    if path.starts_with("/files/") {
        return match server.inner().files.get(path) {
            Some(bytes) => Response::new(Body::from(bytes.clone())),
            None => StatusCode::NOT_FOUND.into_response(),
        };
    }
    if token
        .as_ref()
        .is_none_or(|token| server.inner().revoked.contains(token))
    {
        return error(StatusCode::UNAUTHORIZED, "Invalid or expired API key");
    }
    match path {
        "/api/runner/enrol" if token.as_deref() == Some("Bearer once") => {
            json(&json!({"id": "runner_1", "status": "active", "token": "token"}))
        }
        "/api/runner/enrol" => error(StatusCode::UNAUTHORIZED, "Invalid or expired API key"),
        "/api/runner/lease" => lease_answer(server).await,
        "/api/runner/renew" => {
            let renew: Renew = read(&body);
            about(server, path, &renew.build_id, renew.attempt, |build, _| {
                build.phases = renew.phases.iter().map(|phase| phase.name.clone()).collect();
                going(build)
            })
        }
        "/api/runner/plan" => {
            let told: TellPlan = read(&body);
            about(server, path, &told.build_id.clone(), told.attempt, |build, _| {
                build.plan = Some(told);
                going(build)
            })
        }
        "/api/runner/log" => {
            let offset: usize = query["offset"].parse().unwrap();
            let count = server.inner().count_logs;
            about(
                server,
                path,
                &query["id"],
                query["attempt"].parse().unwrap(),
                |build, lose| {
                    let end = build.counted + build.log.len();
                    if offset <= end && offset + body.len() > end {
                        build.log.extend_from_slice(&body[end - offset..]);
                    }
                    if count {
                        build.counted += std::mem::take(&mut build.log).len();
                    }
                    if let Some(lost) = lose.take() {
                        let left = build.log.len().saturating_sub(lost);
                        build.log.truncate(left);
                    }
                    going(build)
                },
            )
        }
        "/api/runner/artifacts" => announce(server, path, &read(&body)),
        "/api/runner/finish" => finish(server, path, read(&body)),
        _ => error(StatusCode::NOT_FOUND, "Not found"),
    }
}

async fn lease_answer(server: &FakeServer) -> Response<Body> {
    server.inner().leases += 1;
    let deadline = tokio::time::sleep(Duration::from_millis(200));
    tokio::pin!(deadline);
    loop {
        let mut changed = std::pin::pin!(server.shared.changed.notified());
        changed.as_mut().enable();
        let lease = server.inner().queue.pop_front();
        if let Some(lease) = lease {
            let mut inner = server.inner();
            let build = inner.builds.entry(lease.build_id.clone()).or_default();
            build.attempt = lease.attempt;
            return json(&json!({"lease": lease}));
        }
        tokio::select! {
            () = changed => {}
            () = &mut deadline => return json(&json!({"lease": null})),
        }
    }
}

/// Handles a call about a build if its attempt is current.
fn about(
    server: &FakeServer,
    path: &str,
    id: &str,
    attempt: u32,
    act: impl FnOnce(&mut Build, &mut Option<usize>) -> Value,
) -> Response<Body> {
    let mut inner = server.inner();
    let mut lose = inner.lose_log.take();
    let answer = match inner.builds.get_mut(id) {
        None => error(StatusCode::NOT_FOUND, "Build not found"),
        Some(build) if build.attempt != attempt => {
            build.refused += 1;
            error(StatusCode::BAD_REQUEST, "Another attempt has begun")
        }
        Some(build) => {
            *build.calls.entry(path.to_owned()).or_default() += 1;
            if let Some(endpoint) = build.cancel_by {
                build.cancel = endpoint == path;
            }
            json(&act(build, &mut lose))
        }
    };
    inner.lose_log = lose;
    answer
}

fn going(build: &Build) -> Value {
    json!({"cancel": build.cancel, "logOffset": build.counted + build.log.len()})
}

fn announce(server: &FakeServer, path: &str, wanted: &AnnounceArtifact) -> Response<Body> {
    let number = server.inner().announced.len();
    let id = format!("artifact_{number}");
    server.inner().announced.insert(id.clone(), wanted.clone());
    let url = format!("{}/put/{id}", server.url());
    about(
        server,
        path,
        &wanted.build_id,
        wanted.attempt,
        |build, _| json!({"id": id, "status": "pending", "url": url, "expiresAt": "2026-11-20T10:00:00.000Z", "cancel": build.cancel}),
    )
}

fn put(server: &FakeServer, id: &str, body: Bytes) -> Response<Body> {
    let mut inner = server.inner();
    if inner.refuse_puts > 0 {
        inner.refuse_puts -= 1;
        return StatusCode::FORBIDDEN.into_response();
    }
    let wanted = &inner.announced[id];
    assert_eq!(
        (wanted.size, &wanted.sha256),
        (body.len() as u64, &hex::encode(Sha256::digest(&body)))
    );
    inner.stored.insert(id.to_owned(), body.to_vec());
    StatusCode::OK.into_response()
}

fn finish(server: &FakeServer, path: &str, finish: Finish) -> Response<Body> {
    let response = about(server, path, &finish.build_id.clone(), finish.attempt, |build, _| {
        let size = build.counted + build.log.len();
        assert_eq!(finish.log_size, size as u64, "the log must be whole before the end");
        let status = finish.status.clone();
        build.finish.get_or_insert(finish);
        json!({"id": "build", "status": status})
    });
    server.shared.changed.notify_waiters();
    response
}

fn read<T: DeserializeOwned>(body: &[u8]) -> T {
    serde_json::from_slice(body).unwrap()
}

fn json(value: &Value) -> Response<Body> {
    Response::new(Body::from(value.to_string()))
}

fn error(status: StatusCode, message: &str) -> Response<Body> {
    let body = json!({"error": status.canonical_reason(), "message": message}).to_string();
    (status, body).into_response()
}
