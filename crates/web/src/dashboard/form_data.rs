//! A submitted form: its fields, and after a refusal the typed values with the errors.

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use launchway_api::open::Open;
use launchway_domain::words::Word;
use launchway_ops::api_error::ApiError;
use launchway_store::RequestKey;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::page_error::PageError;
use super::parts::{FormParts, too_large};
use super::revision::Revision;
use super::visitor::Visitor;
use crate::query::Query;
use crate::request_body::whole_body;
use crate::same_site::FOREIGN_FORM;

/// The maximum size of a form in bytes, including files. A value of an environment variable has up to 64 KiB, and each
/// byte may be escaped.
pub const MAX_FORM_BYTES: usize = 2 << 20;
/// The maximum number of fields in a URL-encoded form.
const MAX_PAIRS: usize = 1000;
/// The choice of a list that stands for a value typed beside it. No name that is chosen can begin like this.
pub const OTHER: &str = "+other";
/// The header with the token, for scripts that send no form.
const TOKEN_HEADER: &str = "x-form-token";

/// Why a form is refused.
pub enum FormError {
    /// Its token belongs to another session than the request.
    Other(FormData),
    /// It cannot be parsed.
    Bad(PageError),
}

impl<E: Into<ApiError>> From<E> for FormError {
    fn from(error: E) -> Self {
        FormError::Bad(PageError(error.into()))
    }
}

/// The fields of a form; a name may be repeated.
#[derive(Clone, Default)]
pub struct FormData(Vec<(String, Zeroizing<Vec<u8>>)>);

impl FormData {
    /// Reads the form of a request and verifies its token. A request without a form must have the token in a header;
    /// its body is left unread.
    pub async fn read_checked(request: Request, token: &str) -> Result<Request, FormError> {
        let kind = content_type(request.headers());
        let is_form = kind == "application/x-www-form-urlencoded" || kind == "multipart/form-data";
        if !is_form {
            let given = request.headers().get(TOKEN_HEADER);
            same(given.map(|value| value.as_bytes()).unwrap_or_default(), token)?;
            return Ok(request);
        }
        let (parts, body) = request.into_parts();
        let bytes = whole_body(&parts.headers, body, MAX_FORM_BYTES, "The form is too large").await?;
        let form_data = if kind == "multipart/form-data" {
            let whole = Request::from_parts(parts.clone(), axum::body::Body::from(bytes));
            FormData::of_parts(whole).await?
        } else {
            FormData::of_form(&bytes)?
        };
        if form_data.check(token).is_err() {
            return Err(FormError::Other(form_data));
        }
        let mut request = Request::from_parts(parts, axum::body::Body::empty());
        request.extensions_mut().insert(form_data);
        Ok(request)
    }

    /// Parses the fields of a query.
    pub fn of_pairs(text: &str) -> FormData {
        let pairs = Query::parse(text).into_pairs().into_iter();
        FormData(
            pairs
                .map(|(name, value)| (String::from_utf8_lossy(&name).into_owned(), Zeroizing::new(value)))
                .collect(),
        )
    }

    /// Parses the fields of a URL-encoded body.
    pub fn of_form(bytes: &[u8]) -> Result<FormData, ApiError> {
        let text = std::str::from_utf8(bytes).map_err(|_| ApiError::bad("The form is not valid UTF-8"))?;
        // Each field takes far more memory than its bytes in the body.
        if text.matches('&').nth(MAX_PAIRS).is_some() {
            return Err(too_large());
        }
        Ok(FormData::of_pairs(text))
    }

    async fn of_parts(request: Request) -> Result<FormData, ApiError> {
        let mut parts = FormParts::of(request).await?;
        let mut form_data = FormData::default();
        while let Some(part) = parts.next().await? {
            let name = part.name();
            form_data.add(name, part.whole(MAX_FORM_BYTES).await?);
        }
        Ok(form_data)
    }

