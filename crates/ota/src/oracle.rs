//! What the index answered before its updates were packed, kept as simple as possible: the packed index must answer the
//! same byte for byte.

use std::cmp::Reverse;
use std::collections::HashMap;

use launchway_blob::Key;
use launchway_domain::fingerprint::{self, FingerprintDocument, NATIVE_CODE_DIFFERS};
use launchway_domain::ota::{self, Caller, Candidate, Running};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use launchway_store::{OfferedUpdate, RetiredUpdate};

const MAX_REASONS: usize = 256;
const MAX_SAME: usize = 64;
const RETIRED: usize = 64;

/// One offered update.
#[derive(Clone, Debug)]
pub struct Entry {
    pub row: OfferedUpdate,
    id: String,
    reasons: HashMap<String, String>,
    same: Vec<String>,
}

impl Candidate for Entry {
    fn id(&self) -> &str {
        &self.id
    }

    fn platform(&self) -> Platform {
        self.row.platform
    }

    fn version(&self) -> &Version {
        &self.row.version
    }

    fn build(&self) -> u64 {
        self.row.build_number.value()
    }

    fn configuration(&self) -> Option<&str> {
        self.row.configuration.as_deref()
    }

    fn fingerprint(&self) -> Option<&str> {
        self.row.fingerprint.as_deref()
    }

    fn also_accepts(&self, installed: &str) -> bool {
        self.same.iter().any(|hash| hash == installed)
    }

    fn rollout(&self) -> Rollout {
        self.row.rollout
    }

    fn created_at(&self) -> i64 {
        self.row.created_at
    }
}

impl Entry {
    fn new(row: &OfferedUpdate) -> Option<Entry> {
        let is_offered = row.status == UpdateStatus::Published && row.trust_role.is_none();
        Key::new(&row.blob_key).ok().filter(|_| is_offered)?;
        Some(Entry {
            id: row.id.to_string(),
            row: row.clone(),
            reasons: HashMap::new(),
            same: Vec::new(),
        })
    }

    /// Everything that an answer contains of the update, for a caller with this fingerprint.
    pub fn answer(&self, installed: &str) -> String {
        let OfferedUpdate {
            bundle_id,
            platform,
            version_text,
            build_number,
            release_notes,
            sha256,
            size,
            mandatory,
            blob_key,
            ..
        } = &self.row;
        let (build, id) = (build_number.as_str(), &self.id);
        let notes = serde_json::Value::from(release_notes.as_str());
        let reason = self.reasons.get(installed).map_or(NATIVE_CODE_DIFFERS, |reason| reason);
        format!(r#""platform":"{platform}","version":"{version_text}","buildNumber":"{build}","releaseNotes":{notes}"#)
            + &format!(r#","id":"{id}","sha256":"{sha256}","size":{size},"mandatory":{mandatory}"#)
            + &format!(" {blob_key} {bundle_id}-{version_text}-{build}.zip {reason}")
    }
}

/// The rows of one bundle.
#[derive(Clone, Debug, Default)]
pub struct BundleRows {
    pub updates: Vec<OfferedUpdate>,
    pub retired: Vec<RetiredUpdate>,
    pub documents: Vec<(String, String)>,
    pub pairs: Vec<(String, String)>,
}

/// What the index knew of a bundle.
pub struct Known {
    pub offered: Vec<Entry>,
    retired: Vec<RetiredUpdate>,
}

impl BundleRows {
    /// The bundle with at most `limit` offered updates; `None` if it has no published or paused one.
    pub fn prepare(&self, limit: usize) -> Option<Known> {
        if self.updates.is_empty() {
            return None;
        }
        let mut entries: Vec<Entry> = self.updates.iter().filter_map(Entry::new).collect();
        entries.sort_by(ota::order);
        let mut offered = ota::prune(entries);
        offered.truncate(limit);
        let mut left = MAX_REASONS;
        let mut made: HashMap<String, HashMap<String, String>> = HashMap::new();
        for entry in &mut offered {
            let Some(needed) = entry.row.fingerprint.clone() else {
                continue;
            };
            entry.same = self.same(&needed);
            let reasons = made
                .entry(needed.clone())
                .or_insert_with(|| self.reasons(&needed, &mut left));
            entry.reasons = reasons.clone();
        }
        let held = self.updates.iter().map(|row| RetiredUpdate {
            id: row.id,
            platform: row.platform,
            version: row.version.clone(),
            build: row.build_number.value(),
        });
        let mut retired: Vec<RetiredUpdate> = self.retired.iter().cloned().chain(held).collect();
        retired.retain(|update| offered.iter().all(|entry| entry.row.id != update.id));
        retired.sort_by_key(|update| Reverse(update.id));
        retired.truncate(RETIRED);
        Some(Known { offered, retired })
    }

    fn same(&self, needed: &str) -> Vec<String> {
        let paired = self
            .pairs
            .iter()
            .rev()
            .find(|(hash, lwfp2)| hash == needed || lwfp2 == needed);
        let Some((_, lwfp2)) = paired else {
            return Vec::new();
        };
        let twins = self
            .pairs
            .iter()
            .filter(|(_, other)| other == lwfp2)
            .map(|(hash, _)| hash);
        std::iter::once(lwfp2).chain(twins).take(MAX_SAME).cloned().collect()
    }

    fn reasons(&self, wanted: &str, left: &mut usize) -> HashMap<String, String> {
        let parse = |text: &str| FingerprintDocument::from_value(serde_json::from_str(text).ok()?).ok();
        let parsed = self
            .documents
            .iter()
            .filter_map(|(hash, text)| Some((hash, parse(text)?)));
        let known: Vec<(&String, FingerprintDocument)> = parsed.collect();
        let Some((_, document)) = known.iter().find(|(hash, _)| *hash == wanted) else {
            return HashMap::new();
        };
        let others = known.iter().filter(|(installed, _)| *installed != wanted).take(*left);
        let reasons: HashMap<String, String> = others
            .map(|(installed, other)| ((*installed).clone(), fingerprint::reason(Some(other), Some(document))))
            .collect();
        *left -= reasons.len();
        reasons
    }
}

impl Known {
    /// What a caller that runs this update has installed.
    pub fn running(&self, caller: &Caller<'_>, current_update: &str) -> Option<Running> {
        let id = current_update.parse().ok()?;
        let offered = self.offered.iter().find(|entry| entry.row.id == id);
        let (platform, version, build) = match offered {
            Some(entry) => (entry.row.platform, &entry.row.version, entry.row.build_number.value()),
            None => {
                let update = self.retired.iter().find(|update| update.id == id)?;
                (update.platform, &update.version, update.build)
            }
        };
        let fits = *version == caller.version && caller.platform.is_none_or(|named| named == platform);
        fits.then_some(Running { platform, build })
    }
}
