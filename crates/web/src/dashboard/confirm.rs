//! Confirmations: before a consequential change, a page shows its effects, the old value and the new one. The page
//! carries a revision of these facts. The change verifies it under its own locks and is refused if the facts have
//! changed, so that exactly what was confirmed happens.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::Arc;

use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::MethodRouter;
use launchway_blob::Key;
use launchway_domain::time::EpochMs;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::uploads;
use launchway_ops::write::{Creation, Target, Write};
use launchway_store::{Org, RequestKey};

use super::form_data::FormData;
use super::frame::{Frame, Notice, page, redirect};
use super::page_error::PageError;
use super::revision::{self, Revision};
use super::visit::Visit;
use super::visitor::Visitor;
use crate::erased_handler::{erase, get};

/// The message of a confirmation whose facts have changed.
const CHANGED: &str = "This changed after you loaded the page, so nothing was done. Review the current state, and \
                       confirm again if you still want it.";

/// A change of one resource that is confirmed first.
pub trait Action: Sized + Send + Sync {
    /// The id of the resource.
    type Id: FromStr + Copy + Send + Sync;

    /// Parses the requested change from the fields of a form or a query.
    fn read(form_data: &FormData) -> Result<Self, ApiError>;

    /// The user whose access the change ends: locked before anything else, in one order with the caller.
    fn target(_: Self::Id) -> Option<Target> {
        None
    }

    /// Locks what the facts are about. Changes of an organization's settings are serialized by the organization. A
    /// target is locked already, and covers its own facts.
    fn lock(&self, write: &mut Write<'_>, id: Self::Id) -> impl Future<Output = Result<(), ApiError>> + Send {
        async move {
            match Self::target(id) {
                Some(_) => Ok(()),
                None => Ok(write.org().lock().await?),
            }
        }
    }

    /// States the effects of the change. The change compares them again under its locks.
    fn facts(
        &self,
        org: &mut Org<'_>,
        by: &Requester<'_>,
        id: Self::Id,
    ) -> impl Future<Output = Result<Facts, ApiError>> + Send;

    /// Makes the change.
    fn make(
        self,
        write: &mut Write<'_>,
        by: &Requester<'_>,
        id: Self::Id,
    ) -> impl Future<Output = Result<Done, ApiError>> + Send;

    /// Answers a form that cannot be confirmed in the current state: with the page of the form, filled in.
    fn refused(
        _: &Visit<Self::Id>,
        _: FormData,
        failure: ApiError,
    ) -> impl Future<Output = Result<Response, PageError>> + Send {
        async { Err(PageError(failure)) }
    }
}

/// Who requests the change, and when.
pub struct Requester<'a> {
    pub visitor: &'a Visitor,
    pub now: EpochMs,
}