    /// Every text field, in the order of the form.
    pub fn fields(&self) -> Vec<(String, String)> {
        let text = |value: &[u8]| std::str::from_utf8(value).map(str::to_owned);
        let fields = self.0.iter();
        fields
            .filter_map(|(name, value)| Some((name.clone(), text(value).ok()?)))
            .collect()
    }

    /// The idempotency key of the form, so that a form that is sent twice is one change.
    pub fn once(&self, visitor: &Visitor, path: &str) -> Result<Option<RequestKey>, ApiError> {
        let key = self.optional("once")?;
        Ok(key.filter(|key| key.len() <= 100).map(|key| RequestKey {
            caller: visitor.caller.actor().to_string(),
            method: "POST".to_owned(),
            path: format!("{}{path}", visitor.home()),
            key,
            // The server generated the key: no other form has it.
            body_hash: String::new(),
        }))
    }

    /// Adds a field that was read elsewhere.
    pub fn add(&mut self, name: String, value: Vec<u8>) {
        self.0.push((name, Zeroizing::new(value)));
    }

    /// Refuses a form without the token of the page that it claims to come from.
    pub fn check(&self, token: &str) -> Result<(), ApiError> {
        same(self.text("token")?.as_bytes(), token)
    }

    /// A field with a list, separated by commas or line ends.
    pub fn list(&self, name: &str) -> Result<Vec<String>, ApiError> {
        let items = self.text(name)?.split([',', '\n']).map(str::trim);
        Ok(items.filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    /// The bytes of a field; `None` if it is missing.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        let field = self.0.iter().find(|(given, _)| given == name);
        field.map(|(_, value)| value.as_slice())
    }

    /// A field as trimmed text; empty if it is missing.
    pub fn text(&self, name: &str) -> Result<&str, ApiError> {
        let text = std::str::from_utf8(self.bytes(name).unwrap_or_default());
        Ok(text
            .map_err(|_| ApiError::bad(format!("{name} is not valid UTF-8")))?
            .trim())
    }

    /// An optional field; `None` if it is empty.
    pub fn optional(&self, name: &str) -> Result<Option<String>, ApiError> {
        Ok(Some(self.text(name)?)
            .filter(|text| !text.is_empty())
            .map(str::to_owned))
    }

    /// An optional field with a list of choices: the chosen value, or the one that is typed beside the list.
    pub fn choice(&self, name: &str) -> Result<Option<String>, ApiError> {
        match self.optional(name)? {
            Some(chosen) if chosen == OTHER => self.optional(&format!("{name}Other")),
            chosen => Ok(chosen),
        }
    }

    /// An optional word; whether it is known is checked elsewhere.
    pub fn word<T: Word>(&self, name: &str) -> Result<Option<Open<T>>, ApiError> {
        Ok(self.optional(name)?.map(Open::of))
    }

    /// An optional whole percentage; its range is checked elsewhere.
    pub fn percent(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let typed = self.optional(name)?.map(|percent| percent.parse());
        typed
            .transpose()
            .map_err(|_| ApiError::bad(format!("{name} must be a whole percent from 1 to 100")))
    }

    /// All values of a field, such as ticked boxes.
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
        form_data.ok_or_else(|| PageError(ApiError::bad("Use the form of the page")))
    }
}

/// A typed value whose original value has changed since.
pub struct Difference {
    pub what: String,
    pub yours: String,
    pub now: String,
}

impl Difference {
    /// Compares the typed and the current value.
    pub fn new(what: &str, yours: &impl ToString, now: &impl ToString) -> Difference {
        Difference {
            what: what.to_owned(),
            yours: yours.to_string(),
            now: now.to_string(),
        }
    }
}

/// A form as a page shows it: empty at first, after a refusal with the typed values and the errors.
#[derive(Default)]
pub struct Form {
    typed: FormData,
    problem: Option<String>,
    status: StatusCode,
    differs: Vec<Difference>,
}

