//! Asks Google Play, without an edit, for what can be read: a new edit would invalidate an open one of the same account.

use launchway_domain::percent;

use super::GooglePlay;
use super::refusal::CallError;
use crate::failure::AppStoreError;
use crate::survey::{Answer, Question, count};
use crate::transport::Method;

/// The tracks that every app has.
const TRACKS: [&str; 4] = ["internal", "alpha", "beta", "production"];

impl GooglePlay {
    /// Shows whether the account gets a token, and for an app, the releases of its tracks. Changes nothing. After a
    /// refusal it asks nothing more.
    pub async fn survey(&self, package: Option<&str>) -> Vec<Answer> {
        let token = self.token().await.map(|_| "token issued".to_owned());
        let mut answers = vec![Answer::new(Question::Credential, token)];
        let Some(package) = package.filter(|_| answers[0].found.is_ok()) else {
            return answers;
        };
        for track in TRACKS {
            let found = self.count_releases(package, track).await.map_err(AppStoreError::from);
            let refused = found.is_err();
            answers.push(Answer {
                track: Some(track),
                ..Answer::new(Question::Releases, found)
            });
            if refused {
                break;
            }
        }
        answers
    }

    async fn count_releases(&self, package: &str, track: &str) -> Result<String, CallError> {
        let package = percent::encode(package);
        let path = format!("/androidpublisher/v3/applications/{package}/tracks/{track}/releases");
        let answer = self.call(Method::Get, &path, None).await?;
        // Google leaves out empty lists.
        let releases = match &answer["releases"] {
            serde_json::Value::Null => 0,
            serde_json::Value::Array(releases) => releases.len(),
            _ => return Err(AppStoreError::invalid_response("releases").into()),
        };
        Ok(count(releases, usize::MAX, "release"))
    }
}
