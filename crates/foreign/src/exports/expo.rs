//! Expo: what `eas channel:list --json` and `eas update:view GROUP --json` print.

use std::collections::BTreeMap;

use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, RuntimeVersion, UpdateKind};
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use super::fields::{configuration_problem, document, flag, list, notes, shown, text, time};
use super::{Export, ExportError, ExportedRelease};

/// The channels that serve each branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    by_branch: BTreeMap<String, Vec<String>>,
}

impl Channels {
    /// Adds those of another page.
    pub fn add(&mut self, other: Channels) {
        for (branch, names) in other.by_branch {
            self.by_branch.entry(branch).or_default().extend(names);
        }
    }
}

/// Reads the channels. One that divides its devices between branches is left out: a rollout here is one of an update.
///
/// # Errors
/// The file is not a list of channels.
pub fn read_channels(bytes: &[u8]) -> Result<(Channels, Export), ExportError> {
    let document = document(bytes)?;
    let (mut channels, mut export) = (Channels::default(), Export::default());
    for channel in list(&document, &["currentPage"], "`eas channel:list --json`")? {
        let Some(name) = text(channel, "name") else {
            return Err(ExportError::OtherForm("`eas channel:list --json`"));
        };
        let what = format!("channel {}", shown(name));
        let branches = channel.get("updateBranches").and_then(Value::as_array);
        let branches: Vec<&str> = branches
            .into_iter()
            .flatten()
            .filter_map(|branch| text(branch, "name"))
            .collect();
        match (configuration_problem(name), branches.as_slice()) {
            (Some(why), _) => export.leave_out(what, why),
            (None, _) if flag(channel, &["isPaused"]) == Some(true) => export.leave_out(what, "it is paused"),
            (None, []) => export.leave_out(what, "it serves no branch"),
            (None, [branch]) => {
                let names = channels.by_branch.entry((*branch).to_owned()).or_default();
                names.push(name.to_owned());
            }
            (None, _) => export.leave_out(
                what,
                "it divides its devices between branches; end that rollout first, or publish with a rollout here",
            ),
        }
    }
    Ok((channels, export))
}

/// Reads the updates of groups. Without `channels`, a branch is the channel of its own name.
///
/// # Errors
/// The file is not a group of updates.
pub fn read_updates(bytes: &[u8], channels: Option<&Channels>) -> Result<Export, ExportError> {
    const TOOL: &str = "`eas update:view --json`";
    let document = document(bytes)?;
    let mut export = Export::default();
    for update in list(&document, &["updates"], TOOL)? {
        let (Some(id), Some(branch)) = (text(update, "id"), text(update, "branch")) else {
            return Err(ExportError::OtherForm(TOOL));
        };
        let what = format!("update {}", shown(id));
        let of_branch = match channels {
            None => vec![branch.to_owned()],
            Some(channels) => channels.by_branch.get(branch).cloned().unwrap_or_default(),
        };
        if of_branch.is_empty() {
            export.leave_out(what.clone(), format!("no channel serves its branch {}", shown(branch)));
        }
        for channel in of_branch {
            match release(update, id, &channel) {
                Ok(release) => export.releases.push(release),
                Err(why) => export.leave_out(what.clone(), why),
            }
        }
    }
    // Tools print the newest first.
    export.releases.sort_by_key(|release| release.created_at);
    Ok(export)
}

/// The id of an update in a channel other than the first that serves it: an id names one update, and devices of the other channel load
/// the same content once more. It follows from both, so that a repeated import finds it.
pub fn id_of_copy(id: &str, channel: &str) -> Uuid {
    let hash = Sha256::digest(format!("{id}/{channel}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

fn release(update: &Value, id: &str, channel: &str) -> Result<ExportedRelease, String> {
    if let Some(why) = configuration_problem(channel) {
        return Err(why);
    }
    let id = Uuid::try_parse(id).map_err(|_| "its id is not a UUID")?;
    let platform = match text(update, "platform") {
        Some("android") => Platform::Android,
        Some("ios") => Platform::Ios,
        _ => return Err("it is for neither android nor ios".to_owned()),
    };
    let runtime = text(update, "runtimeVersion").unwrap_or_default();
    if let Err(error) = RuntimeVersion::parse(runtime) {
        return Err(format!("its runtime version {error}"));
    }
    let created_at =
        time(update, "createdAt").ok_or("it has no time of its creation, by which clients order updates")?;
    let is_embedded = flag(update, &["isRollBackToEmbedded"]).unwrap_or_default();
    let percent = update.get("rolloutPercentage").and_then(Value::as_u64).unwrap_or(100);
    Ok(ExportedRelease {
        protocol: Protocol::Expo,
        configuration: channel.to_owned(),
        platform: Some(platform),
        name: id.hyphenated().to_string(),
        kind: if is_embedded {
            UpdateKind::Embedded
        } else {
            UpdateKind::Update
        },
        group: text(update, "group").map(str::to_owned),
        content_hash: None,
        created_at: Some(created_at),
        rollout: u8::try_from(percent.clamp(1, 100)).unwrap_or(100),
        is_mandatory: false,
        range: None,
        runtime_version: Some(runtime.to_owned()),
        fingerprint: None,
        notes: notes(update, "message"),
    })
}
