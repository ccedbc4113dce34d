//! The calls for runners that admins make. The calls of runners themselves are in the runner's crate.

use launchway_api::lists::{Deleted, Page};
use launchway_api::runners::{RunnerToken, RunnerView};
use reqwest::Method;
use serde_json::json;

use crate::answer::Answer;
use crate::calls::Paging;
use crate::client::Client;
use crate::error::Error;

impl Client {
    /// `GET /runners`: one page of the runners, newest first.
    pub async fn runners(&self, paging: Paging) -> Result<Answer<Page<RunnerView>>, Error> {
        self.page("/runners", paging, &[]).await
    }

    /// `GET /runners?id=`: one runner.
    pub async fn runner(&self, id: &str) -> Result<Answer<RunnerView>, Error> {
        self.one(Method::GET, "/runners", id).await
    }

    /// `DELETE /runners?id=`: revokes a runner's access.
    pub async fn revoke_runner(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/runners", id).await
    }

    /// `POST /runners/tokens`: creates a token that enrolls one runner.
    pub async fn create_runner_token(&self) -> Result<Answer<RunnerToken>, Error> {
        self.create("/runners/tokens", &json!({})).await
    }
}
