//! `/o/{org}/env`: environment variables of builds. The value of a secret is never shown, not even as it was typed.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_domain::env_var::{EnvVar, MAX_VALUE_SIZE};
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::env_vars;
use launchway_ops::write::Write;
use launchway_store::Paging;
use launchway_vault::Place;

use super::form_data::{Difference, Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::revision::Revision;
use super::show::{self, Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

#[derive(Template)]
#[template(path = "dashboard/env.html")]
struct Variables {
    frame: Frame,
    variables: Vec<EnvVarView>,
    /// The configurations with a box of their own.
    configurations: Vec<String>,
    pager: Pager,
    form: Form,
    asks: Option<Asks>,
}

/// The state of a form that is shown again, because it asks whether to replace a variable or was refused.
struct Asks {
    /// The question, if the variable existed before the page was opened.
    question: Option<String>,
    /// The revision of the variable; empty if it no longer exists.
    replaces: String,
    /// The typed value, sealed for the user, if the form does not show it.
    value: Option<String>,
}

impl Variables {
    /// The typed configurations that have no box of their own.
    fn other_configurations(&self) -> String {
        let mut others = split(&self.form.values("configurations"));
        others.retain(|name| !self.configurations.contains(name));
        others.join(", ")
    }

    /// Whether the form carries a hidden value.
    fn hides_value(&self) -> bool {
        self.asks.as_ref().is_some_and(|asks| asks.value.is_some())
    }

    /// Whether the form replaces an existing variable.
    fn replaces(&self) -> bool {
        self.asks.as_ref().is_some_and(|asks| !asks.replaces.is_empty())
    }
}

/// The names in lists that are separated by commas.
fn split(lists: &[String]) -> Vec<String> {
    let names = lists.iter().flat_map(|list| list.split([',', '\n'])).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The configurations that are ticked or typed.
fn configurations(form_data: &FormData) -> Vec<String> {
    split(&form_data.all("configurations"))
}

/// The scope of a variable, as words.
pub fn scope(variable: &EnvVarView) -> String {
    let mut parts: Vec<String> = variable.bundle_id.iter().cloned().collect();
    parts.extend(variable.configurations.iter().cloned());
    let platforms = variable.platforms.iter();
    parts.extend(platforms.map(show::platform));
    if parts.is_empty() {
        return "every build".to_owned();
    }
    parts.join(", ")
}

/// The revision of a variable. A change of its value changes the time in it.
pub fn revision(variable: &EnvVar) -> Result<Revision, ApiError> {
    Revision::of(&EnvVarView::of(variable, None))
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    offset: i64,
    form: Form,
    asks: Option<Asks>,
) -> Result<Response, PageError> {
    let paging = Paging { limit: ROWS, offset };
    let mut tx = app.db.read().await?;
    let rows = tx.org(visitor.org.id).env_vars(paging).await?;
    let configurations = tx.org(visitor.org.id).configurations().await?;
    let mut variables = Vec::with_capacity(rows.items.len());
    for kept in &rows.items {
        variables.push(env_vars::view(app, &mut tx, visitor.org.id, kept).await?);
    }
    let shown = Variables {
        frame: Frame::new(app, visitor, "env", "Environment"),
        pager: Pager::new(offset, variables.len(), rows.total, ""),
        variables,
        configurations,
        form,
        asks,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let form = Form::filled(&[("visibility", "secret"), ("kind", "variable")]);
    render_page(&app, &visitor, query.paging()?.offset, visitor.form_or(form), None).await
}

/// The result of a form.
enum Sent {
    Kept,
    /// It would replace a value other than the one that the page showed: this one, or none any more.
    Asks(Option<Box<EnvVar>>),
}

pub async fn set(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match keep(&app, &visitor, &form_data).await {
        Ok(Sent::Kept) => Ok(redirect_with_notice(&visitor, "/env", Notice::VARIABLE_SET)),
        Ok(Sent::Asks(there)) => {
            let asks = asks(&app, &visitor, &form_data, there.as_deref())?;
            let differs = differs(&form_data, there.as_deref())?;
            let form = match asks.question {
                Some(_) => Form::asking(form_data, differs),
                None => Form::outdated(form_data, differs),
            };
            render_page(&app, &visitor, 0, form, Some(asks)).await
        }
        Err(failure) => {
            let asks = carried_value(&app, &visitor, &form_data)?;
            render_page(&app, &visitor, 0, Form::refused(form_data, &failure), asks).await
        }
    }
}

/// The place to which the sealed value in a form is bound.
fn place(visitor: &Visitor) -> Place<'static> {
    Place::new(visitor.org.id, "typed value")
}

/// The typed value, from this form or from the one before the question.
fn value(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<SecretText, ApiError> {
    let typed = form_data.bytes("value").unwrap_or_default();
    let sealed = form_data.text("sealedValue")?;
    let opened = match typed.is_empty() && !sealed.is_empty() {
        true => {
            let opened = app.vault.open_kept_form(visitor.user()?.1.id, &place(visitor), sealed);
            Some(opened.map_err(|_| ApiError::bad("value was not kept; enter it again"))?)
        }
        false => None,
    };
    let bytes = opened.as_deref().map_or(typed, Vec::as_slice);
    let value = std::str::from_utf8(bytes).map_err(|_| ApiError::bad("value is not valid UTF-8"))?;
    // Browsers send line ends as CRLF, whatever was typed.
    Ok(SecretText::new(value.replace("\r\n", "\n")))
}

fn asks(app: &App, visitor: &Visitor, form_data: &FormData, there: Option<&EnvVar>) -> Result<Asks, ApiError> {
    let value = value(app, visitor, form_data)?;
    let is_first = form_data.optional("replaces")?.is_none();
    Ok(Asks {
        question: there.filter(|_| is_first).map(|there| {
            let name = &there.name;
            format!("{name} is already set for these builds, so nothing was saved. Send the form again to replace it.")
        }),
        replaces: there
            .map(revision)
            .transpose()?
            .map(|now| now.as_str().to_owned())
            .unwrap_or_default(),
        value: seal_value(app, visitor, form_data, &value)?,
    })
}

/// The value, sealed for the visitor; `None` if the form shows it as it was typed.
fn seal_value(
    app: &App,
    visitor: &Visitor,
    form_data: &FormData,
    value: &SecretText,
) -> Result<Option<String>, ApiError> {
    if form_data.text("visibility")? == "plain" && !form_data.text("value")?.is_empty() {
        return Ok(None);
    }
    let user = visitor.user()?.1.id;
    let sealed = app
        .vault
        .seal_kept_form(user, &place(visitor), value.reveal().as_bytes());
    Ok(Some(sealed))
}

/// The value of a form that was refused for another reason, so that it need not be typed again.
fn carried_value(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<Option<Asks>, ApiError> {
    let typed = value(app, visitor, form_data).ok();
    let typed = typed.filter(|value| (1..=MAX_VALUE_SIZE).contains(&value.reveal().len()));
    let Some(typed) = typed else { return Ok(None) };
    Ok(Some(Asks {
        question: None,
        replaces: form_data.optional("replaces")?.unwrap_or_default(),
        value: seal_value(app, visitor, form_data, &typed)?,
    }))
}

/// The current settings beside the typed ones, without values.
fn differs(form_data: &FormData, there: Option<&EnvVar>) -> Result<Vec<Difference>, ApiError> {
    let name = form_data.text("name")?;
    let Some(there) = there else {
        return Ok(vec![Difference::new(name, &"yours", &"deleted meanwhile")]);
    };
    let set = format!("set {}", show::time(&iso(there.updated_at)));
    let readers = |visibility: &str| match visibility {
        "plain" => "admins, too",
        _ => "only builds",
    };
    let kind = |kind: &str| match kind {
        "file" => "as a file",
        _ => "as a variable",
    };
    let (typed, now) = (form_data.text("visibility")?, there.visibility.as_str());
    let mut differs = vec![
        Difference::new("Who may read it", &readers(typed), &readers(now)),
        Difference::new(
            "How builds get it",
            &kind(form_data.text("kind")?),
            &kind(there.kind.as_str()),
        ),
    ];
    differs.retain(|differs| differs.yours != differs.now);
    differs.insert(0, Difference::new(name, &"what you typed", &set));
    Ok(differs)
}

async fn keep(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<Sent, ApiError> {
    let some = |list: Vec<String>| Some(list).filter(|list| !list.is_empty());
    let platforms: Vec<_> = form_data.all("platforms").into_iter().map(open::Platform::of).collect();
    let plan = env_vars::plan(SetEnvVar {
        name: form_data.text("name")?.to_owned(),
        value: value(app, visitor, form_data)?,
        kind: form_data.word("kind")?,
        path: form_data.optional("path")?,
        visibility: form_data.word("visibility")?,
        bundle_id: form_data.optional("bundleId")?,
        configurations: some(configurations(form_data)),
        platforms: (!platforms.is_empty()).then_some(platforms),
    })?;
    let expected = form_data.optional("replaces")?;
    Write::run(app, &visitor.caller, plan, async |write, plan| {
        let there = env_vars::find_existing(write, &plan).await?;
        let now = there.as_ref().map(revision).transpose()?;
        if now.as_ref().map(Revision::as_str) != expected.as_deref() {
            return Ok(Sent::Asks(there.map(Box::new)));
        }
        env_vars::set(write, plan).await?;
        Ok(Sent::Kept)
    })
    .await
}
