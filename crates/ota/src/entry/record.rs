//! The bytes of a bundle's offered updates. Most are like the one before except for the package, so a field that
//! repeats takes no bytes.

use std::cell::OnceCell;

use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;

use super::flags::{CONFIGURATION, FINGERPRINT, Flags, NOTES, Presence};
use super::{Entry, Notes, StoredNotes};
use crate::bytes::{Reader, push_number, push_signed};
use crate::extension::Extension;
use crate::package::{Package, id_at, tail_of};
use crate::texts::{TextSink, TextSource};

/// The bundle whose updates a record lists.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'b> {
    /// Its key.
    pub key: &'b str,
    /// Whether an update has its bundle id in another spelling; if so, each one states its own.
    pub has_spelling: bool,
}

/// What a record says about an update.
#[derive(Clone, Debug)]
pub struct UpdateFields<'f> {
    /// Its id.
    pub id: UpdateId,
    /// The bundle id, in the spelling of the app's record.
    pub bundle_id: &'f str,
    /// Its platform.
    pub platform: Platform,
    /// Whether the app is asked to install it at once.
    pub mandatory: bool,
    /// The share of devices it is offered to.
    pub rollout: Rollout,
    /// Its version.
    pub version: Version,
    /// The version as written, unless it is three numbers.
    pub version_text: Option<&'f str>,
    /// The value of its build number.
    pub build: u64,
    /// The build number as written, unless it is as displayed.
    pub build_text: Option<&'f str>,
    /// When it was published.
    pub created_at: EpochMs,
    /// The configuration a check must name.
    pub configuration: Option<&'f str>,
    /// The fingerprint that the installed app must have.
    pub fingerprint: Option<&'f str>,
    /// The release notes.
    pub notes: Notes<'f>,
    /// The package.
    pub package: Package,
}

impl UpdateFields<'_> {
    /// Writes the update after `before`, the one before it in the record of its bundle.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        texts: &mut impl TextSink,
        bundle: Listed<'_>,
        before: Option<&UpdateFields<'_>>,
    ) {
        let time = self.id.created_at();
        let flags = self.flags(before);
        out.extend_from_slice(&flags.0.to_le_bytes());
        if bundle.has_spelling {
            texts.write(out, self.bundle_id);
        }
        push_signed(out, time - before.map_or(0, |before| before.id.created_at()));
        out.extend_from_slice(&tail_of(&self.id));
        if flags.has(Flags::OTHER_TIME) {
            push_signed(out, self.created_at.wrapping_sub(time));
        }
        if flags.has(Flags::PARTIAL) {
            out.push(self.rollout.percent());
        }
        if !flags.has(Flags::SAME_VERSION) {
            push_version(out, texts, &self.version, self.version_text);
        }
        if !flags.has(Flags::SAME_BUILD) {
            push_number(out, self.build);
            if let Some(text) = self.build_text {
                texts.write(out, text);
            }
        }
        for (shift, text) in [(CONFIGURATION, self.configuration), (FINGERPRINT, self.fingerprint)] {
            if flags.presence(shift) == Presence::Follows {
                texts.write(out, text.unwrap_or_default());
            }
        }
        match self.notes {
            Notes::Short(notes) if flags.presence(NOTES) == Presence::Follows => texts.write(out, notes),
            Notes::Short(_) => {}
            Notes::Long(number) => push_number(out, number as u64),
        }
        self.package.write(out, texts, time);
    }

    fn flags(&self, before: Option<&UpdateFields<'_>>) -> Flags {
        let mut flags = Flags::default();
        flags.set_platform(self.platform);
        flags.set(Flags::MANDATORY, self.mandatory);
        flags.set(Flags::PARTIAL, self.rollout != Rollout::FULL);
        flags.set(Flags::VERSION_TEXT, self.version_text.is_some());
        flags.set(Flags::BUILD_TEXT, self.build_text.is_some());
        flags.set(Flags::OTHER_TIME, self.created_at != self.id.created_at());
        flags.set(Flags::COMPACT, self.package.is_compact());
        let has_same_version =
            |before: &UpdateFields<'_>| before.version == self.version && before.version_text == self.version_text;
        let has_same_build =
            |before: &UpdateFields<'_>| before.build == self.build && before.build_text == self.build_text;
        flags.set(Flags::SAME_VERSION, before.is_some_and(has_same_version));
        flags.set(Flags::SAME_BUILD, before.is_some_and(has_same_build));
        let configuration = before.and_then(|before| before.configuration);
        flags.set_presence(CONFIGURATION, Presence::of(&self.configuration, &configuration));
        let fingerprint = before.and_then(|before| before.fingerprint);
        flags.set_presence(FINGERPRINT, Presence::of(&self.fingerprint, &fingerprint));
        flags.set_presence(
            NOTES,
            match self.notes {
                Notes::Long(_) => Presence::Elsewhere,
                Notes::Short(_) if before.is_some_and(|before| before.notes == self.notes) => Presence::Repeated,
                Notes::Short(_) => Presence::Follows,
            },
        );
        flags
    }
}

/// Writes a version that [`read_version`] reads, with a text if it is not three numbers.
pub fn push_version(out: &mut Vec<u8>, texts: &mut impl TextSink, version: &Version, text: Option<&str>) {
    if let Some(text) = text {
        return texts.write(out, text);
    }
    let (major, minor, patch) = version.core();
    for number in [major, minor, patch] {
        push_number(out, number);
    }
}

