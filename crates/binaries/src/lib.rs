//! Reads what an app binary (`.apk`, `.aab` or `.ipa`) says about itself
//! (`docs/reference/builds.md#what-an-artifact-says-about-itself`). Nothing here reads a clock, the network, or any file but
//! the one that is passed in. Every input is hostile: reads are bounded, and nothing unpacks to disk. Signatures are not
//! verified: a binary can claim anything about itself.
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
pub use facts::{BinaryFacts, Format, Profile, Scheme, Signer};
pub use mismatch::{Asked, mismatches};

/// Characters of a text that is taken from a binary. Longer ones mean nothing to stores or people.
const MAX_TEXT: usize = 1000;

/// Reads what the binary in `file` says. The position of `file` does not matter. It blocks and computes: the time is that
/// of unpacking an IPA's executable twice and its libraries once, at most 4 GiB; the memory at most some hundred MiB, and some 20 MiB for a usual app.
///
/// # Errors
/// Why it is not an app that can be read; the text is for the user. [`BinaryError::Unreadable`] alone is no fault of the
/// binary.
pub fn read<R: Read + Seek>(file: R) -> Result<BinaryFacts, BinaryError> {
    let mut archive = Archive::open(file)?;
    match format_of(&archive)? {
        Format::Ipa => apple::read(&mut archive),
        Format::Apk => android::read_apk(&mut archive),
        Format::Aab => android::read_aab(&mut archive),
    }
}

/// The format, by the names of the files inside.
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
