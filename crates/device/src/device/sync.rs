//! One round with the server: check, download, install, report, clean up.

use std::io;

use launchway_delta::Digest;

use crate::boot::{Content, SlotId, Soundness};
use crate::check::{Answer, CheckError, Offer};
use crate::device::Device;
use crate::device::offers::Finding;
use crate::download::{DownloadError, discard};
use crate::reports;
use crate::slot::{Expected, InstallError, install};
use crate::state::{FailedUpdate, Found, SlotRecord, State, load_attempt};
use crate::trust::TrustError;

/// The outcome of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOutcome {
    /// There is no update.
    Nothing,
    /// A new store binary is needed, for this reason.
    StoreUpdateRequired(String),
    /// The next start tries this update.
    Staged(Box<Offer>),
    /// This update is installed, and waits until the app chooses it.
    Downloaded(Box<Offer>),
    /// What runs has these bytes already, and is this update from now on.
    SameBytes(Box<Offer>),
    /// The offer failed before on this binary.
    Quarantined(Box<Offer>),
    /// The download waits for a connection that is not metered.
    WaitsForWifi(Box<Offer>),
}

/// Why a round ended early.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// Another process of the app decides.
    #[error("another process of this app runs the client")]
    NotMain,
    /// The app has not started since it was installed.
    #[error("the app has not started yet")]
    NotStarted,
    /// The state was corrupt and is set aside.
    #[error("state.json is not valid; it was set aside, and the next start uses a new one")]
    Corrupt,
    /// The storage failed.
    #[error("the storage failed: {0}")]
    Storage(#[from] io::Error),
    /// The check failed.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The app's developers did not sign this, or nobody can tell.
    #[error("cannot verify updates: {0}")]
    Unverified(TrustError),
    /// The download failed.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The package cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

impl From<TrustError> for SyncError {
    fn from(error: TrustError) -> Self {
        match error {
            TrustError::Storage(error) => Self::Storage(error),
            error => Self::Unverified(error),
        }
    }
}

/// What becomes of an update that is installed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// The next start tries it.
    Next,
    /// It waits until the app chooses it.
    Installed,
}

