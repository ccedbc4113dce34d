//! The calls for signed updates.

use launchway_api::lists::{Deleted, Page};
use launchway_api::trust::{
    AddTrustSignatures, AllowOtherFormats, CreateOnlineKey, CreateTrustDraft, OnlineKeyView, PostTrust, ResetTrust,
    TrustChange, TrustDraftView, TrustView,
};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{NOTHING, Paging};
use crate::client::Client;
use crate::error::Error;

impl Client {
    /// `GET /trust?bundleId=`: the roles and keys of an app, and its drafts.
    pub async fn trust(&self, bundle_id: &str) -> Result<Answer<TrustView>, Error> {
        self.call(Method::GET, "/trust", &[("bundleId", bundle_id)], NOTHING)
            .await?
            .read()
    }

    /// `POST /trust`: adds roots and versions of roles, together or not at all.
    pub async fn change_trust(&self, change: &PostTrust) -> Result<Answer<TrustChange>, Error> {
        self.create("/trust", change).await
    }

    /// `GET /trust/drafts?bundleId=`: one page of the drafts of an app, without their metadata.
    pub async fn trust_drafts(&self, bundle_id: &str, paging: Paging) -> Result<Answer<Page<TrustDraftView>>, Error> {
        self.page("/trust/drafts", paging, &[("bundleId", bundle_id)]).await
    }

    /// `GET /trust/drafts?bundleId=&role=`: the draft of one role, with its metadata.
    pub async fn trust_draft(&self, bundle_id: &str, role: &str) -> Result<Answer<TrustDraftView>, Error> {
        let query = [("bundleId", bundle_id), ("role", role)];
        self.call(Method::GET, "/trust/drafts", &query, NOTHING).await?.read()
    }

    /// `POST /trust/drafts`: makes the next version of a role out of updates that wait for a signature.
    pub async fn create_trust_draft(&self, wanted: &CreateTrustDraft) -> Result<Answer<TrustDraftView>, Error> {
        self.create("/trust/drafts", wanted).await
    }

    /// `DELETE /trust/drafts?bundleId=&role=`: deletes a draft. Its updates go on waiting.
    pub async fn delete_trust_draft(&self, bundle_id: &str, role: &str) -> Result<Answer<Deleted>, Error> {
        let query = [("bundleId", bundle_id), ("role", role)];
        self.call(Method::DELETE, "/trust/drafts", &query, NOTHING)
            .await?
            .read()
    }

    /// `POST /trust/signatures`: adds signatures to a draft. The last one that is missing publishes it.
    pub async fn add_trust_signatures(&self, signatures: &AddTrustSignatures) -> Result<Answer<TrustChange>, Error> {
        self.create("/trust/signatures", signatures).await
    }

    /// `POST /trust/online-key`: makes a key of the server that the next root has to name.
    pub async fn create_online_key(&self, wanted: &CreateOnlineKey) -> Result<Answer<OnlineKeyView>, Error> {
        self.create("/trust/online-key", wanted).await
    }

    /// `POST /trust/reset`: begins a new repository for an app whose keys are lost.
    pub async fn reset_trust(&self, reset: &ResetTrust) -> Result<Answer<TrustChange>, Error> {
        self.create("/trust/reset", reset).await
    }

    /// `POST /trust/other-formats`: allows or forbids updates of formats that the app's root does not protect.
    pub async fn allow_other_formats(&self, wanted: &AllowOtherFormats) -> Result<Answer<TrustView>, Error> {
        self.create("/trust/other-formats", wanted).await
    }

    /// `/tuf/{bundleId}/{name}`: a file of the app's repository, which is public and not trusted. `None` if the server does not
    /// have it. A file that is longer than `limit` bytes is cut off after it, and so refused by its reader.
    pub async fn trust_file(&self, bundle_id: &str, name: &str, limit: usize) -> Result<Option<Vec<u8>>, Error> {
        self.get_public(&format!("/tuf/{bundle_id}/{name}"), limit).await
    }

    /// `GET /update/package?id=`: a signed URL of an update's package, also before the update is published.
    pub async fn update_package_url(&self, id: &str) -> Result<String, Error> {
        self.call(Method::GET, "/update/package", &[("id", id)], NOTHING)
            .await?
            .location("/update/package")
    }
}
