//! `/store-events`: events of App Store Connect about submissions. Outside `/api` and without a key: like a signed URL,
//! the request carries its own proof, the store's signature.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode};
use launchway_app_stores::app_store::webhook::{Event, MAX_EVENT, SIGNATURE_HEADER};
use launchway_domain::actor::Actor;
use launchway_domain::id::CredentialId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::submissions::app_store_events;
use launchway_ops::write::Write;

use crate::erased_handler::post;

/// The routes to which app stores send events.
pub fn router() -> Router<Arc<App>> {
    Router::new().route(
        "/store-events/app-store/{credential}",
        post(app_store).layer(DefaultBodyLimit::max(MAX_EVENT)),
    )
}

/// Takes an event of App Store Connect: the submissions concerned query the store now.
async fn app_store(
    State(app): State<Arc<App>>,
    Path(credential): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, ApiError> {
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge(format!("An event has at most {MAX_EVENT} bytes")),
        _ => ApiError::bad("The body is incomplete. Send it again."),
    })?;
    // The response does not reveal whether the credential exists.
    let not_proven =
        || ApiError::NotProven("The signature is not valid for this address. Check the webhook's secret.".into());
    let credential: CredentialId = credential.parse().map_err(|_| not_proven())?;
    let signature = headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
    let mut tx = app.db.read().await?;
    let mut system = tx.system("the address names the credential, and that its tenant");
    let row = system.store_events_of(credential).await?.ok_or_else(not_proven)?;
    drop(tx);
    let (secrets, now) = (&app.app_store_event_secrets, app.clock.now());
    if !secrets.verifies(credential, &row, now, &body, signature.unwrap_or_default()) {
        return Err(not_proven());
    }
    let event = Event::read(&body).map_err(|_| ApiError::bad("The body is not an event of App Store Connect"))?;
    let mut write = Write::open(&app, row.org, Actor::Service, None).await?;
    app_store_events::look_now(&mut write, &event).await?;
    write.commit().await?;
    Ok(StatusCode::OK)
}