/// Reads a version and its text.
pub fn read_version<'s>(
    reader: &mut Reader<'s>,
    texts: impl TextSource<'s>,
    is_text: bool,
) -> (Version, Option<&'s str>) {
    if is_text {
        let text = texts.read(reader);
        // It was a version when it was written.
        let version = Version::parse(text).unwrap_or(Version::from_core((0, 0, 0)));
        return (version, Some(text));
    }
    let version = Version::from_core((reader.number(), reader.number(), reader.number()));
    (version, None)
}

/// Reads the offered updates of a bundle one by one.
#[derive(Clone, Debug)]
pub struct Entries<'s, T> {
    reader: Reader<'s>,
    bundle: Listed<'s>,
    texts: T,
    extension: Option<&'s Extension>,
    position: usize,
    count: usize,
    before: Before<'s>,
}

/// What the next update may repeat.
#[derive(Clone, Debug)]
struct Before<'s> {
    time: i64,
    version: Version,
    version_text: Option<&'s str>,
    build: u64,
    build_text: Option<&'s str>,
    configuration: Option<&'s str>,
    fingerprint: Option<&'s str>,
    notes: StoredNotes<'s>,
}

impl<'s, T: TextSource<'s>> Entries<'s, T> {
    /// The first `count` updates in these bytes.
    pub fn new(
        bytes: &'s [u8],
        count: usize,
        bundle: Listed<'s>,
        texts: T,
        extension: Option<&'s Extension>,
    ) -> Entries<'s, T> {
        Entries {
            reader: Reader::new(bytes),
            bundle,
            texts,
            extension,
            position: 0,
            count,
            before: Before {
                time: 0,
                version: Version::from_core((0, 0, 0)),
                version_text: None,
                build: 0,
                build_text: None,
                configuration: None,
                fingerprint: None,
                notes: StoredNotes::Missing,
            },
        }
    }

    /// How many updates were not read yet.
    pub fn len(&self) -> usize {
        self.count - self.position
    }

    /// The bytes after the updates that were read.
    pub fn rest(&self) -> &'s [u8] {
        self.reader.rest()
    }

    fn optional(&mut self, presence: Presence, before: Option<&'s str>) -> Option<&'s str> {
        match presence {
            Presence::Missing | Presence::Elsewhere => None,
            Presence::Repeated => before,
            Presence::Follows => Some(self.texts.read(&mut self.reader)),
        }
    }

    fn read_build(&mut self, flags: Flags) {
        if !flags.has(Flags::SAME_BUILD) {
            self.before.build = self.reader.number();
            let has_text = flags.has(Flags::BUILD_TEXT);
            self.before.build_text = has_text.then(|| self.texts.read(&mut self.reader));
        }
    }

    fn read_version(&mut self, flags: Flags) {
        if !flags.has(Flags::SAME_VERSION) {
            let is_text = flags.has(Flags::VERSION_TEXT);
            (self.before.version, self.before.version_text) = read_version(&mut self.reader, self.texts, is_text);
        }
    }

    fn read_texts(&mut self, flags: Flags) {
        self.before.configuration = self.optional(flags.presence(CONFIGURATION), self.before.configuration);
        self.before.fingerprint = self.optional(flags.presence(FINGERPRINT), self.before.fingerprint);
        match flags.presence(NOTES) {
            Presence::Elsewhere => self.before.notes = StoredNotes::Long(self.reader.number() as usize),
            Presence::Follows => self.before.notes = StoredNotes::At(self.texts.skip(&mut self.reader)),
            Presence::Repeated | Presence::Missing => {}
        }
    }
}

impl<'s, T: TextSource<'s>> Iterator for Entries<'s, T> {
    type Item = Entry<'s, T>;

    fn next(&mut self) -> Option<Entry<'s, T>> {
        if self.position == self.count {
            return None;
        }
        let flags = Flags(u16::from_le_bytes(self.reader.array()));
        let bundle_id = match self.bundle.has_spelling {
            true => self.texts.read(&mut self.reader),
            false => self.bundle.key,
        };
        let time = self.reader.signed().wrapping_add(self.before.time);
        let update_id = UpdateId::from_uuid(id_at(time, self.reader.array()));
        let created_at = match flags.has(Flags::OTHER_TIME) {
            true => self.reader.signed().wrapping_add(time),
            false => time,
        };
        let rollout = match flags.has(Flags::PARTIAL) {
            true => Rollout::new(self.reader.byte()).unwrap_or(Rollout::FULL),
            false => Rollout::FULL,
        };
        self.before.time = time;
        self.read_version(flags);
        self.read_build(flags);
        self.read_texts(flags);
        let is_compact = flags.has(Flags::COMPACT);
        let package = Package::skip(&mut self.reader, self.texts, is_compact);
        let position = self.position;
        self.position += 1;
        let before = &self.before;
        Some(Entry {
            update_id,
            bundle_id,
            platform: flags.platform(),
            mandatory: flags.has(Flags::MANDATORY),
            rollout,
            version: before.version.clone(),
            version_text: before.version_text,
            build: before.build,
            build_text: before.build_text,
            created_at,
            configuration: before.configuration,
            fingerprint: before.fingerprint,
            notes: before.notes,
            package,
            is_compact,
            texts: self.texts,
            extension: self.extension,
            position,
            id: OnceCell::new(),
        })
    }
}
