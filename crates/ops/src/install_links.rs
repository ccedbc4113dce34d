//! The links with which people install a build without signing in: HMAC-SHA256 over build and expiry.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_api::builds::InstallLink;
use launchway_domain::id::BuildId;
use launchway_domain::mac::{MacKey, SHORT};
use launchway_domain::time::{DAY, EpochMs, SECOND, iso};
use subtle::ConstantTimeEq;

/// How long a link is valid.
const LIFE: EpochMs = 7 * DAY;

/// Signs and verifies install links.
pub struct InstallLinks {
    key: MacKey,
}

/// Why a link is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallLinkError {
    /// It was not signed here, or was altered.
    Forged,
    /// It has expired.
    Expired,
}

impl InstallLinks {
    /// Signs and verifies with this key.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key: MacKey::new(&key) }
    }

    /// The link to the page of a build below this address, valid for a week from now.
    pub fn link(&self, public_url: &str, build: BuildId, now: EpochMs) -> InstallLink {
        let expires = (now + LIFE) / SECOND;
        InstallLink {
            url: format!("{public_url}/install/{build}?{}", self.proof(build, expires)),
            expires_at: iso(expires * SECOND),
        }
    }

    /// The query that authenticates a link until an epoch second.
    pub fn proof(&self, build: BuildId, expires: i64) -> String {
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.mac_of(build, expires));
        format!("expires={expires}&signature={signature}")
    }

    /// Verifies the link to a build, and returns the epoch second at which it expires.
    ///
    /// # Errors
    /// The [`InstallLinkError`]. Only a genuine link is reported as expired.
    pub fn verify(
        &self,
        build: BuildId,
        expires: &str,
        signature: &str,
        now: EpochMs,
    ) -> Result<i64, InstallLinkError> {
        let expires: i64 = expires.parse().map_err(|_| InstallLinkError::Forged)?;
        let given = BASE64_URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|_| InstallLinkError::Forged)?;
        if !bool::from(self.mac_of(build, expires).ct_eq(given.as_slice())) {
            return Err(InstallLinkError::Forged);
        }
        if expires <= now / SECOND {
            return Err(InstallLinkError::Expired);
        }
        Ok(expires)
    }

    fn mac_of(&self, build: BuildId, expires: i64) -> [u8; SHORT] {
        self.key.short(&[build.uuid().as_bytes(), &expires.to_be_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_for_its_build_and_time() {
        let links = InstallLinks::new([7; 32]);
        let (build, other) = (BuildId::new(1, [1; 10]), BuildId::new(1, [2; 10]));
        let proof = links.proof(build, 100);
        let signature = proof.rsplit_once('=').expect("a query").1;
        assert_eq!(links.verify(build, "100", signature, 99_999), Ok(100));
        assert_eq!(
            links.verify(build, "100", signature, 100_000),
            Err(InstallLinkError::Expired)
        );
        for (build, expires) in [(other, "100"), (build, "101"), (build, "99"), (build, ""), (build, "x")] {
            assert_eq!(
                links.verify(build, expires, signature, 0),
                Err(InstallLinkError::Forged),
                "{expires}"
            );
        }
        let foreign = InstallLinks::new([8; 32]);
        assert_eq!(
            foreign.verify(build, "100", signature, 0),
            Err(InstallLinkError::Forged)
        );
        for place in 0..signature.len() {
            let mut forged = signature.to_owned().into_bytes();
            forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).expect("ASCII");
            assert_eq!(
                links.verify(build, "100", &forged, 0),
                Err(InstallLinkError::Forged),
                "{place}"
            );
        }
        for cut in ["", &signature[..20], &format!("{signature}AA")] {
            assert_eq!(
                links.verify(build, "100", cut, 0),
                Err(InstallLinkError::Forged),
                "{cut}"
            );
        }
    }
}
