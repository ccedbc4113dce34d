//! Downloads that are retried after failures: how long to wait, how often, and when to ask for another address.

use crate::boot::Content;
use crate::check::{Answer, Offer};
use crate::device::{Device, SyncError};
use crate::download::{DownloadError, download};
use crate::ports::Caches;
use crate::state::State;

/// How often a download is tried without a byte of progress.
const MAX_TRIES: u32 = 4;
/// How often an expired address is replaced in one round.
const MAX_ADDRESSES: u32 = 3;

impl Device<'_> {
    /// Downloads with retries: after a failure it pauses, after an expired address it asks for another one.
    pub(super) fn download_with_retries(
        &self,
        state: &mut State,
        running: Content,
        offer: &Offer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<String, SyncError> {
        let mut offer = offer.clone();
        let (mut tries, mut addresses, mut most) = (0, 1, 0);
        loop {
            let mut advanced = false;
            let mut watch = |bytes: u64| {
                advanced |= bytes > most;
                most = bytes.max(most);
                progress(bytes);
            };
            let error = match download(self.ports.storage, self.ports.network, &offer, &mut watch) {
                Ok(path) => return Ok(path),
                Err(error) => error,
            };
            tries = if advanced { 1 } else { tries + 1 };
            match error {
                DownloadError::Expired(_) if addresses < MAX_ADDRESSES => {
                    addresses += 1;
                    match self.ask(state, running, Caches::Used)?.answer {
                        Answer::Update(fresh) if fresh.sha256 == offer.sha256 => offer.url = fresh.url,
                        // There is something else to install by now; the next round does.
                        _ => return Err(error.into()),
                    }
                }
                DownloadError::Network(_) | DownloadError::Status(429 | 500..) if tries < MAX_TRIES => {
                    self.pause(tries)
                }
                DownloadError::Wrong(_) if tries < 2 => self.pause(tries),
                DownloadError::Wrong(_) | DownloadError::NoSpace { .. } => {
                    return Err(self.report_failure(state, &offer, error.into()));
                }
                error => return Err(error.into()),
            }
        }
    }

    /// 1, 4 and 16 seconds, and up to half of that again, so that phones do not come back at once together.
    fn pause(&self, tries: u32) {
        let pause = 1000 << (2 * tries.saturating_sub(1)).min(8);
        let [low, high, ..] = self.ports.random.bytes();
        let share = u64::from(u16::from_le_bytes([low, high]));
        self.ports.clock.pause(pause + pause * share / (2 << 16));
    }
}
