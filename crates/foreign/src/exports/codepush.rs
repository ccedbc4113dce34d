//! CodePush: what `code-push deployment ls APP --format json` and `code-push deployment history APP DEPLOYMENT --format json` print.

use launchway_domain::release::{Protocol, UpdateKind};
use serde_json::Value;

use super::fields::{configuration_problem, document, flag, id_problem, list, notes, range_problem, shown, text, time};
use super::{Export, ExportError, ExportedDeployment, ExportedRelease};
use crate::codepush::is_deployment_key;

/// Reads a list of deployments: their keys, and of each the newest release, which a history has, too.
///
/// # Errors
/// The file is not such a list.
pub fn read_deployments(bytes: &[u8]) -> Result<Export, ExportError> {
    let document = document(bytes)?;
    let mut export = Export::default();
    for deployment in list(&document, &[], "`code-push deployment ls --format json`")? {
        let Some(name) = text(deployment, "name") else {
            return Err(ExportError::OtherForm("`code-push deployment ls --format json`"));
        };
        let what = format!("deployment {}", shown(name));
        match (configuration_problem(name), text(deployment, "key")) {
            (Some(why), _) => export.leave_out(what, why),
            (None, Some(key)) if is_deployment_key(key) => export.deployments.push(ExportedDeployment {
                configuration: name.to_owned(),
                key: key.to_owned(),
            }),
            (None, Some(_)) => export.leave_out(what, "its key does not have 10 to 100 letters, digits, `-` and `_`"),
            (None, None) => export.leave_out(what, "its key is not in the file"),
        }
    }
    Ok(export)
}

/// Reads the history of a deployment, the oldest release first.
///
/// # Errors
/// The file is not such a history.
pub fn read_history(bytes: &[u8], deployment: &str) -> Result<Export, ExportError> {
    let document = document(bytes)?;
    let mut export = Export::default();
    if let Some(why) = configuration_problem(deployment) {
        export.leave_out(format!("deployment {}", shown(deployment)), why);
        return Ok(export);
    }
    for package in list(&document, &[], "`code-push deployment history --format json`")? {
        let Some(label) = text(package, "label") else {
            return Err(ExportError::OtherForm("`code-push deployment history --format json`"));
        };
        let what = format!("{} of {deployment}", shown(label));
        match release(package, deployment, label) {
            Ok(release) => export.releases.push(release),
            Err(why) => export.leave_out(what, why),
        }
    }
    Ok(export)
}

fn release(package: &Value, deployment: &str, label: &str) -> Result<ExportedRelease, String> {
    if let Some(why) = id_problem(label) {
        return Err(why);
    }
    if flag(package, &["isDisabled"]) == Some(true) {
        return Err("it is disabled, so that no app receives it".to_owned());
    }
    let range = text(package, "appVersion").ok_or("it names no version of the app")?;
    if let Some(why) = range_problem(range) {
        return Err(why);
    }
    // The service takes both for a full rollout.
    let rollout = match package.get("rollout").and_then(Value::as_u64) {
        None | Some(0) => 100,
        Some(percent) => u8::try_from(percent.min(100)).unwrap_or(100),
    };
    Ok(ExportedRelease {
        protocol: Protocol::Codepush,
        configuration: deployment.to_owned(),
        platform: None,
        name: label.to_owned(),
        kind: UpdateKind::Update,
        group: None,
        content_hash: text(package, "packageHash").map(str::to_lowercase),
        created_at: time(package, "uploadTime"),
        rollout,
        is_mandatory: flag(package, &["isMandatory"]).unwrap_or_default(),
        range: Some(range.to_owned()),
        runtime_version: None,
        fingerprint: None,
        notes: notes(package, "description"),
    })
}
