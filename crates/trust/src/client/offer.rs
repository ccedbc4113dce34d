//! Whether an update that the check offers may be installed
//! (`docs/reference/trust.md#offers`).

use std::cmp::Ordering;

use launchway_domain::build_number::{BuildNumber, CurrentBuild};
use launchway_domain::platform::Platform;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;

use super::Client;
use crate::digest::Sha256;
use crate::role::UpdateRole;
use crate::role_error::RoleError;
use crate::update::target_path;

pub use crate::update::Update;

/// What the check's answer says about the update that it offers. The server wrote it: nothing of it is trusted.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// What it is for.
    pub platform: Platform,
    /// Its version.
    pub version: &'a str,
    /// Its build number.
    pub build_number: &'a str,
    /// The hash of its package.
    pub sha256: Sha256,
    /// The length of its package in bytes.
    pub length: u64,
}

/// The app that asks, as it knows itself.
#[derive(Clone, Debug)]
pub struct App<'a> {
    /// Its platform.
    pub platform: Platform,
    /// The hash of its fingerprint, if it has one.
    pub fingerprint: Option<&'a str>,
    /// The version of the content that runs.
    pub version: &'a Version,
    /// The build of the content that runs.
    pub build: Option<CurrentBuild<'a>>,
}

/// An update that its developers signed for this app, and that is newer than what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedUpdate {
    /// The role that signed it.
    pub role: UpdateRole,
    /// The path of its target.
    pub path: String,
    /// The hash that its package must have.
    pub sha256: Sha256,
    /// The length that its package must have.
    pub length: u64,
    /// What was signed about it.
    pub update: Update,
}

/// Why an offered update is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// What is trusted is not valid now.
    #[error(transparent)]
    Metadata(#[from] RoleError),
    /// The answer's version or build number is none.
    #[error("the response has no version and build number")]
    Malformed,
    /// No role for this app signed an update of this platform, version and build number.
    #[error("no role signed version {version} build {build}")]
    NotSigned {
        /// The version.
        version: String,
        /// The build number.
        build: u64,
    },
    /// What was signed under this name is another package, or says something else.
    #[error("`{path}` was signed with a different {what}")]
    Differs {
        /// The path of the target.
        path: String,
        /// What differs.
        what: Difference,
    },
    /// A role, or the app, revoked the package.
    #[error("the package was revoked")]
    Revoked,
    /// It is for another platform than the app's.
    #[error("it is for {0}")]
    Platform(Platform),
    /// It is for another native app.
    #[error("its fingerprint differs from the app's")]
    Fingerprint,
    /// What runs is this version and build, or newer.
    #[error("it is not newer than the running version")]
    NotNewer,
}

/// What a signed target says otherwise than an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The hash of the package.
    Hash,
    /// The length of the package.
    Length,
    /// The version or build number.
    Version,
    /// What the role says cannot be read.
    Form,
}

impl OfferError {
    /// The name of the reason in a client's log and report, the same in every language.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Metadata(refusal) => refusal.reason.code(),
            Self::Malformed => "malformed-answer",
            Self::NotSigned { .. } => "not-signed",
            Self::Differs { .. } => "other-package",
            Self::Revoked => "revoked",
            Self::Platform(_) => "other-platform",
            Self::Fingerprint => "other-fingerprint",
            Self::NotNewer => "not-newer",
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Hash => "hash",
            Self::Length => "length",
            Self::Version => "version or build number",
            Self::Form => "form",
        })
    }
}

impl Client {
    /// Decides about an offer. The role of the app's configuration is asked first, and if it signed an update of this
    /// version and build, `any` is not asked.
    ///
    /// # Errors
    /// The update is not to be installed.
    pub fn accept(&self, offer: &Offer<'_>, app: &App<'_>, now: EpochMs) -> Result<SignedUpdate, OfferError> {
        let version = Version::parse(offer.version).map_err(|_| OfferError::Malformed)?;
        let build = BuildNumber::parse(offer.build_number).map_err(|_| OfferError::Malformed)?;
        if offer.platform != app.platform {
            return Err(OfferError::Platform(offer.platform));
        }
        for role in &self.roles {
            let path = target_path(role, offer.platform, &version, build.value());
            let file = self.role(role, now)?;
            let Some(target) = file.and_then(|file| file.body().targets.get(&path)) else {
                continue;
            };
            let differs = |what| OfferError::Differs {
                path: path.clone(),
                what,
            };
            let signed = Update::of(target).map_err(|_| differs(Difference::Form))?;
            if target.sha256() != Some(offer.sha256) {
                return Err(differs(Difference::Hash));
            }
            if target.length != offer.length {
                return Err(differs(Difference::Length));
            }
            if signed.version() != &version || signed.build() != build.value() {
                return Err(differs(Difference::Version));
            }
            self.check(offer.sha256, &signed, app)?;
            return Ok(SignedUpdate {
                role: role.clone(),
                path,
                sha256: offer.sha256,
                length: offer.length,
                update: signed,
            });
        }
        Err(OfferError::NotSigned {
            version: version.to_string(),
            build: build.value(),
        })
    }

    /// Whether a signed update is for this app, now.
    fn check(&self, sha256: Sha256, signed: &Update, app: &App<'_>) -> Result<(), OfferError> {
        if self.revoked_packages().contains(&sha256) {
            return Err(OfferError::Revoked);
        }
        // Stricter than the server's decision: an app without a fingerprint does not know that it fits.
        if signed.fingerprint.is_some() && signed.fingerprint.as_deref() != app.fingerprint {
            return Err(OfferError::Fingerprint);
        }
        let newer = match signed.version().cmp(app.version) {
            Ordering::Greater => true,
            Ordering::Equal => app.build.is_some_and(|build| build.is_older_than(signed.build())),
            Ordering::Less => false,
        };
        if newer { Ok(()) } else { Err(OfferError::NotNewer) }
    }
}
