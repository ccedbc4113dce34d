//! Enums whose variants are words: the same on the wire and in the database.

/// The text is none of the words. The message lists the valid ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownWordError(pub &'static str);

/// An enum of words. [`words!`](crate::words!) declares such a type.
pub trait Word: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug + 'static {
    /// The name of the type in the API's description.
    const NAME: &'static str;
    /// What the type means, in one sentence.
    const ABOUT: &'static str;
    /// Every word, in the order of the reference.
    const WORDS: &'static [Self];
    /// The error for any other text.
    const UNKNOWN: UnknownWordError;

    /// The word on the wire and in the database.
    fn word(self) -> &'static str;

    /// Parses a word.
    ///
    /// # Errors
    /// Any other text is an error.
    fn read(text: &str) -> Result<Self, UnknownWordError> {
        let mut words = Self::WORDS.iter().copied();
        words.find(|known| known.word() == text).ok_or(Self::UNKNOWN)
    }
}

/// Declares an enum of words with conversions to and from text and JSON. The message about any other text lists the words,
/// and follows the name of a field; `error = "…"` is another message.
#[macro_export]
macro_rules! words {
    ($(#[doc = $note:literal])* $name:ident, error = $error:expr,
        $($(#[$variant_note:meta])* $variant:ident = $word:literal,)+) => {
        $(#[doc = $note])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_note])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All words, in the order of the reference.
            pub const ALL: [$name; [$($name::$variant),+].len()] = [$($name::$variant,)+];

            /// The word on the wire and in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl $crate::words::Word for $name {
            const NAME: &'static str = stringify!($name);
            const ABOUT: &'static str = concat!($($note),*);
            const WORDS: &'static [$name] = &$name::ALL;
            const UNKNOWN: $crate::words::UnknownWordError = $crate::words::UnknownWordError($error);

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWordError;

            fn from_str(text: &str) -> Result<Self, $crate::words::UnknownWordError> {
                <$name as $crate::words::Word>::read(text)
            }
        }
    };
    ($(#[doc = $note:literal])* $name:ident: $(#[$first_note:meta])* $first:ident = $first_word:literal,
        $($(#[$variant_note:meta])* $variant:ident = $word:literal,)*) => {
        $crate::words! {
            $(#[doc = $note])* $name, error = concat!("must be one of ", $first_word $(, ", ", $word)*),
            $(#[$first_note])* $first = $first_word,
            $($(#[$variant_note])* $variant = $word,)*
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildErrorCode, BuildResult, BuildStatus, BuildType, Distribution, RunnerStatus};
    use crate::credential::{CredentialKind, CredentialStatus};
    use crate::device_login::DeviceLoginStatus;
    use crate::env_var::{EnvVarKind, Visibility};
    use crate::fingerprint::{Algorithm, Framework};
    use crate::key::KeyStatus;
    use crate::org::InvitationStatus;
    use crate::platform::Platform;
    use crate::report::{DeviceEventKind, ReportKind};
    use crate::scope::Scope;
    use crate::submission::destination::KnownDestination;
    use crate::submission::error::SubmissionErrorCode;
    use crate::submission::{FileKind, RolloutState, Store, SubmissionStatus, SymbolKind};
    use crate::tenancy::{Role, Tier};
    use crate::trust::OnlineKeyState;
    use crate::update::UpdateStatus;
    use crate::usage::Counter;
    use crate::webhook::{DeliveryStatus, EventKind, WebhookStatus, WebhookType};

    /// Each word round-trips through text and JSON, and any other text is refused.
    fn goes_round<T>()
    where
        T: Word + std::fmt::Display + std::str::FromStr<Err = UnknownWordError>,
        T: serde::Serialize + serde::de::DeserializeOwned,
    {
        for (at, word) in T::WORDS.iter().enumerate() {
            let text = word.word();
            assert_eq!(T::read(text), Ok(*word), "{}", T::NAME);
            assert_eq!(text.parse(), Ok(*word), "{}", T::NAME);
            assert_eq!(word.to_string(), text, "{}", T::NAME);
            let json = serde_json::to_value(word).expect("JSON");
            assert_eq!(json, text, "{}", T::NAME);
            assert_eq!(serde_json::from_value::<T>(json).expect("a word"), *word, "{}", T::NAME);
            assert!(
                T::WORDS[..at].iter().all(|other| other.word() != text),
                "{} has {text} twice",
                T::NAME
            );
        }
        for other in ["", "no such word", " "] {
            assert_eq!(T::read(other), Err(T::UNKNOWN), "{}", T::NAME);
            assert!(serde_json::from_value::<T>(other.into()).is_err(), "{}", T::NAME);
        }
    }

    macro_rules! all_go_round {
        ($($name:ty,)+) => { $(goes_round::<$name>();)+ };
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        all_go_round!(
            Algorithm,
            BuildErrorCode,
            BuildResult,
            BuildStatus,
            BuildType,
            Counter,
            CredentialKind,
            CredentialStatus,
            DeliveryStatus,
            DeviceEventKind,
            DeviceLoginStatus,
            Distribution,
            EnvVarKind,
            EventKind,
            FileKind,
            Framework,
            InvitationStatus,
            KeyStatus,
            KnownDestination,
            OnlineKeyState,
            Platform,
            ReportKind,
            Role,
            RolloutState,
            RunnerStatus,
            Scope,
            Store,
            SubmissionErrorCode,
            SubmissionStatus,
            SymbolKind,
            Tier,
            UpdateStatus,
            Visibility,
            WebhookStatus,
            WebhookType,
        );
    }

    #[test]
    fn another_word_is_refused_with_the_known_sentence() {
        for (unknown, message) in [
            (Platform::UNKNOWN, "platform must be ios, android or visionos"),
            (Role::UNKNOWN, "role must be member, admin or owner"),
            (Tier::UNKNOWN, "tier must be free, pro or enterprise"),
            (
                UpdateStatus::UNKNOWN,
                "status must be published, paused, withdrawn or awaiting_signature",
            ),
            (
                ReportKind::UNKNOWN,
                "type must be downloaded, installed, confirmed, rolled_back or failed",
            ),
            (
                DeviceEventKind::UNKNOWN,
                "type must be downloaded, installed, confirmed, rolled_back, failed or crash",
            ),
            (WebhookType::UNKNOWN, "must be one of generic, slack, teams"),
            (FileKind::UNKNOWN, "must be one of mapping, native"),
            (RolloutState::UNKNOWN, "must be one of halted, rolling_out"),
        ] {
            assert_eq!(unknown.to_string(), message);
        }
    }
}
