//! hot-updater: what `GET /api/bundles` of its server answers, or rows of its table `bundles` as JSON.

use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, UpdateKind};
use serde_json::Value;

use super::fields::{configuration_problem, document, first_text, flag, list, notes, range_problem, shown};
use super::{Export, ExportError, ExportedRelease};
use crate::hot_updater::BundleId;

const TOOL: &str = "`GET /api/bundles` of hot-updater";
/// A bundle reaches this many cohorts if its rollout is full.
const ALL_COHORTS: u64 = 1000;

/// Reads the bundles, the oldest first.
///
/// # Errors
/// The file is not a list of bundles.
pub fn read_bundles(bytes: &[u8]) -> Result<Export, ExportError> {
    let document = document(bytes)?;
    let mut export = Export::default();
    for bundle in list(&document, &["data", "bundles"], TOOL)? {
        let (Some(id), Some(_)) = (first_text(bundle, &["id"]), first_text(bundle, &["channel"])) else {
            return Err(ExportError::OtherForm(TOOL));
        };
        match release(bundle, id) {
            Ok(release) => export.releases.push(release),
            Err(why) => export.leave_out(format!("bundle {}", shown(id)), why),
        }
    }
    // The ids begin with the time.
    export.releases.sort_by(|this, that| this.name.cmp(&that.name));
    Ok(export)
}

fn release(bundle: &Value, id: &str) -> Result<ExportedRelease, String> {
    let id = BundleId::parse(id).map_err(|error| format!("its id {error}"))?;
    let channel = first_text(bundle, &["channel"]).unwrap_or_default();
    if let Some(why) = configuration_problem(channel) {
        return Err(why);
    }
    if flag(bundle, &["enabled"]) == Some(false) {
        return Err("it is disabled, so that no app receives it".to_owned());
    }
    let platform = match first_text(bundle, &["platform"]) {
        Some("android") => Platform::Android,
        Some("ios") => Platform::Ios,
        _ => return Err("it is for neither android nor ios".to_owned()),
    };
    let range = first_text(bundle, &["targetAppVersion", "target_app_version"]);
    if let Some(why) = range.and_then(range_problem) {
        return Err(why);
    }
    let cohorts = ["rolloutCohortCount", "rollout_cohort_count"];
    let cohorts = cohorts
        .iter()
        .find_map(|name| bundle.get(name)?.as_u64())
        .unwrap_or(ALL_COHORTS);
    if cohorts == 0 {
        return Err("its rollout reaches no device".to_owned());
    }
    Ok(ExportedRelease {
        protocol: Protocol::HotUpdater,
        configuration: channel.to_owned(),
        platform: Some(platform),
        name: id.as_str().to_owned(),
        kind: UpdateKind::Update,
        group: None,
        content_hash: first_text(bundle, &["fileHash", "file_hash"]).map(str::to_owned),
        created_at: None,
        // Ten cohorts are a percent here. Whoever has the bundle must stay among those that it reaches.
        rollout: u8::try_from(cohorts.div_ceil(10).min(100)).unwrap_or(100),
        is_mandatory: flag(bundle, &["shouldForceUpdate", "should_force_update"]).unwrap_or_default(),
        range: range.map(str::to_owned),
        runtime_version: None,
        fingerprint: first_text(bundle, &["fingerprintHash", "fingerprint_hash"]).map(str::to_owned),
        notes: notes(bundle, "message"),
    })
}
