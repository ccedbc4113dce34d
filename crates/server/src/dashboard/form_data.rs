//! A form that was sent: its fields, and after a refusal what was typed and what is wrong where.

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use launchway_api::open::Open;
use launchway_domain::words::Word;
use launchway_store::RequestKey;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::page_error::PageError;
use super::parts::{FormParts, too_large};
use super::revision::Revision;
use super::visitor::Visitor;
use crate::api_error::ApiError;
use crate::http::extract::Query;
use crate::http::pages::FOREIGN_FORM;
use crate::http::request_body::whole_body;

/// A form holds at most this many bytes; files among them. A value of an environment variable has up to 64 KiB, and each
/// byte may be escaped.
pub const LARGEST: usize = 2 << 20;
/// Fields of a form of pairs.
const MOST_PAIRS: usize = 1000;
/// Where a script that sends no form has the token.
const TOKEN_HEADER: &str = "x-form-token";

/// Why a form is not taken.
pub enum Unchecked {
    /// Its token is not that of the session it comes with.
    Other(FormData),
    /// It cannot be read.
    Bad(PageError),
}

impl<E: Into<ApiError>> From<E> for Unchecked {
    fn from(error: E) -> Self {
        Unchecked::Bad(PageError(error.into()))
    }
}

/// The fields of a form, each name once or more.
#[derive(Clone, Default)]
pub struct FormData(Vec<(String, Zeroizing<Vec<u8>>)>);

impl FormData {
    /// Reads the form of a request and checks its token. What is no form must have the token in a header; its body is
    /// left to be read.
    pub async fn read_checked(request: Request, token: &str) -> Result<Request, Unchecked> {
        let kind = content_type(request.headers());
        let is_form = kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data";
        if !is_form {
            let given = request.headers().get(TOKEN_HEADER);
            same(given.map(|value| value.as_bytes()).unwrap_or_default(), token)?;
            return Ok(request);
        }
        let (parts, body) = request.into_parts();
        let bytes = whole_body(&parts.headers, body, LARGEST, "The form is too large").await?;
        let form_data = if kind == "multipart/form-data" {
            let whole = Request::from_parts(parts.clone(), axum::body::Body::from(bytes));
            FormData::of_parts(whole).await?
        } else {
            FormData::of_form(&bytes)?
        };
        if form_data.check(token).is_err() {
            return Err(Unchecked::Other(form_data));
        }
        let mut request = Request::from_parts(parts, axum::body::Body::empty());
        request.extensions_mut().insert(form_data);
        Ok(request)
    }

    /// The fields of a query.
    pub fn of_pairs(text: &str) -> FormData {
        let pairs = Query::parse(text).into_pairs().into_iter();
        FormData(
            pairs
                .map(|(name, value)| (String::from_utf8_lossy(&name).into_owned(), Zeroizing::new(value)))
                .collect(),
        )
    }

    /// The fields of a body of pairs.
    pub fn of_form(bytes: &[u8]) -> Result<FormData, ApiError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ApiError::bad("The form is not valid UTF-8"))?;
        // Each field takes far more memory than its bytes in the body.
        if text.matches('&').nth(MOST_PAIRS).is_some() {
            return Err(too_large());
        }
        Ok(FormData::of_pairs(text))
    }

    async fn of_parts(request: Request) -> Result<FormData, ApiError> {
        let mut parts = FormParts::of(request).await?;
        let mut form_data = FormData::default();
        while let Some(part) = parts.next().await? {
            let name = part.name();
            form_data.add(name, part.whole(LARGEST).await?);
        }
        Ok(form_data)
    }

    /// Every field that is text, in the order of the form.
    pub fn fields(&self) -> Vec<(String, String)> {
        let text = |value: &[u8]| std::str::from_utf8(value).map(str::to_owned);
        let fields = self.0.iter();
        fields
            .filter_map(|(name, value)| Some((name.clone(), text(value).ok()?)))
            .collect()
    }

    /// Under what the answer is kept, so that a form that is sent twice is one change.
    pub fn once(&self, visitor: &Visitor, path: &str) -> Result<Option<RequestKey>, ApiError> {
        let key = self.optional("once")?;
        Ok(key.filter(|key| key.len() <= 100).map(|key| RequestKey {
            caller: visitor.caller.actor().to_string(),
            method: "POST".to_owned(),
            path: format!("{}{path}", visitor.home()),
            key,
            // The key is this server's own: no other form carries it.
            body_hash: String::new(),
        }))
    }

    /// Adds a field that was read elsewhere.
    pub fn add(&mut self, name: String, value: Vec<u8>) {
        self.0.push((name, Zeroizing::new(value)));
    }

    /// Refuses a form without the token of the page it claims to come from.
    pub fn check(&self, token: &str) -> Result<(), ApiError> {
        same(self.text("token")?.as_bytes(), token)
    }

    /// A field that holds a list, with commas or line ends between.
    pub fn list(&self, name: &str) -> Result<Vec<String>, ApiError> {
        let items = self.text(name)?.split([',', '\n']).map(str::trim);
        Ok(items.filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    /// The bytes of a field; `None` without it.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let field = self.0.iter().find(|(given, _)| given == name);
        field.map(|(_, value)| value.as_slice())
    }

    /// A field as text without blanks around it; empty without it.
    pub fn text(&self, name: &str) -> Result<&str, ApiError> {
        let text = std::str::from_utf8(self.bytes(name).unwrap_or_default());
        Ok(text
            .map_err(|_| ApiError::bad(format!("{name} is not valid UTF-8")))?
            .trim())
    }

    /// A field that may be left empty.
    pub fn optional(&self, name: &str) -> Result<Option<String>, ApiError> {
        Ok(Some(self.text(name)?)
            .filter(|text| !text.is_empty())
            .map(str::to_owned))
    }

    /// A word that may be left empty; whether it is a known one is looked at elsewhere.
    pub fn word<T: Word>(&self, name: &str) -> Result<Option<Open<T>>, ApiError> {
        Ok(self.optional(name)?.map(Open::of))
    }

    /// A whole percent that may be left empty; whether it is one that can be is looked at elsewhere.
    pub fn percent(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let typed = self.optional(name)?.map(|percent| percent.parse());
        typed
            .transpose()
            .map_err(|_| ApiError::bad(format!("{name} must be a whole percent from 1 to 100")))
    }

    /// All values of a field, such as the boxes that were ticked.
    pub fn all(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(given, _)| given == name);
        values
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .collect()
    }
}

