//! One method for each endpoint in use, and the types shared by the calls in other files.

use launchway_api::auth::CallerView;
use launchway_api::device_logins::{ClaimDeviceLogin, DeviceLoginOutcome, DeviceLoginView, StartDeviceLogin};
use launchway_api::lists::Page;
use launchway_api::names::Names;
use launchway_api::updates::{ChangeUpdate, CreateUpdate, UpdateView};
use launchway_api::uploads::{CreateUpload, UploadView};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;

/// The requested part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// The maximum number of items; the server returns at most 100.
    pub limit: u32,
    /// The number of items to skip.
    pub offset: u64,
}

/// Filters for a list of updates. An absent filter matches every update.
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
    /// With `foreign_id`: whose clients name it.
    pub protocol: Option<String>,
    /// Only the update that clients of `protocol` name so.
    pub foreign_id: Option<String>,
}

pub(crate) const NOTHING: Option<&()> = None;

/// The query parameters that have a value.
pub(crate) fn query_of<'q>(known: &'q [(&'q str, &'q Option<String>)]) -> Vec<(&'q str, &'q str)> {
    known
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
        .collect()
}

impl Client {
    /// `GET /auth/session`: the caller.
    pub async fn session(&self) -> Result<Answer<CallerView>, Error> {
        self.call(Method::GET, "/auth/session", &[], NOTHING).await?.read()
    }

    /// `POST /auth/device`: starts a login that a user confirms in a browser. Needs no key.
    pub async fn start_device_login(&self, wanted: &StartDeviceLogin) -> Result<Answer<DeviceLoginView>, Error> {
        self.create("/auth/device", wanted).await
    }

    /// `POST /auth/device/key`: the outcome of a login. Needs no key, and returns one once.
    pub async fn claim_device_login(&self, login: &ClaimDeviceLogin) -> Result<Answer<DeviceLoginOutcome>, Error> {
        self.create("/auth/device/key", login).await
    }

    /// `POST /uploads`: requests a URL to upload bytes to. [`Client::upload`] calls it and then sends the bytes.
    pub async fn create_upload(&self, wanted: &CreateUpload) -> Result<Answer<UploadView>, Error> {
        self.create("/uploads", wanted).await
    }

    /// `GET /names?ids=`: the names of members, API keys, runners and credentials by their ids.
    pub async fn names(&self, ids: &[&str]) -> Result<Answer<Names>, Error> {
        let ids = ids.join(",");
        self.call(Method::GET, "/names", &[("ids", ids.as_str())], NOTHING)
            .await?
            .read()
    }

    /// `POST /update`: publishes an update.
    pub async fn create_update(&self, wanted: &CreateUpdate) -> Result<Answer<UpdateView>, Error> {
        self.create("/update", wanted).await
    }

    /// The same with the `lwfp-2` hash of the native code. It is sent in the query, which servers without support ignore.
    pub async fn create_update_with(
        &self,
        wanted: &CreateUpdate,
        lwfp2: Option<&str>,
    ) -> Result<Answer<UpdateView>, Error> {
        self.create(&with_lwfp2("/update", lwfp2), wanted).await
    }

    /// `GET /update`: one page of the updates, newest first.
    pub async fn updates(&self, filter: &UpdateFilter, paging: Paging) -> Result<Answer<Page<UpdateView>>, Error> {
        let known = [
            ("bundleId", &filter.bundle_id),
            ("platform", &filter.platform),
            ("configuration", &filter.configuration),
            ("status", &filter.status),
            ("protocol", &filter.protocol),
            ("foreignId", &filter.foreign_id),
        ];
        self.page("/update", paging, &query_of(&known)).await
    }

    /// `GET /update?id=`: one update, with the reports of devices about it.
    pub async fn update(&self, id: &str) -> Result<Answer<UpdateView>, Error> {
        self.one(Method::GET, "/update", id).await
    }

    /// `PATCH /update?id=`: changes the changeable fields of an update.
    pub async fn change_update(&self, id: &str, change: &ChangeUpdate) -> Result<Answer<UpdateView>, Error> {
        self.call(Method::PATCH, "/update", &[("id", id)], Some(change))
            .await?
            .read()
    }

    /// One page of the list at `path`, filtered.
    pub(crate) async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        paging: Paging,
        narrowed: &[(&str, &str)],
    ) -> Result<Answer<Page<T>>, Error> {
        let (limit, offset) = (paging.limit.to_string(), paging.offset.to_string());
        let mut query = narrowed.to_vec();
        query.extend([("limit", limit.as_str()), ("offset", offset.as_str())]);
        self.call(Method::GET, path, &query, NOTHING).await?.read()
    }

    /// A call on the resource that `id` names.
    pub(crate) async fn one<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        id: &str,
    ) -> Result<Answer<T>, Error> {
        self.call(method, path, &[("id", id)], NOTHING).await?.read()
    }

    /// Creates a resource.
    pub(crate) async fn create<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &str,
        wanted: &B,
    ) -> Result<Answer<T>, Error> {
        self.call(Method::POST, path, &[], Some(wanted)).await?.read()
    }
}

/// Adds the `lwfp-2` hash of native code to the query of a path. A text that is not a hash is not ours, and is left out.
pub(crate) fn with_lwfp2(path: &str, lwfp2: Option<&str>) -> String {
    match lwfp2.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        Some(hash) => format!("{path}?lwfp2={hash}"),
        None => path.to_owned(),
    }
}
