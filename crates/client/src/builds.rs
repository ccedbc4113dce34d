//! The calls on builds (contract part 4), all but reading logs, which [`crate::log`] and [`crate::follow`] do.

use launchway_api::builds::{BuildPlan, BuildView, CreateBuild};
use launchway_api::lists::{Deleted, Page};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{NOTHING, query_of};
use crate::client::Client;
use crate::error::Error;

/// What a list of builds is narrowed to (contract part 4). What is absent narrows nothing.
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
    /// How many at most; the server gives 10 unless told, and never more than 100.
    pub limit: Option<u32>,
    /// How many to skip.
    pub offset: Option<u64>,
}

impl Client {
    /// `POST /build`: asks for a build.
    pub async fn create_build(&self, wanted: &CreateBuild) -> Result<Answer<BuildView>, Error> {
        self.call(Method::POST, "/build", &[], Some(wanted)).await?.read()
    }

    /// `GET /build`: one page of the builds, newest first.
    pub async fn builds(&self, filter: &BuildFilter) -> Result<Answer<Page<BuildView>>, Error> {
        let (limit, offset) = (
            filter.limit.map(|limit| limit.to_string()),
            filter.offset.map(|offset| offset.to_string()),
        );
        let known = [
            ("status", &filter.status),
            ("platform", &filter.platform),
            ("bundleId", &filter.bundle_id),
            ("configuration", &filter.configuration),
            ("branch", &filter.branch),
            ("limit", &limit),
            ("offset", &offset),
        ];
        self.call(Method::GET, "/build", &query_of(&known), NOTHING)
            .await?
            .read()
    }

    /// `GET /build?id=`: one build. Its URLs are new, and work for an hour.
    pub async fn build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.call(Method::GET, "/build", &[("id", id)], NOTHING).await?.read()
    }

    /// `POST /build/cancel?id=`: stops a build. One that runs goes on until its runner has heard of it.
    pub async fn cancel_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.call(Method::POST, "/build/cancel", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `POST /build/retry?id=`: asks for the same build again, and gives the new one.
    pub async fn retry_build(&self, id: &str) -> Result<Answer<BuildView>, Error> {
        self.call(Method::POST, "/build/retry", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `DELETE /build?id=`: stops a build if it is active, and removes record, log and artifacts.
    pub async fn delete_build(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.call(Method::DELETE, "/build", &[("id", id)], NOTHING)
            .await?
            .read()
    }

    /// `GET /build/plan?id=`: what a build does, step by step.
    pub async fn build_plan(&self, id: &str) -> Result<Answer<BuildPlan>, Error> {
        self.call(Method::GET, "/build/plan", &[("id", id)], NOTHING)
            .await?
            .read()
    }
}
