//! What the server offers, and whether it may be installed (`docs/reference/sdk.md#trust`).

use launchway_delta::Digest;

use crate::boot::Content;
use crate::check::{Answer, CheckError, CheckOutcome, Offer, check, expect_newer};
use crate::device::{Device, SyncError};
use crate::ports::Caches;
use crate::state::State;
use crate::trust::{Trust, TrustError};

/// The nodes of a server differ for a moment after a publication: how long to wait before asking again, in milliseconds.
const PAUSE: u64 = 3_000;

/// What a round with the server has found.
pub(super) enum Finding {
    /// Nothing to install: the answer offers no update.
    Nothing(Answer),
    /// The offer failed before on this binary.
    Quarantined(Box<Offer>),
    /// An update that may be installed.
    Permitted {
        /// The update.
        offer: Box<Offer>,
        /// The digest that its file list must have, if that is known.
        manifest: Option<Digest>,
    },
}

/// Why a round has found nothing, and the offer that was refused.
struct Refusal {
    error: SyncError,
    offer: Option<Box<Offer>>,
}

impl From<SyncError> for Refusal {
    fn from(error: SyncError) -> Self {
        Self { error, offer: None }
    }
}

impl From<TrustError> for Refusal {
    fn from(error: TrustError) -> Self {
        SyncError::from(error).into()
    }
}

impl Device<'_> {
    /// Asks for an update and verifies it. What may be due to nodes that differ is asked once more, without caches. A
    /// refusal of an offer is reported.
    pub(super) fn find_update(&self, state: &mut State, running: Content) -> Result<Finding, SyncError> {
        let mut found = self.ask_and_verify(state, running, Caches::Used);
        if found.as_ref().is_err_and(Refusal::may_pass) {
            self.ports.clock.pause(PAUSE);
            found = self.ask_and_verify(state, running, Caches::Bypassed);
        }
        found.map_err(|Refusal { error, offer }| match offer {
            Some(offer) => self.report_failure(state, &offer, error),
            None => error,
        })
    }

    /// Asks the server.
    pub(super) fn ask(&self, state: &mut State, running: Content, caches: Caches) -> Result<CheckOutcome, SyncError> {
        let running = self.running(state, running);
        let checked = check(self.ports.network, self.settings, &running, &state.device_id, caches)?;
        if let Some((update_id, token)) = &checked.token {
            state.keep_token(update_id, token);
            state.save(self.ports.storage)?;
        }
        Ok(checked)
    }

    fn ask_and_verify(&self, state: &mut State, running: Content, caches: Caches) -> Result<Finding, Refusal> {
        let checked = self.ask(state, running, caches);
        if let Err(error @ (SyncError::Check(CheckError::Network(_)) | SyncError::Storage(_))) = checked {
            return Err(error.into());
        }
        let announced = checked.as_ref().ok().and_then(|checked| checked.trust);
        let mut trust = Trust::open(self.settings, state.trust.as_ref());
        // Revocations arrive in this way, so it is done whatever the check says.
        let refreshed = trust.refresh(&self.ports, state, announced, caches);
        let (checked, running) = (checked?, self.running(state, running));
        expect_newer(&checked.answer, &running).map_err(Refusal::of_check)?;
        let offer = match checked.answer {
            answer @ Answer::Nothing { .. } => {
                refreshed?;
                return Ok(Finding::Nothing(answer));
            }
            answer @ Answer::StoreUpdateRequired { .. } => return Ok(Finding::Nothing(answer)),
            Answer::Update(offer) => offer,
        };
        if state.boot.quarantine.contains(&offer.sha256) {
            return Ok(Finding::Quarantined(offer));
        }
        match refreshed.and_then(|()| trust.permit(&offer, &running, self.ports.clock)) {
            Ok(manifest) => Ok(Finding::Permitted { offer, manifest }),
            Err(error) => Err(Refusal {
                offer: error.is_refusal().then_some(offer),
                error: error.into(),
            }),
        }
    }
}

impl Refusal {
    /// An offer that is not newer than what runs is reported like one that nobody signed.
    fn of_check(error: CheckError) -> Self {
        let offer = match &error {
            CheckError::NotNewer(offer) => Some(offer.clone()),
            _ => None,
        };
        Self {
            error: error.into(),
            offer,
        }
    }

    fn may_pass(&self) -> bool {
        self.offer.is_some() && matches!(&self.error, SyncError::Unverified(error) if error.may_pass())
    }
}
