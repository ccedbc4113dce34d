//! The result of a survey: read-only requests that show what a credential can do at an app store.

use launchway_domain::words;

use crate::failure::AppStoreError;

words! {
    /// What a survey asks an app store.
    Question:
    /// Whether it accepts the credential.
    Credential = "credential",
    /// Whether the credential finds the app.
    App = "app",
    /// The uploads of builds.
    Uploads = "uploads",
    /// The builds.
    Builds = "builds",
    /// The groups of TestFlight testers.
    Groups = "groups",
    /// The versions in the App Store.
    Versions = "versions",
    /// The submissions for review.
    Reviews = "reviews",
    /// The releases of a track in Google Play.
    Releases = "releases",
}

/// A question and the app store's answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The track that the question was about; only for [`Question::Releases`].
    pub track: Option<&'static str>,
    /// A short statement for people of what was found, without names or identifiers, or why there is none.
    pub found: Result<String, AppStoreError>,
}

impl Answer {
    pub(crate) fn new(question: Question, found: Result<String, AppStoreError>) -> Answer {
        Answer {
            question,
            track: None,
            found,
        }
    }
}

/// `1 build`, `2 builds`, `at least 200 builds`: the length of a list that ends at `limit`.
pub(crate) fn count(number: usize, limit: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    let least = if number >= limit { "at least " } else { "" };
    format!("{least}{number} {noun}{ending}")
}
