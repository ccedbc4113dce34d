//! The answer to a CodePush client (`docs/reference/codepush.md#answer`).

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::check::{Form, UpdateCheck};

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It keeps what it runs.
    Nothing,
    /// It installs this package.
    Update(Offer<'a>),
    /// It keeps what it runs. The newest release needs a version of the app in this range.
    OtherBinary {
        /// The range as its publisher wrote it.
        range: &'a str,
        /// Whether the app is newer than the whole range, so that no newer app is to be had.
        is_below: bool,
    },
}

/// A package that a client is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    /// Where its archive is.
    pub download_url: String,
    /// The size of the archive in bytes.
    pub package_size: u64,
    /// What its publisher wrote about it.
    pub description: &'a str,
    /// Its label, such as `v3`.
    pub label: &'a str,
    /// The hash of its content.
    pub package_hash: &'a str,
    /// Whether the client installs it at once.
    pub is_mandatory: bool,
}

impl Answer<'_> {
    /// The body of the answer, as JSON in the form of the request.
    pub fn body(&self, check: &UpdateCheck<'_>) -> Vec<u8> {
        let info = Info {
            form: check.form,
            app_version: match self {
                // The client stores it, and drops the update when the app's version is no longer the same text.
                Answer::Update(_) => &check.app_version,
                Answer::OtherBinary { range, .. } => range,
                Answer::Nothing => "",
            },
            answer: self,
        };
        let name = match check.form {
            Form::Snake => "update_info",
            Form::Camel => "updateInfo",
        };
        // Texts and numbers always serialize.
        serde_json::to_vec(&std::collections::BTreeMap::from([(name, info)])).unwrap_or_default()
    }
}

/// The fields of an answer. All are always present: old clients read some without looking.
struct Info<'a> {
    form: Form,
    app_version: &'a str,
    answer: &'a Answer<'a>,
}

impl Serialize for Info<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let offer = match self.answer {
            Answer::Update(offer) => Some(offer),
            _ => None,
        };
        let needs_newer = matches!(self.answer, Answer::OtherBinary { is_below: false, .. });
        let mut map = serializer.serialize_map(Some(11))?;
        let is_snake = self.form == Form::Snake;
        let name = |snake, camel| if is_snake { snake } else { camel };
        map.serialize_entry(
            name("download_url", "downloadURL"),
            offer.map_or("", |offer| &offer.download_url),
        )?;
        map.serialize_entry("description", offer.map_or("", |offer| offer.description))?;
        map.serialize_entry(name("is_available", "isAvailable"), &offer.is_some())?;
        map.serialize_entry(
            name("is_mandatory", "isMandatory"),
            &offer.is_some_and(|offer| offer.is_mandatory),
        )?;
        map.serialize_entry(name("app_version", "appVersion"), self.app_version)?;
        map.serialize_entry(
            name("package_hash", "packageHash"),
            offer.map_or("", |offer| offer.package_hash),
        )?;
        map.serialize_entry("label", offer.map_or("", |offer| offer.label))?;
        map.serialize_entry(
            name("package_size", "packageSize"),
            &offer.map_or(0, |offer| offer.package_size),
        )?;
        map.serialize_entry(name("update_app_version", "updateAppVersion"), &needs_newer)?;
        // No client of the versions that the reference names reads it. Saying yes to one that does would reset it.
        map.serialize_entry(name("should_run_binary_version", "shouldRunBinaryVersion"), &false)?;
        map.serialize_entry("target_binary_range", self.app_version)?;
        map.end()
    }
}
