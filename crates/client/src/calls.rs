//! One method for each endpoint in use (spec part 4, contract parts 2, 3 and 7).

use launchway_api::auth::CallerView;
use launchway_api::device_logins::{ClaimDeviceLogin, DeviceLoginOutcome, DeviceLoginView, StartDeviceLogin};
use launchway_api::lists::Page;
use launchway_api::updates::{ChangeUpdate, CreateUpdate, UpdateView};
use launchway_api::uploads::{CreateUpload, UploadView};
use reqwest::Method;

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;

/// What a list of updates is narrowed to (contract part 7). What is absent narrows nothing.
#[derive(Clone, Debug, Default)]
pub struct UpdateFilter {
    /// Only of this app.
    pub bundle_id: Option<String>,
    /// Only for this platform.
    pub platform: Option<String>,
    /// Only of this configuration.
    pub configuration: Option<String>,
    /// Only with this status.
    pub status: Option<String>,
    /// How many at most; the server gives 10 unless told, and never more than 100.
    pub limit: Option<u32>,
    /// How many to skip.
    pub offset: Option<u64>,
}

pub(crate) const NOTHING: Option<&()> = None;

/// The parameters of a query that have a value.
pub(crate) fn query_of<'q>(known: &'q [(&'q str, &'q Option<String>)]) -> Vec<(&'q str, &'q str)> {
    known
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
        .collect()
}

impl Client {
    /// `GET /auth/session`: who is calling.
    pub async fn session(&self) -> Result<Answer<CallerView>, Error> {
        self.call(Method::GET, "/auth/session", &[], NOTHING).await?.read()
    }

    /// `POST /auth/device`: begins a login that a user confirms in a browser. Needs no key.
    pub async fn start_device_login(&self, wanted: &StartDeviceLogin) -> Result<Answer<DeviceLoginView>, Error> {
        self.call(Method::POST, "/auth/device", &[], Some(wanted)).await?.read()
    }

    /// `POST /auth/device/key`: what became of a login. Needs no key, and gives one once.
    pub async fn claim_device_login(&self, login: &ClaimDeviceLogin) -> Result<Answer<DeviceLoginOutcome>, Error> {
        self.call(Method::POST, "/auth/device/key", &[], Some(login))
            .await?
            .read()
    }

    /// `POST /uploads`: asks where to send bytes. [`Client::upload`] does this and sends them.
    pub async fn create_upload(&self, wanted: &CreateUpload) -> Result<Answer<UploadView>, Error> {
        self.call(Method::POST, "/uploads", &[], Some(wanted)).await?.read()
    }

    /// `POST /update`: publishes an update.
    pub async fn create_update(&self, wanted: &CreateUpdate) -> Result<Answer<UpdateView>, Error> {
        self.call(Method::POST, "/update", &[], Some(wanted)).await?.read()
    }

    /// `GET /update`: one page of the updates, newest first.
    pub async fn updates(&self, filter: &UpdateFilter) -> Result<Answer<Page<UpdateView>>, Error> {
        let numbers =
            [filter.limit.map(u64::from), filter.offset].map(|number| number.map(|number| number.to_string()));
        let [limit, offset] = &numbers;
        let known = [
            ("bundleId", &filter.bundle_id),
            ("platform", &filter.platform),
            ("configuration", &filter.configuration),
            ("status", &filter.status),
            ("limit", limit),
            ("offset", offset),
        ];
        self.call(Method::GET, "/update", &query_of(&known), NOTHING)
            .await?
            .read()
    }

    /// `GET /update?id=`: one update, with what devices reported of it.
    pub async fn update(&self, id: &str) -> Result<Answer<UpdateView>, Error> {
        self.call(Method::GET, "/update", &[("id", id)], NOTHING).await?.read()
    }

    /// `PATCH /update?id=`: changes what may change of an update.
    pub async fn change_update(&self, id: &str, change: &ChangeUpdate) -> Result<Answer<UpdateView>, Error> {
        self.call(Method::PATCH, "/update", &[("id", id)], Some(change))
            .await?
            .read()
    }
}
