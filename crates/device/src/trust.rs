//! Signed updates on a device (`docs/reference/sdk.md#trust`): what the app carries, what the device has stored, and
//! whether an offer may be installed.

mod fetch;

use std::io;

use launchway_delta::Digest;
use launchway_domain::build_number::CurrentBuild;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;
use launchway_trust::client::{self, AnnouncedVersions, App, Client, OfferError, StoredTrust};
use launchway_trust::{Reason, RoleError, Sha256};

use crate::offer::{Offer, Running};
use crate::ports::{Caches, Clock, Ports};
use crate::settings::Settings;
use crate::state::{State, TrustRecord};

/// Why no update is taken.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The server cannot be reached.
    #[error("cannot fetch metadata: {0}")]
    Network(io::Error),
    /// The server refuses for now.
    #[error("the server responded with status {status} to the request for `{file}`")]
    Status {
        /// The file that was requested.
        file: String,
        /// The status code.
        status: u16,
    },
    /// Metadata is refused.
    #[error("{}: {}", .0.reason.code(), .0)]
    Metadata(#[from] RoleError),
    /// The offer is refused.
    #[error("{}: {}", .0.code(), .0)]
    Offer(#[from] OfferError),
    /// The storage failed.
    #[error("the storage failed: {0}")]
    Storage(#[from] io::Error),
}

impl TrustError {
    /// Whether something was refused, and not just out of reach.
    pub(crate) const fn is_refusal(&self) -> bool {
        matches!(self, Self::Metadata(_) | Self::Offer(_))
    }

    /// Whether nodes that differ for a moment may be the cause: the target is unknown, or a file is older or missing.
    pub(crate) const fn may_pass(&self) -> bool {
        let error = match self {
            Self::Offer(OfferError::NotSigned { .. }) => return true,
            Self::Offer(OfferError::Metadata(error)) | Self::Metadata(error) => error,
            _ => return false,
        };
        matches!(
            error.reason,
            Reason::Missing | Reason::Rollback { .. } | Reason::NamesRollback { .. }
        )
    }
}

/// What decides about updates of one app.
pub(crate) struct Trust<'a> {
    settings: &'a Settings,
    /// `None`: the app carries no root, and the server's word counts. An error: nothing is taken.
    client: Option<Result<Client, RoleError>>,
}

impl<'a> Trust<'a> {
    /// Opens what the app carries and what this device has stored. What cannot be read is as if it were missing.
    pub(crate) fn open(settings: &'a Settings, record: Option<&TrustRecord>) -> Self {
        let client = settings.trust.as_ref().map(|embedded| {
            let stored = record.and_then(|record| StoredTrust::from_json(record.stored.as_bytes()).ok());
            let configuration = settings.configuration.as_ref();
            Client::open(&embedded.file, &settings.bundle_id, configuration, stored.as_ref())
        });
        Self { settings, client }
    }

    /// Whether a package is never started, whatever the network or the clock says.
    pub(crate) fn is_revoked(&self, package: Digest) -> bool {
        match &self.client {
            None => false,
            Some(Ok(client)) => client.revoked_packages().contains(&Sha256::from_bytes(package.0)),
            // Nobody can tell: the embedded app runs.
            Some(Err(_)) => true,
        }
    }

    /// Fetches metadata if the server announces newer one, if the last time is a day ago, or if caches are bypassed. What
    /// is learned is stored step by step, so that a later lie of the server is noticed.
    pub(crate) fn refresh(
        &mut self,
        ports: &Ports<'_>,
        state: &mut State,
        announced: Option<AnnouncedVersions>,
        caches: Caches,
    ) -> Result<(), TrustError> {
        let now = self.now(ports.clock);
        let client = match &mut self.client {
            None => return Ok(()),
            Some(Ok(client)) => client,
            Some(Err(error)) => return Err(error.clone().into()),
        };
        let announced = announced.unwrap_or(AnnouncedVersions { root: 0, snapshot: 0 });
        let refreshed_at = state.trust.as_ref().map_or(0, |record| record.refreshed_at);
        let due = client.is_behind(announced, epoch(refreshed_at), now);
        if !due && caches == Caches::Used {
            return Ok(());
        }
        let source = fetch::Source::new(ports.network, self.settings, caches);
        let fetched = fetch::run(&mut client.refresh(now), &source, &mut |client| {
            keep(client, refreshed_at, state, ports)
        });
        // A run that was refused in the end may have learned floors.
        let at = if fetched.is_ok() {
            now.unsigned_abs()
        } else {
            refreshed_at
        };
        keep(client, at, state, ports)?;
        fetched
    }

    /// The digest that the offer's file list must have, if the offer may be installed in place of what runs.
    pub(crate) fn permit(
        &self,
        offer: &Offer,
        running: &Running,
        clock: &dyn Clock,
    ) -> Result<Option<Digest>, TrustError> {
        let client = match &self.client {
            None => return Ok(offer.manifest),
            Some(Ok(client)) => client,
            Some(Err(error)) => return Err(error.clone().into()),
        };
        // Nothing is newer than a version that cannot be compared.
        let version = Version::parse(&running.version).map_err(|_| OfferError::NotNewer)?;
        let offered = client::Offer {
            platform: self.settings.platform,
            version: &offer.version,
            build_number: &offer.build_number,
            sha256: Sha256::from_bytes(offer.sha256.0),
            length: offer.size,
        };
        let app = App {
            platform: self.settings.platform,
            fingerprint: self.settings.fingerprint.as_deref(),
            version: &version,
            build: CurrentBuild::parse(&running.build).ok(),
        };
        let signed = client.accept(&offered, &app, self.now(clock))?;
        Ok(Some(Digest(*signed.update.manifest.as_bytes())))
    }

    fn now(&self, clock: &dyn Clock) -> EpochMs {
        let built_at = self.settings.trust.as_ref().map_or(0, |embedded| embedded.built_at);
        client::now(epoch(clock.now()), epoch(built_at))
    }
}

fn epoch(milliseconds: u64) -> EpochMs {
    milliseconds.try_into().unwrap_or(EpochMs::MAX)
}

/// Stores what the client trusts, if that is new.
fn keep(client: &Client, refreshed_at: u64, state: &mut State, ports: &Ports<'_>) -> io::Result<()> {
    let record = TrustRecord {
        refreshed_at,
        stored: client.stored_trust().to_json(),
    };
    if state.trust.as_ref() == Some(&record) {
        return Ok(());
    }
    state.trust = Some(record);
    state.save(ports.storage)
}
