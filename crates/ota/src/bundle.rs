//! The part of the index for one bundle: its updates as a check needs them, newest first, with partly serialized
//! answers.

use std::collections::HashMap;
use std::sync::Arc;

use launchway_blob::Key;
use launchway_domain::fingerprint::{self, FingerprintDocument, NATIVE_CODE_DIFFERS};
use launchway_domain::id::UpdateId;
use launchway_domain::ota::{self, Candidate};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use launchway_store::{OfferedUpdate, RetiredUpdate};

use crate::long_texts::{LongText, LongTexts};

/// Longer release notes, in bytes, are kept outside memory.
const SHORT_NOTES: usize = 256;
/// The maximum number of pairs of fingerprints for which the reasons of one bundle are prepared, those of the newest
/// updates first. Other pairs get the general sentence.
const MAX_REASONS: usize = 256;
/// The maximum number of equivalent hashes, the newest ones, that an update accepts besides its own.
const MAX_SAME: usize = 64;

/// One update as a check needs it.
#[derive(Debug)]
pub struct Entry {
    /// The update's id.
    pub update_id: UpdateId,
    platform: Platform,
    rollout: Rollout,
    version: Version,
    build: u64,
    created_at: EpochMs,
    texts: Texts,
    /// The key of the package.
    pub blob_key: Key,
    /// Long release notes, as JSON.
    long_notes: Option<LongText>,
    /// Why an app with another fingerprint, by its hash, cannot take this update. Most updates have none.
    reasons: Option<Arc<Reasons>>,
    /// Other hashes of the same native code. Most updates have none.
    same: Option<Arc<[Box<str>]>>,
}

/// Sentences by the hash of the installed fingerprint. Updates with the same fingerprint share them.
type Reasons = HashMap<Box<str>, Box<str>>;

/// The texts of an update in one allocation: with many bundles, most of the time of a check is cache misses, so what is
/// read together is stored together.
#[derive(Debug)]
struct Texts {
    all: Box<str>,
    /// The end of each [`Text`], where the next one begins.
    ends: [u32; Text::COUNT],
}

/// The texts of an update, in the order in which a check reads them.
#[derive(Clone, Copy)]
enum Text {
    /// Empty for none.
    Configuration,
    /// Empty for none.
    Fingerprint,
    /// The answer's fields from `platform` to `releaseNotes`, as JSON; with the notes only if they are short.
    Fields,
    /// The file name of a download.
    FileName,
    /// The id.
    Id,
    /// The fields after the id that only a caller with `deviceId` or `currentUpdateId` gets, as JSON with a leading
    /// comma.
    DeviceFields,
}

impl Text {
    const COUNT: usize = Text::DeviceFields as usize + 1;
}

impl Texts {
    /// Concatenates texts in the order of [`Text`].
    fn new(texts: [&str; Text::COUNT]) -> Texts {
        let mut end = 0;
        let ends = texts.map(|text| {
            end += text.len();
            // The store limits texts to far less.
            u32::try_from(end).unwrap_or(u32::MAX)
        });
        Texts {
            all: texts.concat().into(),
            ends,
        }
    }

    fn get(&self, text: Text) -> &str {
        let place = text as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start as usize..self.ends[place] as usize;
        self.all.get(range).unwrap_or_default()
    }

    /// A text, or `None` if it is empty.
    fn optional(&self, text: Text) -> Option<&str> {
        Some(self.get(text)).filter(|text| !text.is_empty())
    }
}

impl Candidate for Entry {
    fn id(&self) -> &str {
        self.texts.get(Text::Id)
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
        self.texts.optional(Text::Configuration)
    }

    fn fingerprint(&self) -> Option<&str> {
        self.texts.optional(Text::Fingerprint)
    }

    fn also_accepts(&self, installed: &str) -> bool {
        let same = self.same.as_deref().unwrap_or_default();
        same.iter().any(|hash| **hash == *installed)
    }

    fn rollout(&self) -> Rollout {
        self.rollout
    }

    fn created_at(&self) -> i64 {
        self.created_at
    }
}

impl Entry {
    /// The file name of a download.
    pub fn file_name(&self) -> &str {
        self.texts.get(Text::FileName)
    }

    /// What remains known of the update once it is no longer offered.
    pub fn as_retired(&self) -> RetiredUpdate {
        RetiredUpdate {
            id: self.update_id,
            platform: self.platform,
            version: self.version.clone(),
            build: self.build,
        }
    }

    /// Writes the fields that only a caller with `deviceId` or `currentUpdateId` gets, with a leading comma.
    pub fn write_device_fields(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","id":""#);
        out.extend_from_slice(self.id().as_bytes());
        out.push(b'"');
        out.extend_from_slice(self.texts.get(Text::DeviceFields).as_bytes());
    }

    /// Why an app with this fingerprint cannot take this update.
    pub fn reason(&self, installed: &str) -> &str {
        let known = self.reasons.as_ref().and_then(|reasons| reasons.get(installed));
        known.map_or(NATIVE_CODE_DIFFERS, |reason| reason)
    }

