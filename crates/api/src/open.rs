//! The words of the wire as open enums. A newer server may send a word that this version does not know, and a request may
//! contain any text until it is checked.

use std::borrow::Cow;
use std::fmt;

use launchway_domain::words::{UnknownWordError, Word};
use launchway_domain::{build, credential, device_login, env_var, key, org, platform, release, report, scope};
use launchway_domain::{submission, tenancy, update, webhook};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::words;

/// A known word, or the unknown text. Compare it with the enum itself: `view.status == Status::Queued`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Open<T> {
    /// A word of the enum.
    Known(T),
    /// Any other text, unchanged.
    Unknown(String),
}

impl<T: Word> Open<T> {
    /// Parses any text.
    pub fn of(text: impl Into<String>) -> Self {
        let text = text.into();
        T::read(&text).map_or(Open::Unknown(text), Open::Known)
    }

    /// The word, if this version knows it.
    pub fn known(&self) -> Option<T> {
        match self {
            Open::Known(word) => Some(*word),
            Open::Unknown(_) => None,
        }
    }

    /// The word in a request.
    ///
    /// # Errors
    /// The word is unknown to this version.
    pub fn checked(&self) -> Result<T, UnknownWordError> {
        self.known().ok_or(T::UNKNOWN)
    }

    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Open::Known(word) => word.word(),
            Open::Unknown(text) => text,
        }
    }
}

/// Joins words into one text.
pub fn join_words<T: Word>(words: &[Open<T>], between: &str) -> String {
    words.iter().map(Open::as_str).collect::<Vec<_>>().join(between)
}

impl<T: Word> From<T> for Open<T> {
    fn from(word: T) -> Self {
        Open::Known(word)
    }
}

/// The empty text, as in an incomplete request. Servers refuse it.
impl<T> Default for Open<T> {
    fn default() -> Self {
        Open::Unknown(String::new())
    }
}

impl<T: Word> AsRef<str> for Open<T> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<T: Word> PartialEq<T> for Open<T> {
    fn eq(&self, word: &T) -> bool {
        self.known() == Some(*word)
    }
}

impl<T: Word> fmt::Display for Open<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Word> Serialize for Open<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Word> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Open::<T>::of)
    }
}

impl<T: Word> PartialSchema for Open<T> {
    fn schema() -> RefOr<Schema> {
        let words = T::WORDS.iter().map(|word| word.word());
        let about = format!("{} Newer servers may add words.", T::ABOUT.trim());
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(about))
            .enum_values(Some(words));
        schema.into()
    }
}

impl<T: Word> ToSchema for Open<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }
}

// The description of the API needs a type without parameters for each enum.