/// The effects of a change.
pub struct Facts {
    pub section: &'static str,
    /// The page of the resource: its path after `/o/{org}`, and its label.
    pub back: (String, &'static str),
    pub question: String,
    /// The consequences, in sentences.
    pub says: Vec<String>,
    pub changes: Vec<Change>,
    /// Further details: name and value.
    pub known: Vec<(&'static str, String)>,
    /// The fields from which [`Action::read`] parses the change.
    pub fields: Vec<(&'static str, String)>,
    pub button: String,
    /// Whether the change is destructive.
    pub danger: bool,
    pub revision: Revision,
}

impl Facts {
    /// A question about a resource, with the button that confirms the change.
    pub fn new(question: impl Into<String>, button: impl Into<String>, revision: Revision) -> Facts {
        Facts {
            section: "overview",
            back: (String::new(), "Overview"),
            question: question.into(),
            says: Vec::new(),
            changes: Vec::new(),
            known: Vec::new(),
            fields: Vec::new(),
            button: button.into(),
            danger: false,
            revision,
        }
    }

    /// Sets the page of the resource.
    pub fn on(mut self, section: &'static str, path: impl Into<String>, label: &'static str) -> Facts {
        self.section = section;
        self.back = (path.into(), label);
        self
    }

    pub fn says(mut self, sentence: impl Into<String>) -> Facts {
        self.says.push(sentence.into());
        self
    }

    pub fn change(mut self, what: &'static str, now: impl ToString, then: impl ToString) -> Facts {
        self.changes.push(Change {
            what,
            seen: None,
            now: now.to_string(),
            then: then.to_string(),
        });
        self
    }

    pub fn known(mut self, what: &'static str, value: impl ToString) -> Facts {
        self.known.push((what, value.to_string()));
        self
    }

    pub fn field(mut self, name: &'static str, value: impl ToString) -> Facts {
        self.fields.push((name, value.to_string()));
        self
    }

    pub fn danger(mut self) -> Facts {
        self.danger = true;
        self
    }
}

/// A value that changes.
pub struct Change {
    what: &'static str,
    /// The value in the confirmation that is refused now.
    seen: Option<String>,
    now: String,
    then: String,
}

/// The result of a change.
pub struct Done {
    /// The destination, after `/o/{org}`.
    path: String,
    notice: Notice,
    gone: Vec<Key>,
    secret: Option<String>,
    /// Whether the visitor has lost access to the organization.
    outside: bool,
}

impl Done {
    pub fn new(path: impl Into<String>, notice: Notice) -> Done {
        Done {
            path: path.into(),
            notice,
            gone: Vec::new(),
            secret: None,
            outside: false,
        }
    }

    /// Redirects to the first page, because the visitor has left the organization.
    pub fn outside(self) -> Done {
        Done { outside: true, ..self }
    }

    fn location(&self, visitor: &Visitor) -> String {
        match self.outside {
            true => "/".to_owned(),
            false => self.notice.location(visitor, &self.path),
        }
    }

    /// Sets the objects to be removed once the change is durable.
    pub fn without(self, gone: Vec<Key>) -> Done {
        Done { gone, ..self }
    }

    /// Adds a secret that is shown once.
    pub fn with_secret(self, secret: String) -> Done {
        Done {
            secret: Some(secret),
            ..self
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard/confirm.html")]
struct Confirmation {
    frame: Frame,
    facts: Facts,
    /// The target URL of the form.
    action: String,
    problem: Option<String>,
}

impl Confirmation {
    /// Whether the page shows the values that were seen before.
    fn compares(&self) -> bool {
        self.facts.changes.iter().any(|change| change.seen.is_some())
    }
}

/// A secret that is shown once.
#[derive(Template)]
#[template(path = "dashboard/secret.html")]
struct Secret {
    frame: Frame,
    back: String,
    secret: String,
}

/// The handlers of a confirmation page and its form.
pub fn handlers<A: Action + 'static>() -> MethodRouter<Arc<App>> {
    get(show::<A>).post(erase(make::<A>))
}

async fn show<A: Action>(visit: Visit<A::Id>, uri: Uri) -> Result<Response, PageError> {
    let address = || FormData::of_pairs(uri.query().unwrap_or_default());
    let asked = visit.visitor.kept().cloned().unwrap_or_else(address);
    match ask::<A>(&visit, &uri, &asked, None).await {
        Ok(response) => Ok(response),
        Err(failure) => A::refused(&visit, asked, failure).await,
    }
}

/// Shows the confirmation for the current state; after a refusal with the error.
async fn ask<A: Action>(
    visit: &Visit<A::Id>,
    uri: &Uri,
    form_data: &FormData,
    refusal: Option<(StatusCode, String)>,
) -> Result<Response, ApiError> {
    let by = by(visit);
    let action = A::read(form_data)?;
    let mut tx = visit.app.db.read().await?;
    let mut facts = action.facts(&mut tx.org(visit.org()), &by, visit.id).await?;
    // A confirmation that is shown again after a sign-in may be outdated.
    let overtaken = form_data.bytes("revision").is_some() && revision::check(form_data, &facts.revision).is_err();
    let (status, problem) = match refusal {
        Some((status, problem)) => (status, Some(problem)),
        None => (StatusCode::OK, overtaken.then(|| CHANGED.to_owned())),
    };
    if overtaken {
        let mut seen: VecDeque<String> = form_data.all("seen").into();
        for change in &mut facts.changes {
            change.seen = seen.pop_front();
        }
    }
    let shown = Confirmation {
        frame: visit.frame(facts.section, facts.question.clone()),
        facts,
        action: uri.path().to_owned(),
        problem,
    };
    Ok(page(status, &shown))
}

fn by<I>(visit: &Visit<I>) -> Requester<'_> {
    Requester {
        visitor: &visit.visitor,
        now: visit.app.clock.now(),
    }
}

async fn make<A: Action>(visit: Visit<A::Id>, uri: Uri, form_data: FormData) -> Result<Response, PageError> {
    let failure = match apply::<A>(&visit, &uri, &form_data).await {
        Ok(response) => return Ok(response),
        Err(failure) => failure,
    };
    let words = match &failure {
        ApiError::Changed => CHANGED.to_owned(),
        ApiError::BadRequest(words) => words.clone(),
        _ => return Err(PageError(failure)),
    };
    match ask::<A>(&visit, &uri, &form_data, Some((failure.status().0, words))).await {
        Ok(response) => Ok(response),
        // In the current state there is nothing to confirm.
        Err(ApiError::BadRequest(words)) => A::refused(&visit, form_data, ApiError::BadRequest(words)).await,
        Err(failure) => Err(PageError(failure)),
    }
}

async fn apply<A: Action>(visit: &Visit<A::Id>, uri: &Uri, form_data: &FormData) -> Result<Response, ApiError> {
    let (action, by) = (A::read(form_data)?, by(visit));
    let home = visit.visitor.home();
    let path = uri.path().strip_prefix(&home).unwrap_or_default();
    let request = form_data.once(&visit.visitor, path)?;
    let mut write = match begin(visit, A::target(visit.id), request).await? {
        Creation::New(write) => write,
        Creation::Replay(kept) => {
            let location: String =
                serde_json::from_str(&kept.body).map_err(|error| ApiError::Internal(error.to_string()))?;
            return Ok(redirect(&location));
        }
    };
    action.lock(&mut write, visit.id).await?;
    let facts = action.facts(&mut write.org(), &by, visit.id).await?;
    revision::check(form_data, &facts.revision)?;
    let made = action.make(&mut write, &by, visit.id).await?;
    let location = made.location(&visit.visitor);
    write.commit_created(&location).await?;
    for key in &made.gone {
        uploads::remove(&visit.app, key).await;
    }
    Ok(match made.secret {
        None => redirect(&location),
        Some(secret) => page(
            StatusCode::CREATED,
            &Secret {
                frame: visit.frame(facts.section, "The new secret"),
                back: made.path,
                secret,
            },
        ),
    })
}

async fn begin<I>(
    visit: &Visit<I>,
    target: Option<Target>,
    request: Option<RequestKey>,
) -> Result<Creation<'_>, ApiError> {
    let (app, caller) = (&*visit.app, &visit.visitor.caller);
    match target {
        Some(target) => {
            let write = Write::begin_against(app, caller, target).await?;
            write.claim(caller.org_id()?, request).await
        }
        None => Write::begin_create(app, caller, request).await,
    }
}
