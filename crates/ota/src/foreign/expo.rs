//! What clients of Expo Updates are answered from (`docs/reference/expo.md`): the prepared answers of releases that are offered, the ids
//! of all releases with their times, the undos of withdrawn ones, and where files are in packages.

use std::collections::HashMap;

use launchway_domain::id::UpdateId;
use launchway_domain::ota::Release;
use launchway_domain::platform::Platform;
use launchway_domain::release::{Format, UpdateKind};
use launchway_domain::time::EpochMs;
use launchway_domain::update::UpdateStatus;
use launchway_foreign::expo::{
    Directive, Issue, PackedExport, Part, RollBack, Served, StoredPart, StoredUndo, UNDO_SPAN,
};
use launchway_store::{ForeignBundleRows, StoreError};
use uuid::Uuid;

use super::files::{MAX_OTHERS, StoredFiles};
use super::release::ForeignRelease;
use super::texts::Texts;
use crate::snapshot::TextKind;

/// The most bytes of prepared answers of a bundle. Releases below are not offered.
const MAX_PREPARED: usize = 8 << 20;

/// What clients of Expo Updates are answered from for one bundle.
#[derive(Debug, Default)]
pub struct ExpoReleases {
    offers: HashMap<UpdateId, ExpoOffer>,
    issues: HashMap<(Platform, Uuid), ExpoIssue>,
    undos: HashMap<UpdateId, ExpoUndo>,
}

/// A release as it is offered.
#[derive(Debug)]
pub struct ExpoOffer {
    /// When clients take it as created.
    pub created_at: EpochMs,
    /// The answer.
    pub served: Served,
}

/// An id under which clients received a release.
#[derive(Clone, Copy, Debug)]
pub struct ExpoIssue {
    /// The update.
    pub update_id: UpdateId,
    /// When clients take it as created.
    pub created_at: EpochMs,
    /// The withdrawn update whose undo it is.
    undoes: Option<UpdateId>,
}

/// What was signed with a release for the case that it is withdrawn.
#[derive(Debug)]
pub struct ExpoUndo {
    /// The content before it, and the update which that is.
    pub previous: Option<(UpdateId, Served)>,
    /// The return to the built-in content.
    pub embedded: Served,
}

/// What the rows of a bundle say about updates of Expo.
#[derive(Debug, Default)]
pub(super) struct ExpoRows {
    issues: HashMap<(Platform, Uuid), ExpoIssue>,
    /// The id that is offered of each release, with its time.
    newest: HashMap<UpdateId, (EpochMs, Uuid)>,
    /// Published and paused updates with a package, the highest first.
    live: Vec<LiveRow>,
    /// Withdrawn updates with an undo.
    undone: Vec<UpdateId>,
    /// Releases that were signed elsewhere.
    signed: Vec<UpdateId>,
}

#[derive(Debug)]
struct LiveRow {
    id: UpdateId,
    bundle_id: String,
    blob_key: String,
}

impl ExpoRows {
    /// Reads the rows of a bundle.
    pub(super) fn of(rows: &mut ForeignBundleRows) -> Self {
        let mut read = ExpoRows::default();
        for row in std::mem::take(&mut rows.issues) {
            let Ok(id) = Uuid::try_parse(&row.id) else { continue };
            let issue = ExpoIssue {
                update_id: row.update_id,
                created_at: row.created_at,
                undoes: row.undoes,
            };
            read.issues.insert((row.platform, id), issue);
            let newest = read.newest.entry(row.update_id).or_insert((EpochMs::MIN, id));
            if row.undoes.is_none() && newest.0 < row.created_at {
                *newest = (row.created_at, id);
            }
        }
        if read.issues.is_empty() {
            return read;
        }
        let mut live: Vec<_> = rows.releases.iter().collect();
        live.sort_by_key(|row| std::cmp::Reverse(row.sequence));
        for row in live {
            if row.is_signed {
                read.signed.push(row.id);
            }
            match row.status {
                UpdateStatus::Published | UpdateStatus::Paused
                    if row.format == Format::Expo && row.kind == UpdateKind::Update =>
                {
                    read.live.push(LiveRow {
                        id: row.id,
                        bundle_id: row.bundle_id.clone(),
                        blob_key: row.blob_key.clone(),
                    });
                }
                UpdateStatus::Withdrawn if row.has_undo => read.undone.push(row.id),
                _ => {}
            }
        }
        read
    }
}

impl ExpoReleases {
    /// Prepares answers for the releases that are offered, the highest first, and adds their files.
    pub(super) async fn load(
        texts: &mut Texts<'_, '_>,
        rows: ExpoRows,
        offered: &[ForeignRelease],
        asset_base: &str,
        files: &mut StoredFiles,
    ) -> Result<Self, StoreError> {
        let mut loaded = Self {
            issues: rows.issues.clone(),
            ..Self::default()
        };
        let mut left = MAX_PREPARED;
        for release in offered {
            let Some(offer) = offer_of(texts, &rows, release, asset_base, files).await? else {
                continue;
            };
            let Some(next) = left.checked_sub(offer.served.size()) else {
                break;
            };
            left = next;
            loaded.offers.insert(release.update_id, offer);
        }
        let others = rows.live.iter().filter(|row| !loaded.offers.contains_key(&row.id));
        for row in others.take(MAX_OTHERS).collect::<Vec<_>>() {
            if let Some(export) = read_export(texts, row.id).await? {
                add_files(files, &export, &row.blob_key);
            }
        }
        for id in &rows.undone {
            let Some(undo) = texts.get(*id, TextKind::Undo).await? else {
                continue;
            };
            loaded.undos.extend(ExpoUndo::read(&undo).map(|undo| (*id, undo)));
        }
        Ok(loaded)
    }

