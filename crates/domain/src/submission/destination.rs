//! The destination of a submission: `testflight`, `app_store`, or a track of Google Play
//! (`docs/reference/submissions.md#destinations`).

use std::fmt;

use super::Store;
use crate::platform::Platform;

/// The maximum number of characters of a track's name.
pub const MAX_TRACK_LENGTH: usize = 80;

words! {
    /// A destination that every app has. Google Play also has tracks with custom names.
    KnownDestination:
    /// Apple's testers.
    TestFlight = "testflight",
    /// Apple's customers.
    AppStore = "app_store",
    /// Google Play's track for a few testers.
    Internal = "internal",
    /// Google Play's track for closed tests.
    Alpha = "alpha",
    /// Google Play's track for open tests.
    Beta = "beta",
    /// Google Play's customers.
    Production = "production",
}

/// The destination of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// Apple's testers.
    TestFlight,
    /// Apple's customers.
    AppStore,
    /// A track of Google Play, such as `production` or one that the app's owner created.
    Track(Box<str>),
}

/// The text is not a destination of that platform. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// An Apple platform has only two destinations.
    #[error("must be testflight or app_store for {0}")]
    NotOfAppStore(Platform),
    /// A name that no track can have, or one that belongs to the other app store.
    #[error("must be internal, alpha, beta, production or the name of another track of Google Play for android")]
    NotOfGooglePlay,
}

impl Store {
    /// The app store of a platform.
    pub const fn of(platform: Platform) -> Store {
        match platform {
            Platform::Ios | Platform::Visionos => Store::AppStore,
            Platform::Android => Store::GooglePlay,
        }
    }

    /// Its display name.
    pub const fn title(self) -> &'static str {
        match self {
            Store::AppStore => "the App Store",
            Store::GooglePlay => "Google Play",
        }
    }
}

impl Destination {
    /// Parses a destination of an app for this platform.
    ///
    /// # Errors
    /// What is allowed instead.
    pub fn parse(platform: Platform, text: &str) -> Result<Self, DestinationError> {
        use KnownDestination::{AppStore, TestFlight};
        match (Store::of(platform), text.parse()) {
            (Store::AppStore, Ok(TestFlight)) => Ok(Self::TestFlight),
            (Store::AppStore, Ok(AppStore)) => Ok(Self::AppStore),
            (Store::AppStore, _) => Err(DestinationError::NotOfAppStore(platform)),
            (Store::GooglePlay, Ok(TestFlight | AppStore)) => Err(DestinationError::NotOfGooglePlay),
            (Store::GooglePlay, _) if is_track(text) => Ok(Self::Track(text.into())),
            (Store::GooglePlay, _) => Err(DestinationError::NotOfGooglePlay),
        }
    }

    /// The app store it belongs to.
    pub const fn store(&self) -> Store {
        match self {
            Self::TestFlight | Self::AppStore => Store::AppStore,
            Self::Track(_) => Store::GooglePlay,
        }
    }

    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::TestFlight => KnownDestination::TestFlight.as_str(),
            Self::AppStore => KnownDestination::AppStore.as_str(),
            Self::Track(track) => track,
        }
    }

    /// Whether it is this well-known destination.
    pub fn is(&self, known: KnownDestination) -> bool {
        self.as_str() == known.as_str()
    }

    /// Whether it supports a staged rollout.
    pub fn has_rollout(&self) -> bool {
        !matches!(self, Self::TestFlight)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names of tracks are arbitrary: letters of any language, digits, spaces and `:._-`, as in `wear:production`. Characters
/// that could escape the path of a URL are excluded.
fn is_track(text: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || " :._-".contains(letter);
    let trimmed = text.trim_matches(['.', ' ']);
    !trimmed.is_empty() && text.chars().count() <= MAX_TRACK_LENGTH && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_platform_has_its_destinations() {
        use Platform::{Android, Ios, Visionos};
        for (platform, text, store) in [
            (Ios, "testflight", Some(Store::AppStore)),
            (Ios, "app_store", Some(Store::AppStore)),
            (Visionos, "app_store", Some(Store::AppStore)),
            (Ios, "production", None),
            (Ios, "", None),
            (Ios, "TestFlight", None),
            (Android, "internal", Some(Store::GooglePlay)),
            (Android, "production", Some(Store::GooglePlay)),
            (Android, "wear:beta", Some(Store::GooglePlay)),
            (Android, "Freunde & Familie", None),
            (Android, "Unsere Tester", Some(Store::GooglePlay)),
            (Android, "testflight", None),
            (Android, "app_store", None),
            (Android, "", None),
            (Android, "..", None),
            (Android, "a/b", None),
            (Android, "a?b", None),
        ] {
            let read = Destination::parse(platform, text);
            assert_eq!(
                read.as_ref().ok().map(Destination::store),
                store,
                "{platform} {text:?} {read:?}"
            );
        }
        for known in KnownDestination::ALL {
            let platform = match known {
                KnownDestination::TestFlight | KnownDestination::AppStore => Ios,
                _ => Android,
            };
            assert!(Destination::parse(platform, known.as_str()).is_ok_and(|read| read.is(known)));
        }
    }

    proptest! {
        #[test]
        fn a_destination_is_kept_as_written(text in ".{0,90}") {
            if let Ok(read) = Destination::parse(Platform::Android, &text) {
                prop_assert_eq!(read.as_str(), &text);
                prop_assert!(!text.contains(['/', '?', '#', '%', '\\']));
            }
        }
    }
}
