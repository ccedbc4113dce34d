//! What the users of an app have, as far as the server knows: its newest build with a fingerprint, or else its newest
//! update with one (`docs/reference/command-line.md#incompatible-updates`).

use launchway_api::updates::UpdateView;
use launchway_client::{Client, Paging, UpdateFilter};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::version::Version;

use super::side::{Side, side_from_view};
use crate::context::Context;
use crate::failure::Failure;

/// Why an update is compared.
pub const NO_BUILD: &str = "No successful build of this app has a fingerprint yet";
/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: Paging = Paging { limit: 100, offset: 0 };

/// An app that may be installed.
pub struct ReleasedApp<'a> {
    pub bundle_id: &'a str,
    pub platform: &'a str,
    /// With builds and updates of this configuration or of none; of any when absent.
    pub configuration: Option<&'a str>,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Build,
    Update,
}

/// The newest build or update with a fingerprint.
pub struct Newest {
    pub kind: Kind,
    pub id: String,
    pub side: Side,
}

impl ReleasedApp<'_> {
    /// Asks the server; `None` when nothing has a fingerprint yet.
    pub async fn newest(&self, context: &Context) -> Result<Option<Newest>, Failure> {
        let client = context.client()?;
        let build = client.latest_fingerprint(self.bundle_id, self.platform, self.configuration);
        if let Some(found) = build.await? {
            return Ok(Some(Newest {
                kind: Kind::Build,
                id: found.value.id.clone(),
                side: side_from_view(&found.value)?,
            }));
        }
        let mut update = self.newest_update(self.configuration, &client).await?;
        if update.is_none() && self.configuration.is_some() {
            update = self.newest_update(None, &client).await?;
        }
        let Some(id) = update else { return Ok(None) };
        Ok(Some(Newest {
            kind: Kind::Update,
            side: side_from_view(&client.fingerprint(&id).await?.value)?,
            id,
        }))
    }

    /// The newest published update with a fingerprint that the filter finds and that apps of the configuration get.
    async fn newest_update(&self, filter: Option<&str>, client: &Client) -> Result<Option<String>, Failure> {
        let filter = UpdateFilter {
            bundle_id: Some(self.bundle_id.to_owned()),
            platform: Some(self.platform.to_owned()),
            configuration: filter.map(str::to_owned),
            status: Some("published".to_owned()),
            ..UpdateFilter::default()
        };
        let updates = client.updates(&filter, PAGE).await?.value.items;
        let fits = |update: &&UpdateView| {
            let configuration = update.configuration.as_deref();
            let is_wanted =
                self.configuration.is_none() || configuration.is_none() || configuration == self.configuration;
            is_wanted && update.fingerprint.is_some()
        };
        let order = |update: &UpdateView| {
            (
                Version::parse(&update.version).ok(),
                BuildNumber::parse(&update.build_number).ok(),
            )
        };
        let newest = updates
            .iter()
            .filter(fits)
            .max_by(|this, that| order(this).cmp(&order(that)));
        Ok(newest.map(|update| update.id.clone()))
    }
}
