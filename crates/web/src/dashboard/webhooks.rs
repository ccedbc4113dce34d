//! `/o/{org}/webhooks`: the webhooks, their deliveries with responses, and redelivery.

pub mod actions;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use launchway_api::open;
use launchway_api::webhooks::{CreateWebhook, DeliveryView, ReplaceWebhook, WebhookView};
use launchway_api::words::EventName;
use launchway_domain::id::{DeliveryId, WebhookId};
use launchway_domain::webhook::{EventKind, Webhook};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::write::Write;
use launchway_ops::{deliveries, webhooks};
use launchway_store::Paging;

use super::form_data::{Difference, Form, FormData};
use super::frame::{Frame, Notice, page};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visit::Visit;
use super::visitor::Visitor;
use super::webhooks::actions::revision;
use crate::http::webhooks::{delivery_views, view, views};
use crate::query::Query;

/// The message formats, with their labels.
const KINDS: [(&str, &str); 3] = [("generic", "JSON, signed"), ("slack", "Slack"), ("teams", "Teams")];

#[derive(Template)]
#[template(path = "dashboard/webhooks.html")]
struct List {
    frame: Frame,
    webhooks: Vec<WebhookView>,
    pager: Pager,
    form: Form,
    events: Vec<&'static str>,
    made: Option<NewSecret>,
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
    revision: String,
}

