//! The rows of a bundle that clients of other services ask for, as a snapshot has them.

use std::collections::HashMap;

use launchway_domain::id::UpdateId;
use launchway_store::ForeignBundleRows;

use crate::snapshot::{BundleRows, ExpoText, Row, TextKind};

/// All rows of such a bundle.
#[derive(Debug, Default)]
pub(crate) struct ForeignRows {
    /// Its keys, releases and ids.
    pub(super) bundle: ForeignBundleRows,
    /// The texts of its releases.
    pub(super) texts: HashMap<(UpdateId, TextKind), String>,
}

impl ForeignRows {
    /// Takes the next row of the bundle. Returns false for a row of another kind.
    pub(crate) fn take(&mut self, row: Row) -> bool {
        match row {
            Row::Foreign { org_id, .. } => self.bundle.org_id = Some(org_id),
            Row::DeploymentKey {
                key,
                platform,
                configuration,
            } => self.bundle.keys.push((key, platform, configuration)),
            Row::Release(release) => self.bundle.releases.push(*release),
            Row::Issue(issue) => self.bundle.issues.push(issue),
            Row::ExpoText(ExpoText { update_id, kind, text }) => {
                self.texts.insert((update_id, kind), text);
            }
            Row::TrustFile { .. } | Row::Offered(_) | Row::Retired { .. } | Row::Document { .. } | Row::Pair { .. } => {
                return false;
            }
        }
        true
    }
}

/// Adds the rows of a bundle, unless no client of another service asks for it.
pub(super) fn add(rows: &mut BundleRows, key: &str, bundle: &ForeignBundleRows) {
    let Some(org_id) = bundle.org_id else { return };
    rows.push(Row::Foreign {
        key: key.to_owned(),
        org_id,
    });
    let keys = bundle.keys.iter().cloned();
    rows.extend(keys.map(|(key, platform, configuration)| Row::DeploymentKey {
        key,
        platform,
        configuration,
    }));
    let releases = bundle.releases.iter().cloned();
    rows.extend(releases.map(|release| Row::Release(Box::new(release))));
    rows.extend(bundle.issues.iter().cloned().map(Row::Issue));
}

/// Adds the texts that were read for a bundle.
pub(super) fn add_texts(rows: &mut BundleRows, texts: Vec<ExpoText>) {
    rows.extend(texts.into_iter().map(Row::ExpoText));
}