    /// The prepared answer of a release that is offered.
    pub fn offer(&self, update: UpdateId) -> Option<&ExpoOffer> {
        self.offers.get(&update)
    }

    /// The release that a client of a platform received under an id.
    pub fn issue(&self, platform: Platform, id: Uuid) -> Option<&ExpoIssue> {
        self.issues.get(&(platform, id))
    }

    /// What leads away from a withdrawn release that a client received so. The content before it is only for those who run the
    /// release itself.
    pub fn undo_of(&self, held: &ExpoIssue) -> (Option<&(UpdateId, Served)>, Option<&Served>) {
        let undo = self.undos.get(&held.undoes.unwrap_or(held.update_id));
        let previous = undo.and_then(|undo| undo.previous.as_ref());
        (
            previous.filter(|_| held.undoes.is_none()),
            undo.map(|undo| &undo.embedded),
        )
    }
}

/// Prepares one release; `None` if clients of Expo cannot receive it.
async fn offer_of(
    texts: &mut Texts<'_, '_>,
    rows: &ExpoRows,
    release: &ForeignRelease,
    asset_base: &str,
    files: &mut StoredFiles,
) -> Result<Option<ExpoOffer>, StoreError> {
    let Some((created_at, id)) = rows.newest.get(&release.update_id).copied() else {
        return Ok(None);
    };
    let signed: Option<StoredPart> = match rows.signed.contains(&release.update_id) {
        true => {
            let part = texts.get(release.update_id, TextKind::Signed).await?;
            let part = serde_json::from_str(&part.unwrap_or_default());
            Some(part.map_err(|_| StoreError::Corrupt("updates.signed_part"))?)
        }
        false => None,
    };
    let unreadable = |_| StoreError::Corrupt("updates.signed_part");
    let served = if release.kind() == UpdateKind::Embedded {
        match signed {
            Some(part) => part.directive().map_err(unreadable)?,
            None => roll_back(created_at),
        }
    } else {
        let row = rows.live.iter().find(|row| row.id == release.update_id);
        let (Some(row), Some(runtime_version)) = (row, release.runtime()) else {
            return Ok(None);
        };
        let Some(export) = read_export(texts, release.update_id).await? else {
            return Ok(None);
        };
        add_files(files, &export, &row.blob_key);
        match signed {
            Some(part) => part.manifest().map_err(unreadable)?,
            None => {
                let manifest = export.manifest(&Issue {
                    id,
                    created_at,
                    runtime_version,
                    configuration: release.configuration(),
                    asset_base,
                    bundle_id: &row.bundle_id,
                });
                let part = Part {
                    body: manifest.to_json(),
                    signature: None,
                };
                Served::manifest(&part, None)
            }
        }
    };
    Ok(Some(ExpoOffer { created_at, served }))
}

fn add_files(files: &mut StoredFiles, export: &PackedExport, blob_key: &str) {
    let places = export.files().map(|file| {
        let is_launch = file.key == export.launch.key;
        let extension = if is_launch { "bundle" } else { &file.extension };
        (file.sha256, file.place, extension)
    });
    files.add(blob_key, places);
}

impl ExpoUndo {
    /// Reads a stored undo. One that cannot be read is none: its holders keep what they run.
    fn read(json: &str) -> Option<Self> {
        let stored: StoredUndo = serde_json::from_str(json).ok()?;
        let previous = stored.previous.as_ref().zip(stored.previous_update.as_deref());
        Some(Self {
            previous: previous.and_then(|(part, update)| Some((update.parse().ok()?, part.manifest().ok()?))),
            embedded: stored.embedded.directive().ok()?,
        })
    }
}

/// The unsigned return to the built-in content.
fn roll_back(commit_time: EpochMs) -> Served {
    let part = Part {
        body: Directive::RollBack(RollBack { commit_time }).to_json(),
        signature: None,
    };
    Served::directive(&part, None)
}

impl ExpoIssue {
    /// The unsigned return to the built-in content from this release.
    pub fn roll_back(&self) -> Served {
        roll_back(self.created_at + UNDO_SPAN)
    }
}

async fn read_export(texts: &mut Texts<'_, '_>, id: UpdateId) -> Result<Option<PackedExport>, StoreError> {
    let json = texts.get(id, TextKind::Export).await?;
    let export = json.map(|json| serde_json::from_str(&json)).transpose();
    export.map_err(|_| StoreError::Corrupt("packages.export"))
}