/// [`words::AcceptedStatus`] as an open enum.
pub type AcceptedStatus = Open<words::AcceptedStatus>;
/// [`words::ActiveStatus`] as an open enum.
pub type ActiveStatus = Open<words::ActiveStatus>;
/// [`build::BuildErrorCode`] as an open enum.
pub type BuildErrorCode = Open<build::BuildErrorCode>;
/// [`words::BuildOrUpdateStatus`] as an open enum.
pub type BuildOrUpdateStatus = Open<words::BuildOrUpdateStatus>;
/// [`build::BuildResult`] as an open enum.
pub type BuildResult = Open<build::BuildResult>;
/// [`build::BuildStatus`] as an open enum.
pub type BuildStatus = Open<build::BuildStatus>;
/// [`build::BuildType`] as an open enum.
pub type BuildType = Open<build::BuildType>;
/// [`words::CallerKind`] as an open enum.
pub type CallerKind = Open<words::CallerKind>;
/// [`credential::CredentialKind`] as an open enum.
pub type CredentialKind = Open<credential::CredentialKind>;
/// [`credential::CredentialStatus`] as an open enum.
pub type CredentialStatus = Open<credential::CredentialStatus>;
/// [`webhook::DeliveryStatus`] as an open enum.
pub type DeliveryStatus = Open<webhook::DeliveryStatus>;
/// [`device_login::DeviceLoginStatus`] as an open enum.
pub type DeviceLoginStatus = Open<device_login::DeviceLoginStatus>;
/// [`build::Distribution`] as an open enum.
pub type Distribution = Open<build::Distribution>;
/// [`env_var::EnvVarKind`] as an open enum.
pub type EnvVarKind = Open<env_var::EnvVarKind>;
/// [`words::ServiceEnvironment`] as an open enum.
pub type ServiceEnvironment = Open<words::ServiceEnvironment>;
/// [`webhook::EventKind`] as an open enum.
pub type EventKind = Open<webhook::EventKind>;
/// [`words::EventName`] as an open enum.
pub type EventName = Open<words::EventName>;
/// [`words::FingerprintPart`] as an open enum.
pub type FingerprintPart = Open<words::FingerprintPart>;
/// [`words::HealthStatus`] as an open enum.
pub type HealthStatus = Open<words::HealthStatus>;
/// [`org::InvitationStatus`] as an open enum.
pub type InvitationStatus = Open<org::InvitationStatus>;
/// [`key::KeyStatus`] as an open enum.
pub type KeyStatus = Open<key::KeyStatus>;
/// [`submission::destination::KnownDestination`] as an open enum.
pub type KnownDestination = Open<submission::destination::KnownDestination>;
/// [`words::LoginOutcome`] as an open enum.
pub type LoginOutcome = Open<words::LoginOutcome>;
/// [`words::PendingStatus`] as an open enum.
pub type PendingStatus = Open<words::PendingStatus>;
/// [`words::PlanOrigin`] as an open enum.
pub type PlanOrigin = Open<words::PlanOrigin>;
/// [`platform::Platform`] as an open enum.
pub type Platform = Open<platform::Platform>;
/// [`words::DoneStatus`] as an open enum.
pub type DoneStatus = Open<words::DoneStatus>;
/// [`report::DeviceEventKind`] as an open enum.
pub type DeviceEventKind = Open<report::DeviceEventKind>;
/// [`report::ReportKind`] as an open enum.
pub type ReportKind = Open<report::ReportKind>;
/// [`tenancy::Role`] as an open enum.
pub type Role = Open<tenancy::Role>;
/// [`submission::RolloutState`] as an open enum.
pub type RolloutState = Open<submission::RolloutState>;
/// [`build::RunnerStatus`] as an open enum.
pub type RunnerStatus = Open<build::RunnerStatus>;
/// [`scope::Scope`] as an open enum.
pub type Scope = Open<scope::Scope>;
/// [`submission::Store`] as an open enum.
pub type Store = Open<submission::Store>;
/// [`submission::error::SubmissionErrorCode`] as an open enum.
pub type SubmissionErrorCode = Open<submission::error::SubmissionErrorCode>;
/// [`submission::SubmissionStatus`] as an open enum.
pub type SubmissionStatus = Open<submission::SubmissionStatus>;
/// [`submission::SymbolKind`] as an open enum.
pub type SymbolKind = Open<submission::SymbolKind>;
/// [`tenancy::Tier`] as an open enum.
pub type Tier = Open<tenancy::Tier>;
/// [`release::Format`] as an open enum.
pub type Format = Open<release::Format>;
/// [`release::Protocol`] as an open enum.
pub type Protocol = Open<release::Protocol>;
/// [`release::UpdateKind`] as an open enum.
pub type UpdateKind = Open<release::UpdateKind>;
/// [`update::UpdateStatus`] as an open enum.
pub type UpdateStatus = Open<update::UpdateStatus>;
/// [`words::UploadMethod`] as an open enum.
pub type UploadMethod = Open<words::UploadMethod>;
/// [`words::UsageStatus`] as an open enum.
pub type UsageStatus = Open<words::UsageStatus>;
/// [`env_var::Visibility`] as an open enum.
pub type Visibility = Open<env_var::Visibility>;
/// [`webhook::WebhookStatus`] as an open enum.
pub type WebhookStatus = Open<webhook::WebhookStatus>;
/// [`webhook::WebhookType`] as an open enum.
pub type WebhookType = Open<webhook::WebhookType>;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Known and unknown words round-trip through JSON, and the schema lists exactly the known ones.
    fn goes_round<T: Word>() {
        for word in T::WORDS {
            let read: Open<T> = serde_json::from_value(json!(word.word())).expect("a word");
            assert_eq!(read, Open::Known(*word), "{}", T::NAME);
            assert!(read == *word && read.checked() == Ok(*word), "{}", T::NAME);
            assert_eq!(serde_json::to_value(&read).expect("JSON"), word.word(), "{}", T::NAME);
        }
        let read: Open<T> = serde_json::from_value(json!("a newer word")).expect("any text");
        assert_eq!((read.known(), read.to_string().as_str()), (None, "a newer word"));
        assert_eq!(read.checked(), Err(T::UNKNOWN));
        assert_eq!(serde_json::to_value(&read).expect("JSON"), "a newer word");
        let schema = serde_json::to_value(Open::<T>::schema()).expect("JSON");
        let words: Vec<Value> = T::WORDS.iter().map(|word| json!(word.word())).collect();
        assert_eq!((&schema["type"], &schema["enum"]), (&json!("string"), &json!(words)));
        assert!(
            schema["description"]
                .as_str()
                .is_some_and(|about| about.contains("Newer servers may add words"))
        );
    }

    macro_rules! all_go_round {
        ($($name:ty,)+) => { $(goes_round::<$name>();)+ };
    }

    #[test]
    fn every_word_of_the_wire_is_kept_whether_it_is_known_or_not() {
        all_go_round!(
            words::AcceptedStatus,
            words::ActiveStatus,
            words::BuildOrUpdateStatus,
            words::CallerKind,
            words::DoneStatus,
            words::EventName,
            words::FingerprintPart,
            words::HealthStatus,
            words::LoginOutcome,
            words::PendingStatus,
            words::PlanOrigin,
            words::ServiceEnvironment,
            words::UploadMethod,
            words::UsageStatus,
            build::BuildErrorCode,
            build::BuildResult,
            build::BuildStatus,
            build::BuildType,
            build::Distribution,
            build::RunnerStatus,
            credential::CredentialKind,
            credential::CredentialStatus,
            device_login::DeviceLoginStatus,
            env_var::EnvVarKind,
            env_var::Visibility,
            key::KeyStatus,
            org::InvitationStatus,
            platform::Platform,
            release::Format,
            release::Protocol,
            release::UpdateKind,
            report::DeviceEventKind,
            report::ReportKind,
            scope::Scope,
            submission::RolloutState,
            submission::Store,
            submission::SubmissionStatus,
            submission::SymbolKind,
            submission::destination::KnownDestination,
            submission::error::SubmissionErrorCode,
            tenancy::Role,
            tenancy::Tier,
            update::UpdateStatus,
            webhook::DeliveryStatus,
            webhook::EventKind,
            webhook::WebhookStatus,
            webhook::WebhookType,
        );
    }

    #[test]
    fn what_is_no_text_is_refused_in_the_words_for_text() {
        let of_word = serde_json::from_str::<Platform>("5").expect_err("a number").to_string();
        let of_text = serde_json::from_str::<String>("5").expect_err("a number").to_string();
        assert_eq!(of_word, of_text);
    }

    #[test]
    fn a_word_takes_its_place_in_a_table() {
        assert_eq!(format!("{:<9}|", Platform::of("ios")), "ios      |");
        assert_eq!(
            join_words(&[Platform::of("ios"), Platform::of("tvos")], ", "),
            "ios, tvos"
        );
    }

    #[test]
    fn a_fingerprint_knows_the_states_of_builds_and_updates() {
        let builds = build::BuildStatus::ALL.map(|status| status.as_str());
        let updates = update::UpdateStatus::ALL.map(|status| status.as_str());
        let known = words::BuildOrUpdateStatus::ALL.map(|status| status.as_str());
        assert_eq!([&builds[..], &updates[..]].concat(), known);
    }
}