/// A secret that is shown once.
struct NewSecret {
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

async fn render_list(
    app: &App,
    visitor: &Visitor,
    offset: i64,
    form: Form,
    made: Option<NewSecret>,
) -> Result<Response, PageError> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.webhooks(Paging { limit: ROWS, offset }).await?;
    let webhooks = views(&mut org, &rows.items).await?;
    let shown = List {
        frame: Frame::new(app, visitor, "webhooks", "Webhooks"),
        pager: Pager::new(offset, webhooks.len(), rows.total, ""),
        webhooks,
        form,
        events: all_events(),
        made,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let form = Form::filled(&[
        ("type", "generic"),
        ("events", "build.failed"),
        ("events", "update.published"),
    ]);
    render_list(&app, &visitor, query.paging()?.offset, visitor.form_or(form), None).await
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match make(&app, &visitor, &form_data).await {
        Ok(made) => render_list(&app, &visitor, 0, Form::default().created(), Some(made)).await,
        Err(failure) => render_list(&app, &visitor, 0, Form::refused(form_data, &failure), None).await,
    }
}

fn events(form_data: &FormData) -> Vec<open::EventName> {
    let events: Vec<_> = form_data.all("events").into_iter().map(open::EventName::of).collect();
    if events.iter().any(|event| *event == EventName::All) {
        return vec![EventName::All.into()];
    }
    events
}

async fn make(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<NewSecret, ApiError> {
    let plan = webhooks::plan(
        app,
        &CreateWebhook {
            name: form_data.text("name")?.to_owned(),
            url: form_data.text("url")?.to_owned(),
            events: events(form_data),
            kind: form_data.word("type")?,
            bundle_ids: Some(form_data.list("bundleIds")?),
        },
    )?;
    let (webhook, secret) = Write::run_once(
        app,
        &visitor.caller,
        form_data.once(visitor, "/webhooks")?,
        plan,
        webhooks::create,
    )
    .await?;
    Ok(NewSecret {
        name: webhook.name,
        secret: secret.reveal(),
    })
}

async fn render_detail(visit: &Visit<WebhookId>, offset: i64, form: Option<Form>) -> Result<Response, PageError> {
    let mut tx = visit.app.db.read().await?;
    let mut org = tx.org(visit.org());
    let record = org.webhook(visit.id).await?.ok_or(ApiError::NoSuch("webhook"))?;
    let webhook = view(&mut org, &record).await?;
    let rows = org.deliveries(visit.id, Paging { limit: ROWS, offset }).await?;
    let views = delivery_views(&mut org, &rows.items).await?;
    let bodies = rows.items.into_iter().map(|delivery| delivery.body);
    let delivered: Vec<_> = views
        .into_iter()
        .zip(bodies)
        .map(|(view, body)| Delivered { view, body })
        .collect();
    let form = form.unwrap_or_else(|| visit.visitor.form_or(as_form(&webhook)));
    let shown = One {
        frame: visit.frame("webhooks", &webhook.name),
        pager: Pager::new(offset, delivered.len(), rows.total, ""),
        deliveries: delivered,
        revision: form.revision(&revision(&record)?),
        form,
        webhook,
        events: all_events(),
    };
    Ok(page(shown.form.status(), &shown))
}

/// The webhook as its form shows it.
fn as_form(webhook: &WebhookView) -> Form {
    let bundles = webhook.bundle_ids.join(", ");
    let mut fields = vec![
        ("name", webhook.name.as_str()),
        ("url", &webhook.url),
        ("type", webhook.kind.as_str()),
        ("bundleIds", &bundles),
    ];
    fields.extend(webhook.events.iter().map(|event| ("events", event.as_str())));
    Form::filled(&fields)
}

pub async fn show(visit: Visit<WebhookId>, query: Query) -> Result<Response, PageError> {
    render_detail(&visit, query.paging()?.offset, None).await
}

/// Changes the settings of a webhook, unless somebody else changed it since the page was shown.
pub async fn change(visit: Visit<WebhookId>, form_data: FormData) -> Result<Response, PageError> {
    let form = match replace(&visit, &form_data).await {
        Ok(_) => return Ok(back(&visit, Notice::WEBHOOK_CHANGED)),
        Err(ApiError::Changed) => {
            let differs = differs(&visit, &form_data).await?;
            Form::outdated(form_data, differs)
        }
        Err(failure) => Form::refused_if_bad(form_data, failure)?,
    };
    render_detail(&visit, 0, Some(form)).await
}

/// The typed values that differ from the webhook's current ones.
async fn differs(visit: &Visit<WebhookId>, form_data: &FormData) -> Result<Vec<Difference>, ApiError> {
    let now = visit.app.db.read().await?.org(visit.org()).webhook(visit.id).await?;
    let now = as_form(&WebhookView::of(&now.ok_or(ApiError::NoSuch("webhook"))?, None));
    let listed = |values: Vec<String>| values.join(", ");
    let fields = [
        ("name", "Name"),
        ("url", "URL"),
        ("type", "Format of the messages"),
        ("events", "Events"),
        ("bundleIds", "Only for these apps"),
    ];
    let told =
        fields.map(|(field, what)| Difference::new(what, &listed(form_data.all(field)), &listed(now.values(field))));
    Ok(told.into_iter().filter(|told| told.yours != told.now).collect())
}

/// Redirects to the page of the webhook.
fn back(visit: &Visit<WebhookId>, notice: Notice) -> Response {
    visit.redirect_with_notice(&format!("/webhooks/{}", visit.id), notice)
}

async fn replace(visit: &Visit<WebhookId>, form_data: &FormData) -> Result<Webhook, ApiError> {
    let plan = webhooks::replacement(
        &visit.app,
        &ReplaceWebhook {
            id: Some(visit.id.to_string()),
            status: None,
            name: form_data.text("name")?.to_owned(),
            url: form_data.text("url")?.to_owned(),
            events: events(form_data),
            kind: form_data.word("type")?,
            bundle_ids: Some(form_data.list("bundleIds")?),
            disabled_reason: None,
            created_at: None,
            last_delivery: None,
        },
    )?;
    visit
        .change(async |write, id| {
            super::revision::check(form_data, &revision(&webhooks::lock(write, id).await?)?)?;
            webhooks::replace(write, id, plan).await
        })
        .await
}

pub async fn test(visit: Visit<WebhookId>) -> Result<Response, PageError> {
    visit.change(deliveries::test).await?;
    Ok(back(&visit, Notice::WEBHOOK_TESTED))
}

pub async fn redeliver(
    visit: Visit<WebhookId>,
    Path((_, _, delivery)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let delivery: DeliveryId = delivery.parse().map_err(|_| ApiError::NoSuch("delivery"))?;
    Write::run(&visit.app, &visit.visitor.caller, delivery, deliveries::redeliver).await?;
    Ok(back(&visit, Notice::REDELIVERED))
}
