//! What runs on a device, and what the server offers in its place.

use launchway_delta::Digest;

/// What runs, as the check reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its version.
    pub version: String,
    /// Its build number.
    pub build: String,
    /// An update's id, or `embedded:<build>`.
    pub update_id: String,
}

/// An update that the server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The update's id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its build number.
    pub build_number: String,
    /// Where its package is, for a while.
    pub url: String,
    /// The digest of the package.
    pub sha256: Digest,
    /// The bytes of the package.
    pub size: u64,
    /// The digest of its file list, where the server knows it.
    pub manifest: Option<Digest>,
    /// Whether to install it at once.
    pub mandatory: bool,
    /// What is new.
    pub release_notes: String,
}
