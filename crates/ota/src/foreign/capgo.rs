//! The lists of files that clients of Capgo receive with updates (`docs/reference/capgo.md#files`).

use std::collections::HashMap;

use launchway_domain::id::UpdateId;
use launchway_domain::release::{Format, UpdateKind};
use launchway_domain::update::UpdateStatus;
use launchway_foreign::capgo::{Manifest, PackedFiles};
use launchway_store::{ForeignBundleRows, StoreError};

use super::files::{MAX_OTHERS, StoredFiles};
use super::release::ForeignRelease;
use super::texts::Texts;
use crate::snapshot::TextKind;

/// The most bytes of lists of a bundle. Releases below have none.
const MAX_LISTS: usize = 8 << 20;

/// The lists of the releases that are offered.
#[derive(Debug, Default)]
pub struct CapgoManifests(HashMap<UpdateId, Manifest>);

/// What the rows of a bundle say about its updates with a list of files: published and paused ones, the highest first.
#[derive(Debug, Default)]
pub(super) struct CapgoRows(Vec<LiveRow>);

#[derive(Debug)]
struct LiveRow {
    id: UpdateId,
    bundle_id: String,
    blob_key: String,
}

impl CapgoRows {
    /// Reads the rows of a bundle.
    pub(super) fn of(rows: &ForeignBundleRows) -> Self {
        let is_live = |status| matches!(status, UpdateStatus::Published | UpdateStatus::Paused);
        let mut live: Vec<_> = rows.releases.iter().collect();
        live.retain(|row| row.has_files && row.format == Format::Archive && row.kind == UpdateKind::Update);
        live.retain(|row| is_live(row.status) && !row.ids.is_empty());
        live.sort_by_key(|row| std::cmp::Reverse(row.sequence));
        let live = live.into_iter().map(|row| LiveRow {
            id: row.id,
            bundle_id: row.bundle_id.clone(),
            blob_key: row.blob_key.clone(),
        });
        Self(live.collect())
    }
}

impl CapgoManifests {
    /// Prepares lists for the releases that are offered, the highest first, and adds their files.
    pub(super) async fn load(
        texts: &mut Texts<'_, '_>,
        rows: CapgoRows,
        offered: &[ForeignRelease],
        asset_base: &str,
        files: &mut StoredFiles,
    ) -> Result<Self, StoreError> {
        let (mut manifests, mut left, mut others) = (HashMap::new(), MAX_LISTS, 0);
        for row in &rows.0 {
            let is_offered = offered.iter().any(|release| release.update_id == row.id);
            if !is_offered && others == MAX_OTHERS {
                continue;
            }
            let Some(packed) = read_files(texts, row.id).await? else {
                continue;
            };
            let manifest = is_offered.then(|| packed.manifest(asset_base, &row.bundle_id));
            let fitting = manifest.and_then(|manifest| Some((left.checked_sub(manifest.size())?, manifest)));
            match fitting {
                Some((rest, manifest)) => {
                    left = rest;
                    manifests.insert(row.id, manifest);
                }
                // Devices that received the list before still download its files. Counted only now, because rows of a snapshot do
                // not say which packages have files.
                None => others += 1,
            }
            let places = packed.files().iter();
            files.add(
                &row.blob_key,
                places.map(|file| (file.sha256, file.place, extension(&file.path))),
            );
        }
        Ok(Self(manifests))
    }

    /// The list of an update that is offered, if clients can install it file by file.
    pub fn get(&self, update: UpdateId) -> Option<&Manifest> {
        self.0.get(&update)
    }
}

async fn read_files(texts: &mut Texts<'_, '_>, id: UpdateId) -> Result<Option<PackedFiles>, StoreError> {
    let json = texts.get(id, TextKind::Export).await?;
    let files = json.map(|json| serde_json::from_str(&json)).transpose();
    files.map_err(|_| StoreError::Corrupt("packages.export"))
}

/// What follows the last dot of a file's name.
fn extension(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use launchway_domain::id::Id;
    use launchway_foreign::Place;
    use launchway_foreign::capgo::PackedFile;

    use super::*;

    /// As after a start from a snapshot, whose rows do not say which packages have files.
    #[tokio::test]
    async fn archives_without_files_push_nothing_out() {
        let row = |number: u8| LiveRow {
            id: Id::new(1_790_000_000_000, [number; 10]),
            bundle_id: "com.example.app".to_owned(),
            blob_key: format!("packages/{number}"),
        };
        let last = MAX_OTHERS as u8 + 1;
        let rows = CapgoRows((0..=last).map(row).collect());
        let sha256 = [7; 32];
        let page = PackedFile {
            path: "index.html".to_owned(),
            sha256,
            place: Place {
                size: 9,
                start: 40,
                length: 9,
                is_deflated: false,
                checksum: 5,
            },
        };
        let packed = serde_json::to_string(&PackedFiles::new(vec![page])).expect("JSON");
        let texts = HashMap::from([((row(last).id, TextKind::Export), packed)]);
        let mut files = StoredFiles::default();
        let mut texts = Texts::Rows(texts);
        let manifests = CapgoManifests::load(&mut texts, rows, &[], "https://u.example.com", &mut files);
        assert!(manifests.await.expect("rows").get(row(last).id).is_none());
        assert!(files.get(&sha256).is_some());
    }
}
