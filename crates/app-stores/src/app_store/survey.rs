//! Asks App Store Connect, with `GET` requests only, for everything that a submission reads.

use launchway_domain::percent;

use super::AppStoreConnect;
use super::refusal::CallError;
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::survey::{Answer, Question, count};

/// The maximum number of entries that a question asks for.
const LIMIT: usize = 10;

impl AppStoreConnect {
    /// Shows what the key can do, and for an app, whether the lists that a submission reads have the expected form.
    /// Changes nothing. After a refused key, or an app that was not found, it asks nothing more.
    pub async fn survey(&self, bundle_id: Option<&str>) -> Vec<Answer> {
        let mut answers = vec![self.ask(Question::Credential, "/v1/apps?limit=1", "app", 1).await];
        let Some(bundle_id) = bundle_id.filter(|_| answers[0].found.is_ok()) else {
            return answers;
        };
        let app = match self.app_id(bundle_id).await {
            Ok(id) => percent::encode(&id).to_string(),
            Err(error) => {
                answers.push(Answer::new(Question::App, Err(error)));
                return answers;
            }
        };
        answers.push(Answer::new(Question::App, Ok("found".to_owned())));
        let questions = [
            (Question::Uploads, format!("/v1/apps/{app}/buildUploads?"), "upload"),
            (Question::Builds, format!("/v1/builds?filter[app]={app}&"), "build"),
            (Question::Groups, format!("/v1/betaGroups?filter[app]={app}&"), "group"),
            (
                Question::Versions,
                format!("/v1/apps/{app}/appStoreVersions?"),
                "version",
            ),
            (
                Question::Reviews,
                format!("/v1/reviewSubmissions?filter[app]={app}&"),
                "submission",
            ),
        ];
        for (question, path, noun) in questions {
            let path = format!("{path}limit={LIMIT}");
            answers.push(self.ask(question, &path, noun, LIMIT).await);
        }
        answers
    }

    /// Reads a list. An entry without an id is a wrong answer.
    async fn ask(&self, question: Question, path: &str, noun: &str, limit: usize) -> Answer {
        let read = async {
            let answer = self.get(path).await?;
            let entries = answer.pointer("/data").and_then(serde_json::Value::as_array);
            let entries = entries.ok_or_else(|| AppStoreError::invalid_response("data"))?;
            for entry in entries {
                entry.need("/id")?;
            }
            Ok::<_, CallError>(count(entries.len(), limit, noun))
        };
        Answer::new(question, read.await.map_err(AppStoreError::from))
    }
}
