//! One offered update as a check reads it from the record of its bundle, and how it is written there.

mod flags;
mod record;

use std::cell::OnceCell;
use std::io;

use launchway_blob::Key;
use launchway_domain::fingerprint::NATIVE_CODE_DIFFERS;
use launchway_domain::id::UpdateId;
use launchway_domain::ota::Candidate;
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;

use crate::bytes::{Reader, push_decimal};
use crate::extension::Extension;
use crate::package::{self, Package};
use crate::texts::{TextSource, Texts};

pub use record::{Entries, Listed, UpdateFields, push_version, read_version};

/// One update, read from memory that all checks share. `T` is where its texts are.
#[derive(Debug)]
pub struct Entry<'s, T = Texts<'s>> {
    /// The update's id.
    pub update_id: UpdateId,
    bundle_id: &'s str,
    platform: Platform,
    mandatory: bool,
    rollout: Rollout,
    version: Version,
    /// `None` if the version is written as it is displayed.
    version_text: Option<&'s str>,
    build: u64,
    /// `None` if the build number is written without leading zeros.
    build_text: Option<&'s str>,
    created_at: EpochMs,
    configuration: Option<&'s str>,
    fingerprint: Option<&'s str>,
    notes: StoredNotes<'s>,
    /// From the start of the package on.
    package: Reader<'s>,
    is_compact: bool,
    texts: T,
    extension: Option<&'s Extension>,
    /// The position among the updates of the bundle.
    position: usize,
    /// Written only when it is asked for: few updates have a partial rollout.
    id: OnceCell<String>,
}

/// Release notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes<'s> {
    /// As JSON.
    Short(&'s str),
    /// The number of the text among those outside memory.
    Long(usize),
}

/// Release notes in a record.
#[derive(Clone, Copy, Debug)]
enum StoredNotes<'s> {
    Missing,
    /// The record from them on.
    At(Reader<'s>),
    /// The number of the text among those outside memory.
    Long(usize),
}

impl<'s> StoredNotes<'s> {
    fn read(self, texts: impl TextSource<'s>) -> Notes<'s> {
        match self {
            StoredNotes::Missing => Notes::Short(""),
            StoredNotes::At(mut reader) => Notes::Short(texts.read(&mut reader)),
            StoredNotes::Long(number) => Notes::Long(number),
        }
    }
}

impl<'s, T: TextSource<'s>> Candidate for Entry<'s, T> {
    fn id(&self) -> &str {
        self.id.get_or_init(|| self.update_id.to_string())
    }

    fn platform(&self) -> Platform {
        self.platform
    }

    fn version(&self) -> &Version {
        &self.version
    }

    fn build(&self) -> u64 {
        self.build
    }

    fn configuration(&self) -> Option<&str> {
        self.configuration
    }

    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint
    }

    fn also_accepts(&self, installed: &str) -> bool {
        let extension = self.extension;
        extension.is_some_and(|extension| extension.accepts(self.position, installed))
    }

    fn rollout(&self) -> Rollout {
        self.rollout
    }

    fn created_at(&self) -> i64 {
        self.created_at
    }
}

impl<'s, T: TextSource<'s>> Entry<'s, T> {
    /// The file name of a download.
    pub fn file_name(&self) -> String {
        let mut name = Vec::with_capacity(self.bundle_id.len() + 32);
        name.extend_from_slice(self.bundle_id.as_bytes());
        name.push(b'-');
        self.push_version(&mut name);
        name.push(b'-');
        self.push_build(&mut name);
        name.extend_from_slice(b".zip");
        // All of it is text.
        String::from_utf8(name).unwrap_or_default()
    }

    /// The key of the package; `None` only if it could not be stored.
    pub fn blob_key(&self) -> Option<Key> {
        package::read_key(self.package, self.texts, self.update_id.created_at(), self.is_compact)
    }

    /// Writes the fields that only a caller with `deviceId` or `currentUpdateId` gets, with a leading comma.
    pub fn write_device_fields(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","id":""#);
        let mut id = String::with_capacity(40);
        self.update_id.push_to(&mut id);
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(br#"","sha256":""#);
        let size = package::push_hash(out, self.package, self.texts, self.is_compact);
        out.extend_from_slice(br#"","size":"#);
        if size < 0 {
            out.push(b'-');
        }
        push_decimal(out, size.unsigned_abs());
        out.extend_from_slice(match self.mandatory {
            true => br#","mandatory":true"#.as_slice(),
            false => br#","mandatory":false"#,
        });
    }

    /// Why an app with this fingerprint cannot take this update.
    pub fn reason(&self, installed: &str) -> &'s str {
        let known = self
            .extension
            .and_then(|extension| extension.reason(self.position, installed));
        known.unwrap_or(NATIVE_CODE_DIFFERS)
    }

    /// Writes the answer's fields from `platform` to `releaseNotes`.
    ///
    /// # Errors
    /// If long release notes cannot be read.
    pub fn write_fields(&self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(br#""platform":""#);
        out.extend_from_slice(self.platform.as_str().as_bytes());
        out.extend_from_slice(br#"","version":""#);
        self.push_version(out);
        out.extend_from_slice(br#"","buildNumber":""#);
        self.push_build(out);
        out.extend_from_slice(br#"","releaseNotes":"#);
        match self.notes.read(self.texts) {
            Notes::Short(notes) => out.extend_from_slice(notes.as_bytes()),
            Notes::Long(number) => {
                let extension = self.extension.ok_or(io::ErrorKind::NotFound)?;
                extension.read_notes(number, out)?;
            }
        }
        Ok(())
    }

    /// The fingerprint, which lives as long as the shard.
    pub fn fingerprint_text(&self) -> Option<&'s str> {
        self.fingerprint
    }

    /// What the check of an app that runs it needs: platform, version and build number.
    pub fn running(&self) -> (Platform, Version, u64) {
        (self.platform, self.version.clone(), self.build)
    }

    /// What is written of this update into another record.
    pub fn fields(&self) -> UpdateFields<'s> {
        let time = self.update_id.created_at();
        let mut package = self.package;
        UpdateFields {
            id: self.update_id,
            bundle_id: self.bundle_id,
            platform: self.platform,
            mandatory: self.mandatory,
            rollout: self.rollout,
            version: self.version.clone(),
            version_text: self.version_text,
            build: self.build,
            build_text: self.build_text,
            created_at: self.created_at,
            configuration: self.configuration,
            fingerprint: self.fingerprint,
            notes: self.notes.read(self.texts),
            package: Package::read(&mut package, self.texts, time, self.is_compact),
        }
    }

    fn push_version(&self, out: &mut Vec<u8>) {
        match self.version_text {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => {
                let (major, minor, patch) = self.version.core();
                push_decimal(out, major);
                out.push(b'.');
                push_decimal(out, minor);
                out.push(b'.');
                push_decimal(out, patch);
            }
        }
    }

    fn push_build(&self, out: &mut Vec<u8>) {
        match self.build_text {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => push_decimal(out, self.build),
        }
    }
}