pub fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

fn same(given: &[u8], token: &str) -> Result<(), ApiError> {
    if bool::from(given.ct_eq(token.as_bytes())) {
        return Ok(());
    }
    Err(ApiError::Forbidden(FOREIGN_FORM.to_owned()))
}

impl<S: Sync> FromRequestParts<S> for FormData {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        let form_data = parts.extensions.get::<FormData>().cloned();
        form_data.ok_or_else(|| PageError(ApiError::bad("Send the form of the page")))
    }
}

/// A value that was typed by the sight of another one than there is now.
pub struct Differs {
    pub what: String,
    pub yours: String,
    pub now: String,
}

impl Differs {
    /// What was typed, and what there is.
    pub fn new(what: &str, yours: &impl ToString, now: &impl ToString) -> Differs {
        Differs {
            what: what.to_owned(),
            yours: yours.to_string(),
            now: now.to_string(),
        }
    }
}

/// A form as a page shows it: empty at first, after a refusal with what was typed and what is wrong.
#[derive(Default)]
pub struct Form {
    typed: FormData,
    problem: Option<String>,
    status: StatusCode,
    differs: Vec<Differs>,
}

/// What a form says that was filled in by the sight of an older state.
const OUTDATED: &str = "Somebody changed this since you opened the page, so nothing was saved. The form has what you typed; \
                        send it again to replace what there is now.";

impl Form {
    /// The form again, refused.
    pub fn refused(typed: FormData, failure: &ApiError) -> Form {
        Form {
            typed,
            problem: Some(failure.body().message),
            status: failure.status().0,
            ..Form::default()
        }
    }

    /// The form again, refused because what it changes is not what it was.
    pub fn outdated(typed: FormData, differs: Vec<Differs>) -> Form {
        Form {
            problem: Some(OUTDATED.to_owned()),
            status: ApiError::Changed.status().0,
            differs,
            ..Form::typed(typed)
        }
    }

    /// The revision that the form of a page carries: that of what there is, or the one by whose sight it was filled in.
    pub fn revision(&self, now: &Revision) -> String {
        match self.differs.is_empty() {
            true => self.value_or("revision", now.as_str()),
            false => now.as_str().to_owned(),
        }
    }

    /// Values that were typed and are others by now.
    pub fn differs(&self) -> &[Differs] {
        &self.differs
    }

    /// The form again, which asks whether to replace what there is.
    pub fn asking(typed: FormData, differs: Vec<Differs>) -> Form {
        Form {
            problem: None,
            ..Form::outdated(typed, differs)
        }
    }

    /// The same where what was typed is to blame; any other failure is given back.
    pub fn refused_if_bad(typed: FormData, failure: ApiError) -> Result<Form, ApiError> {
        match failure.status().0 {
            StatusCode::BAD_REQUEST => Ok(Form::refused(typed, &failure)),
            _ => Err(failure),
        }
    }

    /// The form with what was typed, which was good.
    pub fn typed(typed: FormData) -> Form {
        Form {
            typed,
            ..Form::default()
        }
    }

    /// A form that is filled in to begin with.
    pub fn filled(fields: &[(&str, &str)]) -> Form {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), Zeroizing::new(value.as_bytes().to_vec()));
        Form::typed(FormData(fields.iter().map(pair).collect()))
    }

    /// The form beside what was just made.
    pub fn created(self) -> Form {
        Form {
            status: StatusCode::CREATED,
            ..self
        }
    }

    /// The status of a page with this form.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// What is wrong, if anything is.
    pub fn message(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// What was typed into a field, or else what stands there.
    pub fn value_or(&self, name: &str, there: impl ToString) -> String {
        match self.typed.bytes(name) {
            Some(_) => self.value(name),
            None => there.to_string(),
        }
    }

    /// What was typed into a field.
    pub fn value(&self, name: &str) -> String {
        self.typed.text(name).unwrap_or_default().to_owned()
    }

    /// What was typed into fields of the same name, in the page's order.
    pub fn values(&self, name: &str) -> Vec<String> {
        self.typed.all(name)
    }

    /// Whether this value of a field was chosen.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.typed.all(name).iter().any(|given| given == value)
    }

    /// What is wrong with a field: messages begin with its name.
    pub fn wrong(&self, name: &str) -> Option<&str> {
        let problem = self.problem.as_deref()?;
        let rest = problem.strip_prefix(name)?;
        rest.starts_with([' ', ':', '[', '.']).then_some(problem)
    }

    /// What is wrong, where no field of these is to blame.
    pub fn problem<const N: usize>(&self, fields: &[&str; N]) -> Option<&str> {
        let problem = self.problem.as_deref()?;
        fields.iter().all(|name| self.wrong(name).is_none()).then_some(problem)
    }
}
