//! Reads what an app binary (`.apk`, `.aab` or `.ipa`) states about itself
//! (`docs/reference/builds.md#what-an-artifact-says-about-itself`). The crate reads no clock, no network, and no file
//! except the one that is passed in. Every input is hostile: reads are bounded, and nothing is unpacked to disk.
//! Signatures are not verified: a binary can claim anything about itself.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod android;
mod apple;
mod archive;
mod error;
mod facts;
mod fields;
mod mismatch;
mod property_list;

use std::io::{Read, Seek};

use archive::Archive;

pub use error::BinaryError;
pub use facts::{BinaryFacts, Entitlements, Extension, Format, Profile, Scheme, Signer};
pub use mismatch::{RequestedFacts, mismatches};

/// The maximum length of a text from a binary, in characters. Longer ones mean nothing to app stores or people.
const MAX_TEXT: usize = 1000;

/// Reads the facts of the binary in `file`, whatever the position of `file`. The call blocks. It unpacks an IPA's
/// executables twice and its libraries once, at most 6 GiB; it uses a few hundred MiB of memory at most, and about 20
/// MiB for a usual app.
///
/// # Errors
/// Why the file is not a readable app; the message is for the user. Only [`BinaryError::Unreadable`] is no fault of the
/// binary.
pub fn read<R: Read + Seek>(file: R) -> Result<BinaryFacts, BinaryError> {
    let mut archive = Archive::open(file)?;
    match format_of(&archive)? {
        Format::Ipa => apple::read(&mut archive),
        Format::Apk => android::read_apk(&mut archive),
        Format::Aab => android::read_aab(&mut archive),
    }
}

/// The format, determined from the names of the files inside.
fn format_of<R: Read + Seek>(archive: &Archive<R>) -> Result<Format, BinaryError> {
    let has = |name: &str| archive.entries().any(|entry| entry.name == name.as_bytes());
    if archive.entries().any(|entry| entry.name.starts_with(b"Payload/")) {
        Ok(Format::Ipa)
    } else if has(android::BUNDLE_MANIFEST) || has("BundleConfig.pb") {
        Ok(Format::Aab)
    } else if has("toc.pb") {
        Err(BinaryError::ApkSet)
    } else if has("classes.jar") && has("R.txt") {
        Err(BinaryError::Library)
    } else if has(android::MANIFEST) || has("resources.arsc") || has("classes.dex") {
        Ok(Format::Apk)
    } else {
        Err(BinaryError::NotAnApp)
    }
}

fn owned(names: Vec<&'static str>) -> Vec<String> {
    names.into_iter().map(ToOwned::to_owned).collect()
}
