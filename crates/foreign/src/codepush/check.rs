//! The request by which a CodePush client asks for an update (`docs/reference/codepush.md#check`).

use std::borrow::Cow;

use launchway_domain::version::Version;

use super::refusal::Refusal;
use crate::query::Query;

/// The number of characters that a deployment key may have.
const KEY_LENGTH: std::ops::RangeInclusive<usize> = 10..=100;

/// The two spellings of the protocol, which have different paths and field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `v0.1/public/codepush/update_check`, with answers in `snake_case`.
    Snake,
    /// `updateCheck`, with answers in `camelCase`: clients before 2019.
    Camel,
}

/// A request for an update. Parameters that a client leaves empty are absent.
#[derive(Clone, Debug)]
pub struct UpdateCheck<'q> {
    /// The spelling of the answer.
    pub form: Form,
    /// The deployment key: 10 to 100 letters, digits, `-` and `_`.
    pub deployment_key: Cow<'q, str>,
    /// The version of the app as written. The client compares the answer with it letter by letter.
    pub app_version: Cow<'q, str>,
    /// The version of the app.
    pub version: Version,
    /// The hash of the package that the app runs. An app for iOS without an update sends that of its built-in content.
    pub package_hash: Option<Cow<'q, str>>,
    /// The label of the update that the app runs.
    pub label: Option<Cow<'q, str>>,
    /// The client's own name of the device.
    pub client_unique_id: Option<Cow<'q, str>>,
    /// Whether the app runs updates for every version of it.
    pub is_companion: bool,
}

/// What a request says about the update that the app runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurrentPackage<'q> {
    /// Nothing: the app runs its built-in content.
    BuiltIn,
    /// Its label.
    Label(&'q str),
    /// Its hash; clients before 2016 send no label.
    Hash(&'q str),
}

impl<'q> UpdateCheck<'q> {
    /// Reads the query of a request. Both spellings of each name are known in both forms.
    ///
    /// # Errors
    /// The key or the version is missing or malformed, or the query is too long.
    pub fn read(form: Form, query: &'q str) -> Result<Self, Refusal> {
        let query = Query::read(query).map_err(|_| Refusal::QueryTooLong)?;
        let deployment_key = query
            .get(&["deploymentKey", "deployment_key"])
            .filter(|key| is_deployment_key(key))
            .ok_or(Refusal::DeploymentKey)?;
        let app_version = query.get(&["appVersion", "app_version"]).ok_or(Refusal::AppVersion)?;
        let version = read_version(&app_version).ok_or(Refusal::AppVersion)?;
        let is_companion = query
            .get(&["isCompanion", "is_companion"])
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        Ok(Self {
            form,
            deployment_key,
            app_version,
            version,
            package_hash: query.get(&["packageHash", "package_hash"]),
            label: query.get(&["label"]),
            client_unique_id: query.get(&["clientUniqueId", "client_unique_id"]),
            is_companion,
        })
    }

    /// What the app runs. The label decides, since the same content can be released twice.
    pub fn current(&self) -> CurrentPackage<'_> {
        match (&self.label, &self.package_hash) {
            (Some(label), _) => CurrentPackage::Label(label),
            (None, Some(hash)) => CurrentPackage::Hash(hash),
            (None, None) => CurrentPackage::BuiltIn,
        }
    }
}

/// Whether a text has the form of a deployment key.
pub fn is_deployment_key(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    KEY_LENGTH.contains(&text.len()) && text.bytes().all(is_known)
}

/// Reads a version of an app: a semantic version, also with a `v` before it, and also `1`, `1.2` and `1.2-beta`.
fn read_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let core = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, suffix) = text.split_at(core);
    // The parser of versions takes a suffix only after three numbers.
    let is_short = numbers.matches('.').count() == 1 && !suffix.is_empty();
    let complete = if is_short {
        Cow::Owned(format!("{numbers}.0{suffix}"))
    } else {
        Cow::Borrowed(text)
    };
    Version::parse(&complete).ok()
}