    /// Writes the answer's fields from `platform` to `releaseNotes`.
    pub fn write_fields(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        out.extend_from_slice(self.texts.get(Text::Fields).as_bytes());
        self.long_notes.as_ref().map_or(Ok(()), |notes| notes.read_into(out))
    }

    /// Prepares an update; `None` if it is not published, and so not offered.
    pub fn new(update: OfferedUpdate, texts: &Arc<LongTexts>) -> Option<Entry> {
        if update.status != UpdateStatus::Published {
            return None;
        }
        let json = |text: &str| serde_json::Value::from(text).to_string();
        let notes = json(&update.release_notes);
        // If the file cannot store them, the notes stay in memory: a full disk must not change an answer.
        let long_notes = if notes.len() > SHORT_NOTES {
            texts.keep(notes.as_bytes()).ok()
        } else {
            None
        };
        let fields = format!(
            r#""platform":"{}","version":{},"buildNumber":"{}","releaseNotes":{}"#,
            update.platform,
            json(&update.version_text),
            update.build_number.as_str(),
            if long_notes.is_some() { "" } else { notes.as_str() },
        );
        let device_fields = format!(
            r#","sha256":"{}","size":{},"mandatory":{}"#,
            update.sha256, update.size, update.mandatory
        );
        let name = download_name(&update);
        Some(Entry {
            texts: Texts::new([
                update.configuration.as_deref().unwrap_or_default(),
                update.fingerprint.as_deref().unwrap_or_default(),
                &fields,
                &name,
                &update.id.to_string(),
                &device_fields,
            ]),
            update_id: update.id,
            platform: update.platform,
            rollout: update.rollout,
            version: update.version,
            build: update.build_number.value(),
            created_at: update.created_at,
            blob_key: Key::new(&update.blob_key).ok()?,
            long_notes,
            reasons: None,
            same: None,
        })
    }
}

/// The file name of an update's download.
pub fn download_name(update: &OfferedUpdate) -> String {
    let OfferedUpdate {
        bundle_id,
        version_text,
        build_number,
        ..
    } = update;
    format!("{bundle_id}-{version_text}-{}.zip", build_number.as_str())
}

/// Prepares a bundle from its offered updates, in any order, and its fingerprint documents, by hash. Returns at most
/// `limit` updates, newest first. `pairs` are hashes with the `lwfp-2` hashes of the same native code.
pub fn prepare(
    mut entries: Vec<Entry>,
    documents: &[(String, String)],
    pairs: &[(String, String)],
    limit: usize,
) -> Arc<[Entry]> {
    entries.sort_by(ota::order);
    let mut entries = ota::prune(entries);
    entries.truncate(limit);
    add_same(&mut entries, pairs);
    add_reasons(&mut entries, documents);
    entries.into()
}

/// Adds to each update the other hashes of its native code: its `lwfp-2` hash, and every hash with the same one.
fn add_same(entries: &mut [Entry], pairs: &[(String, String)]) {
    let both = pairs
        .iter()
        .flat_map(|(hash, lwfp2)| [(hash.as_str(), lwfp2), (lwfp2.as_str(), lwfp2)]);
    let paired: HashMap<&str, &String> = both.collect();
    let mut made: HashMap<&str, Arc<[Box<str>]>> = HashMap::new();
    for entry in entries {
        let Some(lwfp2) = entry.fingerprint().and_then(|needed| paired.get(needed).copied()) else {
            continue;
        };
        let same = made.entry(lwfp2.as_str()).or_insert_with(|| {
            let twins = pairs.iter().filter(|(_, other)| other == lwfp2).map(|(hash, _)| hash);
            let all = std::iter::once(lwfp2).chain(twins).take(MAX_SAME);
            all.map(|hash| Box::from(hash.as_str())).collect()
        });
        let same = same.clone();
        entry.same = Some(same);
    }
}

/// Adds to each update with a known document the sentences for all other known documents.
fn add_reasons(entries: &mut [Entry], documents: &[(String, String)]) {
    let parse = |text: &str| FingerprintDocument::from_value(serde_json::from_str(text).ok()?).ok();
    let known: Vec<_> = documents
        .iter()
        .filter_map(|(hash, text)| Some((hash.as_str(), parse(text)?)))
        .collect();
    let mut made: HashMap<&str, Option<Arc<Reasons>>> = HashMap::new();
    let mut left = MAX_REASONS;
    for entry in entries {
        let Some((wanted, document)) = known.iter().find(|(hash, _)| entry.fingerprint() == Some(*hash)) else {
            continue;
        };
        let reasons = made.entry(wanted).or_insert_with(|| {
            let others = known.iter().filter(|(installed, _)| installed != wanted).take(left);
            let sentence = |other| fingerprint::reason(Some(other), Some(document)).into();
            let reasons: Reasons = others
                .map(|(installed, other)| (Box::from(*installed), sentence(other)))
                .collect();
            left -= reasons.len();
            (!reasons.is_empty()).then(|| Arc::new(reasons))
        });
        entry.reasons = reasons.clone();
    }
}
