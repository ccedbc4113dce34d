//! `/o/{org}/webhooks`: who is told of what, what was delivered and answered, and sending it again.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::webhooks::{CreateWebhook, DeliveryView, ReplaceWebhook, WebhookView};
use launchway_domain::id::{DeliveryId, WebhookId};
use launchway_domain::webhook::EventKind;
use launchway_store::Paging;

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::show::{Pager, ROWS};
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::http::extract::Query;
use crate::http::webhooks::shown as view;
use crate::ops::write::Write;
use crate::ops::{deliveries, webhooks};

/// The forms that messages have, and what people call them.
const KINDS: [(&str, &str); 3] = [("generic", "JSON, signed"), ("slack", "Slack"), ("teams", "Teams")];

#[derive(Template)]
#[template(path = "dashboard/webhooks.html")]
struct List {
    frame: Frame,
    webhooks: Vec<WebhookView>,
    pager: Pager,
    form: Form,
    events: Vec<&'static str>,
    made: Option<Made>,
}

#[derive(Template)]
#[template(path = "dashboard/webhook.html")]
struct One {
    frame: Frame,
    webhook: WebhookView,
    deliveries: Vec<Delivered>,
    pager: Pager,
    form: Form,
    events: Vec<&'static str>,
    made: Option<Made>,
}

/// A secret that is shown this once.
struct Made {
    name: String,
    secret: String,
}

struct Delivered {
    view: DeliveryView,
    /// The body that was sent.
    body: String,
}

fn all_events() -> Vec<&'static str> {
    EventKind::ALL.iter().map(|kind| kind.as_str()).collect()
}

fn id_of(text: &str) -> Result<WebhookId, Failure> {
    text.parse().map_err(|_| Failure::NoSuch("webhook"))
}

async fn list_shown(
    app: &App,
    visitor: &Visitor,
    offset: i64,
    form: Form,
    made: Option<Made>,
) -> Result<List, Failure> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.webhooks(Paging { limit: ROWS, offset }).await?;
    let mut webhooks = Vec::with_capacity(rows.items.len());
    for webhook in &rows.items {
        webhooks.push(view(&mut org, webhook).await?);
    }
    Ok(List {
        frame: Frame::new(app, visitor, "webhooks", "Webhooks"),
        pager: Pager::new(offset, webhooks.len(), rows.total, ""),
        webhooks,
        form,
        events: all_events(),
        made,
    })
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, Trouble> {
    let offset = query.paging()?.offset;
    let form = Form::filled(&[
        ("type", "generic"),
        ("events", "build.failed"),
        ("events", "update.published"),
    ]);
    Ok(page(
        StatusCode::OK,
        &list_shown(&app, &visitor, offset, form, None).await?,
    ))
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    match make(&app, &visitor, &posted).await {
        Ok(made) => {
            let shown = list_shown(&app, &visitor, 0, Form::default(), Some(made)).await?;
            Ok(page(StatusCode::CREATED, &shown))
        }
        Err(failure) => {
            let form = Form::refused(posted, &failure);
            Ok(page(
                failure.status().0,
                &list_shown(&app, &visitor, 0, form, None).await?,
            ))
        }
    }
}

fn events(posted: &Posted) -> Vec<String> {
    if posted.all("events").iter().any(|event| event == "*") {
        return vec!["*".to_owned()];
    }
    posted.all("events")
}

async fn make(app: &App, visitor: &Visitor, posted: &Posted) -> Result<Made, Failure> {
    let plan = webhooks::plan(
        app,
        &CreateWebhook {
            name: posted.text("name")?.to_owned(),
            url: posted.text("url")?.to_owned(),
            events: events(posted),
            kind: posted.optional("type")?,
            bundle_ids: Some(posted.list("bundleIds")?),
        },
    )?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    let (webhook, secret) = webhooks::create(&mut write, plan).await?;
    write.commit().await?;
    Ok(Made {
        name: webhook.name,
        secret: secret.reveal(),
    })
}