impl Device<'_> {
    /// Asks the server, installs what it offers for the next start, and reports what happened. `progress` is told the
    /// bytes of the package that have arrived.
    ///
    /// # Errors
    /// The round ended early. Nothing that runs is changed, and the next round continues where this one stopped.
    pub fn sync(&self, progress: &mut dyn FnMut(u64)) -> Result<SyncOutcome, SyncError> {
        self.round(Aim::Next, progress)
    }

    /// Does the same as [`Self::sync`], but leaves the choice of what the next start tries to [`Self::next`].
    ///
    /// # Errors
    /// As for [`Self::sync`].
    pub fn download(&self, progress: &mut dyn FnMut(u64)) -> Result<SyncOutcome, SyncError> {
        self.round(Aim::Installed, progress)
    }

    fn round(&self, aim: Aim, progress: &mut dyn FnMut(u64)) -> Result<SyncOutcome, SyncError> {
        let mut state = self.load()?;
        let running = self.running_content()?;
        let result = self.update(&mut state, running, aim, progress);
        // Reports and room on the disk do not depend on how the update went.
        let reported = self.send_reports();
        let cleaned = self.load().and_then(|mut state| self.clean_up(&mut state, running));
        let synced = result?;
        reported?;
        cleaned?;
        Ok(synced)
    }

    /// Asks the server, verifies what it offers, and installs nothing. An app that only checks learns of revocations, too.
    ///
    /// # Errors
    /// There is no answer, or the offer may not be installed.
    pub fn check(&self) -> Result<Answer, SyncError> {
        let mut state = self.load()?;
        let running = self.running_content()?;
        Ok(match self.find_update(&mut state, running)? {
            Finding::Nothing(answer) => answer,
            Finding::Quarantined(offer) | Finding::Permitted { offer, .. } => Answer::Update(offer),
        })
    }

    /// Sends the reports that wait. Answers how many the server took.
    ///
    /// # Errors
    /// The storage fails.
    pub fn send_reports(&self) -> Result<usize, SyncError> {
        let state = self.load()?;
        Ok(reports::send(
            self.ports.storage,
            self.ports.network,
            self.settings,
            &state.tokens,
        )?)
    }

    pub(super) fn load(&self) -> Result<State, SyncError> {
        if !self.is_main() {
            return Err(SyncError::NotMain);
        }
        match State::load(self.ports.storage)? {
            Found::Nothing => Err(SyncError::NotStarted),
            Found::Corrupt => {
                State::set_aside(self.ports.storage)?;
                Err(SyncError::Corrupt)
            }
            Found::Whole(state) => Ok(state),
        }
    }

    fn running_content(&self) -> Result<Content, SyncError> {
        Ok(match load_attempt(self.ports.storage)? {
            Found::Whole(attempt) => attempt.content,
            Found::Nothing | Found::Corrupt => Content::Embedded,
        })
    }

    fn update(
        &self,
        state: &mut State,
        running: Content,
        aim: Aim,
        progress: &mut dyn FnMut(u64),
    ) -> Result<SyncOutcome, SyncError> {
        let (offer, expected) = match self.find_update(state, running)? {
            Finding::Nothing(Answer::StoreUpdateRequired { reason }) => {
                return Ok(SyncOutcome::StoreUpdateRequired(reason));
            }
            Finding::Nothing(_) => return Ok(SyncOutcome::Nothing),
            Finding::Quarantined(offer) => return Ok(SyncOutcome::Quarantined(offer)),
            Finding::Permitted { offer, manifest } => (offer, manifest),
        };
        let manifest = match self.installed_manifest(state, running, offer.sha256)? {
            // A slot stays as it is, whatever the server says of its files by now.
            Some(manifest) if expected.is_some_and(|expected| expected != manifest) => {
                return Err(self.report_failure(state, &offer, InstallError::WrongFiles.into()));
            }
            Some(manifest) => manifest,
            None if self.settings.wifi_only && !self.ports.network.is_unmetered() => {
                return Ok(SyncOutcome::WaitsForWifi(offer));
            }
            None => self.fetch(state, running, &offer, expected, progress)?,
        };
        self.record(state, running, aim, offer, manifest)
    }

    /// Downloads and installs a package. Answers the digest of its file list.
    fn fetch(
        &self,
        state: &mut State,
        running: Content,
        offer: &Offer,
        manifest: Option<Digest>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Digest, SyncError> {
        self.drop_other_parts(offer.sha256)?;
        let path = self.download_with_retries(state, running, offer, progress)?;
        let package = self.ports.storage.open(&path)?;
        let expected = Expected {
            manifest,
            list: None,
            entry_file: &self.settings.entry_file,
        };
        install(self.ports.storage, package, offer.sha256, &expected)
            .map(|list| list.manifest())
            .map_err(|error| self.report_install_error(state, offer, error))
    }

    /// The digest of a slot's file list, if the slot is whole. The running content is never replaced while it runs.
    fn installed_manifest(&self, state: &State, running: Content, id: SlotId) -> Result<Option<Digest>, SyncError> {
        let whole = running == Content::Slot(id) || self.soundness(id, true)? == Soundness::Sound;
        Ok(state.slot(id).filter(|_| whole).map(|slot| slot.manifest))
    }

    fn record(
        &self,
        state: &mut State,
        running: Content,
        aim: Aim,
        offer: Box<Offer>,
        manifest: Digest,
    ) -> Result<SyncOutcome, SyncError> {
        let known = state.slot(offer.sha256).is_some_and(|slot| slot.update_id == offer.id);
        if known && aim == Aim::Installed {
            return Ok(SyncOutcome::Downloaded(offer));
        }
        if known && state.boot.next == Some(offer.sha256) {
            return Ok(SyncOutcome::Staged(offer));
        }
        let same = state.boot.current == Content::Slot(offer.sha256) && running == state.boot.current;
        let mut kinds = vec!["downloaded"];
        if same {
            kinds.push("installed");
            if !state.boot.trial {
                kinds.push("confirmed");
            }
        } else if aim == Aim::Next {
            state.boot.stage(offer.sha256);
        }
        state.failed.take_if(|failed| failed.update_id == offer.id);
        let events = kinds
            .into_iter()
            .map(|kind| self.report(kind, offer.id.clone(), None))
            .collect();
        let _ = reports::add(self.ports.storage, events);
        state.record(SlotRecord {
            id: offer.sha256,
            update_id: offer.id.clone(),
            version: offer.version.clone(),
            build_number: offer.build_number.clone(),
            manifest,
        });
        state.save(self.ports.storage)?;
        discard(self.ports.storage, offer.sha256)?;
        Ok(match aim {
            _ if same => SyncOutcome::SameBytes(offer),
            Aim::Next => SyncOutcome::Staged(offer),
            Aim::Installed => SyncOutcome::Downloaded(offer),
        })
    }

    /// Reports that an update failed, and passes the error on.
    pub(super) fn report_failure(&self, state: &mut State, offer: &Offer, error: SyncError) -> SyncError {
        // The round ends for a reason that matters more than a storage that fails.
        let _ = self.save_failure(state, offer, &error);
        error
    }

    /// Reports that an update failed, and saves the state with it.
    fn save_failure(&self, state: &mut State, offer: &Offer, error: &SyncError) -> io::Result<()> {
        let event = self.report("failed", offer.id.clone(), Some(error.to_string()));
        let _ = reports::add(self.ports.storage, vec![event]);
        state.failed = Some(FailedUpdate {
            update_id: offer.id.clone(),
            version: offer.version.clone(),
            build_number: offer.build_number.clone(),
            sha256: offer.sha256,
            reason: reports::cut_reason(&error.to_string()),
        });
        state.save(self.ports.storage)
    }

    /// A package with a fault has it for ever: it is not downloaded again on this binary.
    fn report_install_error(&self, state: &mut State, offer: &Offer, error: InstallError) -> SyncError {
        match error {
            InstallError::Storage(_) => error.into(),
            InstallError::NoSpace { .. } | InstallError::WrongFiles => self.report_failure(state, offer, error.into()),
            _ => {
                state.boot.ban(offer.sha256);
                let error = SyncError::from(error);
                if self.save_failure(state, offer, &error).is_ok() {
                    let _ = discard(self.ports.storage, offer.sha256);
                }
                error
            }
        }
    }
}