/// The message of a form that was filled in from an outdated page.
const OUTDATED: &str = "Somebody changed this after you opened the page, so nothing was saved. The form has what you \
                        entered. Send it again to replace the current values.";

impl Form {
    /// The form again, with the error that refused it.
    pub fn refused(typed: FormData, failure: &ApiError) -> Form {
        Form {
            typed,
            problem: Some(failure.body().message),
            status: failure.status().0,
            ..Form::default()
        }
    }

    /// The form again, refused because its resource has changed.
    pub fn outdated(typed: FormData, differs: Vec<Difference>) -> Form {
        Form {
            problem: Some(OUTDATED.to_owned()),
            status: ApiError::Changed.status().0,
            differs,
            ..Form::from_typed(typed)
        }
    }

    /// The revision for the form of a page: the current one, or the one from which the form was filled in.
    pub fn revision(&self, now: &Revision) -> String {
        match self.differs.is_empty() {
            true => self.value_or("revision", now.as_str()),
            false => now.as_str().to_owned(),
        }
    }

    /// Typed values whose current values differ.
    pub fn differs(&self) -> &[Difference] {
        &self.differs
    }

    /// The form again, asking whether to replace the existing value.
    pub fn asking(typed: FormData, differs: Vec<Difference>) -> Form {
        Form {
            problem: None,
            ..Form::outdated(typed, differs)
        }
    }

    /// Like [`Self::refused`] for an invalid form; any other error is returned.
    pub fn refused_if_bad(typed: FormData, failure: ApiError) -> Result<Form, ApiError> {
        match failure.status().0 {
            StatusCode::BAD_REQUEST => Ok(Form::refused(typed, &failure)),
            _ => Err(failure),
        }
    }

    /// The form with the typed values, which were valid.
    pub fn from_typed(typed: FormData) -> Form {
        Form {
            typed,
            ..Form::default()
        }
    }

    /// A form with initial values.
    pub fn filled(fields: &[(&str, &str)]) -> Form {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), Zeroizing::new(value.as_bytes().to_vec()));
        Form::from_typed(FormData(fields.iter().map(pair).collect()))
    }

    /// An empty form beside the created resource.
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

    /// The error message, if there is one.
    pub fn message(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The typed value of a field, or else the current one.
    pub fn value_or(&self, name: &str, there: impl ToString) -> String {
        match self.typed.bytes(name) {
            Some(_) => self.value(name),
            None => there.to_string(),
        }
    }

    /// The typed value of a field.
    pub fn value(&self, name: &str) -> String {
        self.typed.text(name).unwrap_or_default().to_owned()
    }

    /// The typed values of fields with the same name, in the page's order.
    pub fn values(&self, name: &str) -> Vec<String> {
        self.typed.all(name)
    }

    /// Whether this value of a field was selected.
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.typed.all(name).iter().any(|given| given == value)
    }

    /// The value that was typed beside the list of choices of a field; `None` if one of the list is chosen, or none.
    pub fn other(&self, name: &str, known: &[impl ToString]) -> Option<String> {
        let value = self.value(name);
        match value.as_str() {
            OTHER => Some(self.value(&format!("{name}Other"))),
            "" => None,
            _ if known.iter().any(|known| known.to_string() == value) => None,
            _ => Some(value),
        }
    }

    /// The error of a field: messages begin with the field's name.
    pub fn wrong(&self, name: &str) -> Option<&str> {
        let problem = self.problem.as_deref()?;
        let rest = problem.strip_prefix(name)?;
        rest.starts_with([' ', ':', '[', '.']).then_some(problem)
    }

    /// The error, if it concerns none of these fields.
    pub fn problem<const N: usize>(&self, fields: &[&str; N]) -> Option<&str> {
        let problem = self.problem.as_deref()?;
        fields.iter().all(|name| self.wrong(name).is_none()).then_some(problem)
    }
}
