//! `/webhooks` (`docs/reference/webhooks.md#webhook-endpoints`).

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::error::ErrorBody;
use launchway_api::lists::{Deleted, OneOrPage, Page};
use launchway_api::webhooks::{CreateWebhook, DeliveryView, ReplaceWebhook, WebhookView, WebhookWithSecret};
use launchway_api::words::DoneStatus;
use launchway_domain::id::{DeliveryId, WebhookId};
use launchway_domain::webhook::{Delivery, DeliveryAttempt, Webhook};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::write::{Creation, Write};
use launchway_ops::{deliveries as making, webhooks};
use launchway_store::Org;

use crate::extract::{Body, Create, CreateBare};
use crate::http::answers::{created, found, id_and_status, page_of, replay};
use crate::query::Query;

/// Lists webhooks, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/webhooks",
    tag = "Webhooks",
    params(
        ("id" = Option<String>, Query, description = "Read this webhook instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of webhooks, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of webhooks to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of webhooks; with `id`, the webhook", body = OneOrPage<WebhookView>),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("webhook")?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let webhook = org.webhook(id.get()?).await?.ok_or(ApiError::NoSuch("webhook"))?;
            Ok(found(&view(&mut org, &webhook).await?))
        }
        None => {
            let rows = org.webhooks(paging).await?;
            let items = views(&mut org, &rows.items).await?;
            Ok(page_of(items, rows.total, paging))
        }
    }
}

/// A webhook with its last delivery.
pub async fn view(org: &mut Org<'_>, webhook: &Webhook) -> Result<WebhookView, ApiError> {
    let views = views(org, std::slice::from_ref(webhook)).await?;
    let view = views.into_iter().next();
    view.ok_or_else(|| ApiError::Internal("a webhook has no view".to_owned()))
}

/// A page of webhooks, each with its last delivery, with a fixed number of queries.
pub async fn views(org: &mut Org<'_>, webhooks: &[Webhook]) -> Result<Vec<WebhookView>, ApiError> {
    let ids: Vec<_> = webhooks.iter().map(|webhook| webhook.id).collect();
    let last = org.last_deliveries(&ids).await?;
    let deliveries: Vec<_> = last.values().map(|delivery| delivery.id).collect();
    let attempts = org.delivery_attempts(&deliveries).await?;
    let view = |webhook: &Webhook| {
        let last = last.get(&webhook.id);
        WebhookView::of(webhook, last.map(|delivery| delivery_view(delivery, &attempts)))
    };
    Ok(webhooks.iter().map(view).collect())
}

/// A page of deliveries, each with its attempts, with a fixed number of queries.
pub async fn delivery_views(org: &mut Org<'_>, deliveries: &[Delivery]) -> Result<Vec<DeliveryView>, ApiError> {
    let ids: Vec<_> = deliveries.iter().map(|delivery| delivery.id).collect();
    let attempts = org.delivery_attempts(&ids).await?;
    let view = |delivery| delivery_view(delivery, &attempts);
    Ok(deliveries.iter().map(view).collect())
}

fn delivery_view(delivery: &Delivery, attempts: &HashMap<DeliveryId, Vec<DeliveryAttempt>>) -> DeliveryView {
    DeliveryView::of(
        delivery,
        attempts.get(&delivery.id).map(Vec::as_slice).unwrap_or_default(),
    )
}

