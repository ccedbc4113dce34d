//! Confirmations: every consequential change has a page that states what it comes to, old value and new, before it is made.
//! The page carries a revision of the facts it states. The change checks it behind its own locks and is refused when the
//! facts are others by then, so that what was confirmed is what happens.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::Arc;

use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use launchway_domain::time::EpochMs;
use launchway_store::{Org, RequestKey};

use super::form_data::FormData;
use super::frame::{Frame, Notice, page, to};
use super::page_error::PageError;
use super::revision::{self, Revision};
use super::visit::Visit;
use super::visitor::Visitor;
use crate::api_error::ApiError;
use crate::app::App;
use crate::blob::Key;
use crate::ops::uploads;
use crate::ops::write::{Creation, Target, Write};

/// What a confirmation says when its facts are no longer true.
const CHANGED: &str = "This changed since you looked at it, so nothing was done. See what it is now, and confirm again if \
                       you still want it.";

/// A change of one thing that is confirmed before it is made.
pub trait Action: Sized + Send + Sync {
    /// The id of the thing.
    type Id: FromStr + Copy + Send + Sync;

    /// Reads what is wanted from the fields of a form or an address.
    fn read(form_data: &FormData) -> Result<Self, ApiError>;

    /// Whose access the change takes away: locked before anything else, in one order with the caller.
    fn target(_: Self::Id) -> Option<Target> {
        None
    }

    /// Waits until nobody else can change what the facts are about. Whoever changes an organization's settings orders
    /// itself by the organization. A target is locked already, and holds what its facts are about.
    fn lock(&self, write: &mut Write<'_>, id: Self::Id) -> impl Future<Output = Result<(), ApiError>> + Send {
        async move {
            match Self::target(id) {
                Some(_) => Ok(()),
                None => Ok(write.org().lock().await?),
            }
        }
    }

    /// States what the change comes to. The change asks again behind its locks.
    fn facts(
        &self,
        org: &mut Org<'_>,
        by: &By<'_>,
        id: Self::Id,
    ) -> impl Future<Output = Result<Facts, ApiError>> + Send;

    /// Makes the change.
    fn make(
        self,
        write: &mut Write<'_>,
        by: &By<'_>,
        id: Self::Id,
    ) -> impl Future<Output = Result<Done, ApiError>> + Send;

    /// Answers a form that cannot be confirmed as it is: by the page it stands on, filled in.
    fn refused(
        _: &Visit<Self::Id>,
        _: FormData,
        failure: ApiError,
    ) -> impl Future<Output = Result<Response, PageError>> + Send {
        async { Err(PageError(failure)) }
    }
}

/// Who asks, and when.
pub struct By<'a> {
    pub visitor: &'a Visitor,
    pub now: EpochMs,
}

/// What a change comes to.
pub struct Facts {
    pub section: &'static str,
    /// Where the thing is shown, behind `/o/{org}`, and its name there.
    pub back: (String, &'static str),
    pub question: String,
    /// What follows from it, in sentences.
    pub says: Vec<String>,
    pub changes: Vec<Change>,
    /// What else is known: name and value.
    pub known: Vec<(&'static str, String)>,
    /// What the change is made from, as [`Action::read`] reads it.
    pub fields: Vec<(&'static str, String)>,
    pub button: String,
    /// Whether it takes something away.
    pub danger: bool,
    pub revision: Revision,
}

impl Facts {
    /// A question about a thing, with the button that answers it.
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

    /// Names the page that the thing is on.
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
    /// What it was when the confirmation was shown that is refused now.
    seen: Option<String>,
    now: String,
    then: String,
}

/// What a change came to.
pub struct Done {
    /// Where it leads, behind `/o/{org}`.
    path: String,
    notice: Notice,
    gone: Vec<Key>,
    secret: Option<String>,
    /// Whether the visitor sees the organization no longer.
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

    /// Leads to the first page: the visitor has left the organization.
    pub fn outside(self) -> Done {
        Done { outside: true, ..self }
    }

    fn location(&self, visitor: &Visitor) -> String {
        match self.outside {
            true => "/".to_owned(),
            false => self.notice.location(visitor, &self.path),
        }
    }

    /// Names the objects to be removed once the change is durable.
    pub fn without(self, gone: Vec<Key>) -> Done {
        Done { gone, ..self }
    }

    /// Hands out a secret, this once.
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
    /// Where the form is sent to.
    action: String,
    problem: Option<String>,
}

impl Confirmation {
    /// Whether the values are told that were seen before.
    fn compares(&self) -> bool {
        self.facts.changes.iter().any(|change| change.seen.is_some())
    }
}

/// A secret that is shown this once.
#[derive(Template)]
#[template(path = "dashboard/secret.html")]
struct Secret {
    frame: Frame,
    back: String,
    secret: String,
}

/// The page of a confirmation, and the form on it.
pub fn handlers<A: Action + 'static>() -> MethodRouter<Arc<App>> {
    get(show::<A>).post(make::<A>)
}

async fn show<A: Action>(visit: Visit<A::Id>, uri: Uri) -> Result<Response, PageError> {
    let address = || FormData::of_pairs(uri.query().unwrap_or_default());
    let asked = visit.visitor.kept().cloned().unwrap_or_else(address);
    match ask::<A>(&visit, &uri, &asked, None).await {
        Ok(response) => Ok(response),
        Err(failure) => A::refused(&visit, asked, failure).await,
    }
}

/// The confirmation as things are now; after a refusal with what was wrong.
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
    // A confirmation that is shown again after a sign-in may have been overtaken meanwhile.
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

fn by<I>(visit: &Visit<I>) -> By<'_> {
    By {
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
        // Things are such now that there is nothing to confirm.
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
            return Ok(to(&location));
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
        None => to(&location),
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
            write.claim(caller.home()?, request).await
        }
        None => Write::begin_create(app, caller, request).await,
    }
}