async fn one_shown(
    app: &App,
    visitor: &Visitor,
    id: WebhookId,
    offset: i64,
    form: Option<Form>,
    made: Option<Made>,
) -> Result<One, Failure> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let webhook = org.webhook(id).await?.ok_or(Failure::NoSuch("webhook"))?;
    let webhook = view(&mut org, &webhook).await?;
    let rows = org.deliveries(id, Paging { limit: ROWS, offset }).await?;
    let mut delivered = Vec::with_capacity(rows.items.len());
    for delivery in &rows.items {
        delivered.push(Delivered {
            view: DeliveryView::of(delivery, &org.delivery_tries(delivery.id).await?),
            body: delivery.body.clone(),
        });
    }
    Ok(One {
        frame: Frame::new(app, visitor, "webhooks", webhook.name.clone()),
        pager: Pager::new(offset, delivered.len(), rows.total, ""),
        deliveries: delivered,
        form: form.unwrap_or_else(|| as_form(&webhook)),
        webhook,
        events: all_events(),
        made,
    })
}

/// The record as its form shows it.
fn as_form(webhook: &WebhookView) -> Form {
    let bundles = webhook.bundle_ids.join(", ");
    let mut fields = vec![
        ("name", webhook.name.as_str()),
        ("url", &webhook.url),
        ("type", &webhook.kind),
        ("bundleIds", &bundles),
        ("status", &webhook.status),
    ];
    fields.extend(webhook.events.iter().map(|event| ("events", event.as_str())));
    Form::filled(&fields)
}

pub async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    query: Query,
) -> Result<Response, Trouble> {
    let offset = query.paging()?.offset;
    let shown = one_shown(&app, &visitor, id_of(&id)?, offset, None, None).await?;
    Ok(page(StatusCode::OK, &shown))
}

pub async fn change(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    match replace(&app, &visitor, id, &posted).await {
        Ok(()) => Ok(done(&visitor, &format!("/webhooks/{id}"), Notice::WEBHOOK_CHANGED)),
        Err(failure) if failure.status().0 == StatusCode::BAD_REQUEST => {
            let form = Form::refused(posted, &failure);
            let shown = one_shown(&app, &visitor, id, 0, Some(form), None).await?;
            Ok(page(StatusCode::BAD_REQUEST, &shown))
        }
        Err(failure) => Ok(Trouble(failure).into_response()),
    }
}

async fn replace(app: &App, visitor: &Visitor, id: WebhookId, posted: &Posted) -> Result<(), Failure> {
    let plan = webhooks::replacement(
        app,
        &ReplaceWebhook {
            id: Some(id.to_string()),
            status: posted.optional("status")?,
            name: posted.text("name")?.to_owned(),
            url: posted.text("url")?.to_owned(),
            events: events(posted),
            kind: posted.optional("type")?,
            bundle_ids: Some(posted.list("bundleIds")?),
            disabled_reason: None,
            created_at: None,
            last_delivery: None,
        },
    )?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    webhooks::replace(&mut write, id, plan).await?;
    write.commit().await
}

pub async fn rotate(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let (webhook, secret) = webhooks::rotate_secret(&mut write, id).await?;
    write.commit().await?;
    let made = Made {
        name: webhook.name,
        secret: secret.reveal(),
    };
    let shown = one_shown(&app, &visitor, id, 0, None, Some(made)).await?;
    Ok(page(StatusCode::OK, &shown))
}

pub async fn test(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    deliveries::test(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, &format!("/webhooks/{id}"), Notice::WEBHOOK_TESTED))
}

pub async fn redeliver(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id, delivery)): Path<(String, String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let delivery: DeliveryId = delivery.parse().map_err(|_| Failure::NoSuch("delivery"))?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    deliveries::redeliver(&mut write, delivery).await?;
    write.commit().await?;
    Ok(done(&visitor, &format!("/webhooks/{id}"), Notice::REDELIVERED))
}

pub async fn delete(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    webhooks::delete(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, "/webhooks", Notice::WEBHOOK_DELETED))
}