/// Creates a webhook. Only this response contains the secret that signs its deliveries.
#[utoipa::path(
    post,
    path = "/webhooks",
    tag = "Webhooks",
    request_body = CreateWebhook,
    responses((status = 201, description = "The record and the secret", body = WebhookWithSecret))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateWebhook>,
) -> Result<Response, ApiError> {
    let plan = webhooks::plan(&app, &new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let (webhook, secret) = webhooks::create(&mut write, plan).await?;
    let mut answer = WebhookWithSecret {
        record: WebhookView::of(&webhook, None),
        secret: None,
    };
    write.commit_created(&answer).await?;
    answer.secret = Some(secret.reveal());
    Ok(created(&answer))
}

/// Replaces the record of a webhook. `status: active` enables a disabled webhook.
#[utoipa::path(
    put,
    path = "/webhooks",
    tag = "Webhooks",
    request_body = ReplaceWebhook,
    responses(
        (status = 200, description = "The webhook", body = WebhookView),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn replace(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body<ReplaceWebhook>,
) -> Result<Response, ApiError> {
    let id = body.0.id.as_deref().filter(|id| !id.is_empty());
    let id: Option<WebhookId> = id.ok_or_else(|| ApiError::bad("id is required"))?.parse().ok();
    let plan = webhooks::replacement(&app, &body.0)?;
    let mut write = Write::begin(&app, &caller).await?;
    let webhook = webhooks::replace(&mut write, id.ok_or(ApiError::NoSuch("webhook"))?, plan).await?;
    let view = view(&mut write.org(), &webhook).await?;
    write.commit().await?;
    Ok(found(&view))
}

/// Deletes a webhook with its deliveries. Nothing more is sent to it.
#[utoipa::path(
    delete,
    path = "/webhooks",
    tag = "Webhooks",
    params(("id" = String, Query, description = "The webhook")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("webhook")?.get()?;
    Write::run(&app, &caller, id, webhooks::delete).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}

/// Rotates the secret of a webhook. Only this response contains the new secret. For 24 hours deliveries are signed with
/// both.
#[utoipa::path(
    post,
    path = "/webhooks/rotate-secret",
    tag = "Webhooks",
    params(("id" = String, Query, description = "The webhook")),
    responses(
        (status = 200, description = "The record and the new secret", body = WebhookWithSecret),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn rotate_secret(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("webhook")?;
    let mut write = Write::begin(&app, &caller).await?;
    let (webhook, secret) = webhooks::rotate_secret(&mut write, id.get()?).await?;
    let record = view(&mut write.org(), &webhook).await?;
    write.commit().await?;
    Ok(found(&WebhookWithSecret {
        record,
        secret: Some(secret.reveal()),
    }))
}

/// Lists the deliveries to a webhook with their attempts. They are kept for 30 days.
#[utoipa::path(
    get,
    path = "/webhooks/deliveries",
    tag = "Webhooks",
    params(
        ("id" = String, Query, description = "The webhook"),
        ("limit" = Option<i64>, Query, description = "The maximum number of deliveries, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of deliveries to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of deliveries", body = Page<DeliveryView>),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn deliveries(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("webhook")?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    let webhook = org.webhook(id.get()?).await?.ok_or(ApiError::NoSuch("webhook"))?;
    let rows = org.deliveries(webhook.id, paging).await?;
    let items = delivery_views(&mut org, &rows.items).await?;
    Ok(page_of(items, rows.total, paging))
}

/// Sends the event of a delivery again, immediately, with the same event id and body.
#[utoipa::path(
    post,
    path = "/webhooks/redeliver",
    tag = "Webhooks",
    params(("id" = String, Query, description = "The delivery")),
    responses(
        (status = 201, description = "The new delivery", body = DeliveryView),
        (status = 404, description = "No delivery has this id", body = ErrorBody),
    )
)]
pub async fn redeliver(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    new: CreateBare,
) -> Result<Response, ApiError> {
    let id = query.id("delivery")?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let delivery = making::redeliver(&mut write, id.get()?).await?;
    commit_delivery(write, &delivery).await
}

/// Sends `webhook.test` to a webhook, whichever events it receives.
#[utoipa::path(
    post,
    path = "/webhooks/test",
    tag = "Webhooks",
    params(("id" = String, Query, description = "The webhook")),
    responses(
        (status = 201, description = "The delivery", body = DeliveryView),
        (status = 404, description = "No webhook has this id", body = ErrorBody),
    )
)]
pub async fn test(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    new: CreateBare,
) -> Result<Response, ApiError> {
    let id = query.id("webhook")?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let delivery = making::test(&mut write, id.get()?).await?;
    commit_delivery(write, &delivery).await
}

async fn commit_delivery(write: Write<'_>, delivery: &Delivery) -> Result<Response, ApiError> {
    let view = DeliveryView::of(delivery, &[]);
    write.commit_created(&view).await?;
    Ok(created(&view))
}
