//! The credentials that a bucket uses at present. Those of a role are replaced before they expire.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use launchway_domain::time::{EpochMs, MINUTE, SECOND};
use launchway_os::clock::Clock;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;

use super::credentials::{Credentials, epoch_second};
use super::role::{RoleError, RoleSource, Session};
use crate::BlobError;
use crate::sigv4::Signer;

/// From this time before their end on, new credentials are asked for: a URL is signed for an hour.
const EARLY: EpochMs = 65 * MINUTE;
/// The shortest time between two requests for credentials. Many sources give the same ones until shortly before their end.
const SHORTEST: EpochMs = 5 * MINUTE;
/// The time after a failed request, and the shortest one when the end is near.
const AGAIN: EpochMs = 20 * SECOND;

/// Present credentials, for our own signatures and those of the library.
pub(super) struct Active {
    pub signer: Signer,
    credential: Arc<AwsCredential>,
    /// When they expire, in epoch milliseconds; `None` for keys that do not.
    ends_at: Option<EpochMs>,
}

impl Active {
    /// Credentials from the settings.
    pub fn of(credentials: &Credentials, region: &str) -> Result<Active, BlobError> {
        let end = credentials.expiration.as_deref().map(epoch_second).transpose()?;
        Ok(Active::new(credentials, region, end.map(|end| end * SECOND)))
    }

    /// Credentials of a role.
    pub fn of_session(session: &Session, region: &str) -> Active {
        Active::new(&session.credentials, region, Some(session.ends_at))
    }

    fn new(credentials: &Credentials, region: &str, ends_at: Option<EpochMs>) -> Active {
        let (id, secret) = (&credentials.access_key_id, &credentials.secret_access_key);
        let token = credentials.session_token.as_deref();
        let end = ends_at.map(|end| end.div_euclid(SECOND));
        Active {
            signer: Signer::new(id, secret, region, token, end),
            credential: Arc::new(AwsCredential {
                key_id: id.clone(),
                secret_key: secret.clone(),
                token: credentials.session_token.clone(),
            }),
            ends_at,
        }
    }

    /// The session token, to redact it: stores repeat it in some errors.
    pub fn token(&self) -> Option<&str> {
        self.credential.token.as_deref()
    }
}

/// The present credentials of a bucket, shared with the library.
pub(super) struct Present(ArcSwap<Active>);

impl Present {
    pub fn new(active: Active) -> Arc<Present> {
        Arc::new(Present(ArcSwap::from_pointee(active)))
    }

    pub fn load(&self) -> arc_swap::Guard<Arc<Active>> {
        self.0.load()
    }

    /// Asks for new credentials of a role and uses them from now on.
    pub async fn renew(&self, role: &RoleSource, region: &str) -> Result<(), RoleError> {
        let session = role.fetch().await?;
        self.0.store(Arc::new(Active::of_session(&session, region)));
        Ok(())
    }
}

impl fmt::Debug for Present {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Present").finish_non_exhaustive()
    }
}

type Given<'f> = Pin<Box<dyn Future<Output = object_store::Result<Arc<AwsCredential>>> + Send + 'f>>;

impl CredentialProvider for Present {
    type Credential = AwsCredential;

    fn get_credential<'s, 'f>(&'s self) -> Given<'f>
    where
        's: 'f,
        Self: 'f,
    {
        let credential = self.load().credential.clone();
        Box::pin(async move { Ok(credential) })
    }
}

/// Renews the credentials of a role until nobody uses them any more.
pub(super) async fn keep_fresh(
    present: Weak<Present>,
    role: RoleSource,
    region: String,
    clock: Arc<dyn Clock>,
    sleep: impl AsyncFn(Duration),
) {
    let mut failed = false;
    loop {
        let Some(ends_at) = present.upgrade().map(|present| present.load().ends_at) else {
            return;
        };
        sleep(pause(clock.now(), ends_at, failed)).await;
        let Some(present) = present.upgrade() else { return };
        failed = match present.renew(&role, &region).await {
            Ok(()) => false,
            Err(error) => {
                tracing::warn!(%error, "cannot renew the credentials of the object storage");
                true
            }
        };
    }
}

/// How long to wait before credentials are asked for again.
fn pause(now: EpochMs, ends_at: Option<EpochMs>, failed: bool) -> Duration {
    let left = ends_at.unwrap_or(now).saturating_sub(now);
    let usual = left.saturating_sub(EARLY).max(SHORTEST);
    // At least twice before the end.
    let wait = if failed { AGAIN } else { usual.min(left / 3).max(AGAIN) };
    Duration::from_millis(wait.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_renewed_early_and_not_too_often() {
        for (left_minutes, failed, seconds) in [
            (360, false, 120 * 60),
            (90, false, 25 * 60),
            (66, false, 5 * 60),
            (60, false, 5 * 60),
            (15, false, 5 * 60),
            (6, false, 2 * 60),
            (0, false, 20),
            (-5, false, 20),
            (360, true, 20),
        ] {
            let pause = pause(1_000, Some(1_000 + left_minutes * MINUTE), failed);
            assert_eq!(pause.as_secs(), seconds, "{left_minutes} {failed}");
        }
    }
}
