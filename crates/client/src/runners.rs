//! The calls on runners that admins make (contract part 4). What a runner itself calls is in the runner's crate.

use launchway_api::builds::{RunnerToken, RunnerView};
use launchway_api::lists::{Deleted, Page};
use reqwest::Method;
use serde_json::json;

use crate::answer::Answer;
use crate::calls::{NOTHING, query_of};
use crate::client::Client;
use crate::error::Error;

impl Client {
    /// `GET /runners`: one page of the runners, newest first.
    pub async fn runners(&self, limit: Option<u32>, offset: Option<u64>) -> Result<Answer<Page<RunnerView>>, Error> {
        let (limit, offset) = (
            limit.map(|limit| limit.to_string()),
            offset.map(|offset| offset.to_string()),
        );
        let known = [("limit", &limit), ("offset", &offset)];
        self.call(Method::GET, "/runners", &query_of(&known), NOTHING)
            .await?
            .read()
    }

    /// `DELETE /runners?id=`: a runner is refused from now on.
    pub async fn revoke_runner(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.call(Method::DELETE, "/runners", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `POST /runners/tokens`: a token that enrols one runner.
    pub async fn create_runner_token(&self) -> Result<Answer<RunnerToken>, Error> {
        self.call(Method::POST, "/runners/tokens", &[], Some(&json!({})))
            .await?
            .read()
    }
}
