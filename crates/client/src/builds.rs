//! The calls on builds, except reading logs, which [`crate::log`] and [`crate::follow`] do.

use launchway_api::builds::{BuildPlan, BuildView, CreateBuild};
use launchway_api::lists::{Deleted, Page};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{Paging, query_of, with_lwfp2};
use crate::client::Client;
use crate::error::Error;

/// Filters for a list of builds. An absent filter matches every build.
#[derive(Clone, Debug, Default)]
pub struct BuildFilter {
    /// Only with this status.
    pub status: Option<String>,
    /// Only for this platform.
    pub platform: Option<String>,
    /// Only of this app.
    pub bundle_id: Option<String>,
    /// Only of this configuration.
    pub configuration: Option<String>,
    /// Only of this branch.
    pub branch: Option<String>,
}

impl Client {
    /// `POST /build`: asks for a build.
    pub async fn create_build(&self, wanted: &CreateBuild, lwfp2: Option<&str>) -> Result<Answer<BuildView>, Error> {
        self.create(&with_lwfp2("/build", lwfp2), wanted).await
    }

    /// `GET /build`: one page of the builds, newest first.
    pub async fn builds(&self, filter: &BuildFilter, paging: Paging) -> Result<Answer<Page<BuildView>>, Error> {
        let known = [
            ("status", &filter.status),
            ("platform", &filter.platform),
            ("bundleId", &filter.bundle_id),
            ("configuration", &filter.configuration),
            ("branch", &filter.branch),
        ];
        self.page("/build", paging, &query_of(&known)).await
    }

    /// `GET /build?id=`: one build. Its URLs are new, and work for an hour.
    pub async fn build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::GET, "/build", id).await
    }

    /// `POST /build/cancel?id=`: stops a build. One that runs goes on until its runner has heard of it.
    pub async fn cancel_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::POST, "/build/cancel", id).await
    }

    /// `POST /build/retry?id=`: asks for the same build again, and gives the new one.
    pub async fn retry_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::POST, "/build/retry", id).await
    }

    /// `DELETE /build?id=`: stops a build if it is active, and removes record, log and artifacts.
    pub async fn delete_build(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/build", id).await
    }

    /// `GET /build/plan?id=`: what a build does, step by step.
    pub async fn build_plan(&self, id: &str) -> Result<Answer<BuildPlan>, Error> {
        self.one(Method::GET, "/build/plan", id).await
    }
}
