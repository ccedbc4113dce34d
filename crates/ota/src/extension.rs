//! What only some bundles need beside their record: long release notes, reasons against an update, and fingerprints of
//! the same native code.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use launchway_domain::fingerprint::{self, FingerprintDocument};

use crate::long_texts::LongText;

/// The maximum number of pairs of fingerprints for which the reasons of one bundle are prepared, those of the newest
/// updates first. Other pairs get the general sentence.
const MAX_REASONS: usize = 256;
/// The maximum number of equivalent hashes, the newest ones, that an update accepts besides its own.
const MAX_SAME: usize = 64;

/// Sentences by the hash of the installed fingerprint. Updates with the same fingerprint share them.
type Reasons = HashMap<Box<str>, Box<str>>;

/// Hashes of the same native code. Updates with the same fingerprint share them.
type Hashes = Arc<[Box<str>]>;

/// The extension of a bundle. Updates are counted in the order of its record.
#[derive(Clone, Debug, Default)]
pub struct Extension {
    /// Release notes outside memory.
    long_notes: Vec<Arc<LongText>>,
    /// Why an app with another fingerprint cannot take an update; empty if no update has reasons.
    reasons: Box<[Option<Arc<Reasons>>]>,
    /// Other hashes of the native code of an update; empty if no update has any.
    same: Box<[Option<Hashes>]>,
}

impl Extension {
    /// Whether the bundle does without it.
    pub fn is_empty(&self) -> bool {
        self.long_notes.is_empty() && self.reasons.is_empty() && self.same.is_empty()
    }

    /// Keeps release notes, and returns their number.
    pub fn add_notes(&mut self, notes: Arc<LongText>) -> usize {
        self.long_notes.push(notes);
        self.long_notes.len() - 1
    }

    /// Appends the release notes of this number.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_notes(&self, number: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let notes = self.long_notes.get(number).ok_or(io::ErrorKind::NotFound)?;
        notes.read_into(out)
    }

    /// Whether an update also runs in an app with this fingerprint, which is not its own.
    pub fn accepts(&self, position: usize, installed: &str) -> bool {
        let same = self.same.get(position).and_then(|same| same.as_deref());
        same.unwrap_or_default().iter().any(|hash| **hash == *installed)
    }

    /// Why an app with this fingerprint cannot take an update, if that is known.
    pub fn reason(&self, position: usize, installed: &str) -> Option<&str> {
        let reasons = self.reasons.get(position)?.as_deref()?;
        reasons.get(installed).map(|reason| &**reason)
    }

    /// Adds to each update the other hashes of its native code: its `lwfp-2` hash, and every hash with the same one.
    /// `fingerprints` are those of the updates; `pairs` are hashes with the `lwfp-2` hash of the same native code.
    pub fn add_same(&mut self, fingerprints: &[Option<&str>], pairs: &[(String, String)]) {
        let both = pairs
            .iter()
            .flat_map(|(hash, lwfp2)| [(hash.as_str(), lwfp2), (lwfp2.as_str(), lwfp2)]);
        let paired: HashMap<&str, &String> = both.collect();
        let mut made: HashMap<&str, Hashes> = HashMap::new();
        let same_of = |needed: &Option<&str>| {
            let lwfp2 = paired.get((*needed)?).copied()?;
            let same = made.entry(lwfp2.as_str()).or_insert_with(|| {
                let twins = pairs.iter().filter(|(_, other)| other == lwfp2).map(|(hash, _)| hash);
                let all = std::iter::once(lwfp2).chain(twins).take(MAX_SAME);
                all.map(|hash| Box::from(hash.as_str())).collect()
            });
            Some(same.clone())
        };
        let same: Box<[_]> = fingerprints.iter().map(same_of).collect();
        self.same = some_or_empty(same);
    }

    /// Adds to each update with a known document the sentences for all other known documents, by hash.
    pub fn add_reasons(&mut self, fingerprints: &[Option<&str>], documents: &[(String, String)]) {
        let parse = |text: &str| FingerprintDocument::from_value(serde_json::from_str(text).ok()?).ok();
        let known: Vec<_> = documents
            .iter()
            .filter_map(|(hash, text)| Some((hash.as_str(), parse(text)?)))
            .collect();
        let mut made: HashMap<&str, Option<Arc<Reasons>>> = HashMap::new();
        let mut left = MAX_REASONS;
        let reasons_of = |needed: &Option<&str>| {
            let (wanted, document) = known.iter().find(|(hash, _)| *needed == Some(*hash))?;
            let reasons = made.entry(wanted).or_insert_with(|| {
                let others = known.iter().filter(|(installed, _)| installed != wanted).take(left);
                let sentence = |other| fingerprint::reason(Some(other), Some(document)).into();
                let reasons: Reasons = others
                    .map(|(installed, other)| (Box::from(*installed), sentence(other)))
                    .collect();
                left -= reasons.len();
                (!reasons.is_empty()).then(|| Arc::new(reasons))
            });
            reasons.clone()
        };
        let reasons: Box<[_]> = fingerprints.iter().map(reasons_of).collect();
        self.reasons = some_or_empty(reasons);
    }
}

/// The list, or an empty one if nothing is in it.
fn some_or_empty<T>(list: Box<[Option<T>]>) -> Box<[Option<T>]> {
    if list.iter().any(Option::is_some) {
        list
    } else {
        Box::default()
    }
}
