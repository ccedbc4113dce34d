//! The calls for fingerprints.

use launchway_api::fingerprints::{FingerprintDifference, FingerprintView};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::NOTHING;
use crate::client::Client;
use crate::error::Error;

impl Client {
    /// `GET /fingerprints?id=`: the fingerprint of a build or an update.
    pub async fn fingerprint(&self, id: &str) -> Result<Answer<FingerprintView>, Error> {
        self.one(Method::GET, "/fingerprints", id).await
    }

    /// `GET /fingerprints/diff?from=&to=`: the differences between two builds or updates.
    pub async fn fingerprint_diff(&self, from: &str, to: &str) -> Result<Answer<FingerprintDifference>, Error> {
        let query = [("from", from), ("to", to)];
        self.call(Method::GET, "/fingerprints/diff", &query, NOTHING)
            .await?
            .read()
    }

    /// `GET /fingerprints/latest`: the fingerprint of the newest successful build that has one; `None` if there is none.
    pub async fn latest_fingerprint(
        &self,
        bundle_id: &str,
        platform: &str,
        configuration: Option<&str>,
    ) -> Result<Option<Answer<FingerprintView>>, Error> {
        let mut query = vec![("bundleId", bundle_id), ("platform", platform)];
        query.extend(configuration.map(|name| ("configuration", name)));
        let answer = self.call(Method::GET, "/fingerprints/latest", &query, NOTHING).await;
        match answer.and_then(|answer| answer.read()) {
            Ok(found) => Ok(Some(found)),
            Err(Error::Api { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
