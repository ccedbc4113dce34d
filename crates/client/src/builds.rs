//! The calls for builds, except reading logs, which is in [`crate::log`] and [`crate::follow`].

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
    /// `POST /build`: requests a build.
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

    /// `GET /build?id=`: one build. Its URLs are new, and valid for an hour.
    pub async fn build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::GET, "/build", id).await
    }

    /// `POST /build/cancel?id=`: cancels a build. A running one continues until its runner is notified.
    pub async fn cancel_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::POST, "/build/cancel", id).await
    }

    /// `POST /build/retry?id=`: requests the same build again, and returns the new one.
    pub async fn retry_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.one(Method::POST, "/build/retry", id).await
    }

    /// `DELETE /build?id=`: cancels a build if it is active, and deletes record, log and artifacts.
    pub async fn delete_build(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/build", id).await
    }

    /// `GET /build/plan?id=`: the plan of a build, step by step.
    pub async fn build_plan(&self, id: &str) -> Result<Answer<BuildPlan>, Error> {
        self.one(Method::GET, "/build/plan", id).await
    }
}
