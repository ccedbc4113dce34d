//! The versions of signed roles that a backup holds. Phones may have seen newer ones, and then refuse these.

use std::collections::BTreeMap;

use launchway_ops::api_error::ApiError;
use launchway_store::System;
use serde::Serialize;

/// An app with a root.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedApp {
    bundle_id: String,
    /// The version of each role that developers sign.
    roles: BTreeMap<String, u64>,
}

/// The apps with a root, by bundle id.
pub async fn read(system: &mut System<'_>) -> Result<Vec<SignedApp>, ApiError> {
    let mut apps: Vec<SignedApp> = Vec::new();
    for row in system.signed_versions().await? {
        match apps.last_mut().filter(|app| app.bundle_id == row.bundle_id) {
            Some(app) => {
                app.roles.insert(row.role, row.version);
            }
            None => apps.push(SignedApp {
                bundle_id: row.bundle_id,
                roles: BTreeMap::from([(row.role, row.version)]),
            }),
        }
    }
    Ok(apps)
}

/// What the operator must know about them; empty if there are none.
pub fn words(apps: &[SignedApp]) -> String {
    if apps.is_empty() {
        return String::new();
    }
    let lines = apps.iter().map(|app| {
        let roles: Vec<_> = app
            .roles
            .iter()
            .map(|(role, version)| format!("{role} {version}"))
            .collect();
        format!("\n  {}: {}", app.bundle_id, roles.join(", "))
    });
    format!(
        "\nThese apps have signed updates. The backup has these versions of their roles:{}\nVersions that were signed after \
         the backup are lost here, and phones that saw them refuse older ones. Give them back with launchway trust push, or \
         sign above version N with launchway trust sign --above N.",
        lines.collect::<String>()
    )
}
