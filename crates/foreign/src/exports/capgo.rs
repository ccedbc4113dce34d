//! Capgo: what `GET /bundle/?app_id=` and `GET /channel/?app_id=` of its public interface answer.

use std::collections::BTreeMap;

use launchway_domain::release::{Protocol, UpdateKind};
use serde_json::Value;

use super::fields::{configuration_problem, document, flag, id_problem, list, notes, shown, text, time};
use super::{Export, ExportError, ExportedRelease};

/// Which bundle each channel serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    by_bundle: BTreeMap<String, Vec<String>>,
}

impl Channels {
    /// Adds those of another page.
    pub fn add(&mut self, other: Channels) {
        for (bundle, names) in other.by_bundle {
            self.by_bundle.entry(bundle).or_default().extend(names);
        }
    }
}

/// Reads the channels.
///
/// # Errors
/// The file is not a list of channels.
pub fn read_channels(bytes: &[u8]) -> Result<(Channels, Export), ExportError> {
    let document = document(bytes)?;
    let (mut channels, mut export) = (Channels::default(), Export::default());
    for channel in list(&document, &["data"], "`GET /channel/` of Capgo")? {
        let Some(name) = text(channel, "name") else {
            return Err(ExportError::OtherForm("`GET /channel/` of Capgo"));
        };
        let what = format!("channel {}", shown(name));
        // Older answers have the name itself.
        let bundle = channel
            .get("version")
            .and_then(|version| text(version, "name").or(version.as_str()));
        match (configuration_problem(name), bundle) {
            (Some(why), _) => export.leave_out(what, why),
            (None, None | Some("unknown" | "builtin")) => export.leave_out(what, "it serves no bundle"),
            (None, Some(bundle)) => channels
                .by_bundle
                .entry(bundle.to_owned())
                .or_default()
                .push(name.to_owned()),
        }
    }
    Ok((channels, export))
}

/// Reads the bundles. Those that no channel serves are not live.
///
/// # Errors
/// The file is not a list of bundles.
pub fn read_bundles(bytes: &[u8], channels: &Channels) -> Result<Export, ExportError> {
    let document = document(bytes)?;
    let mut export = Export::default();
    for bundle in list(&document, &["data"], "`GET /bundle/` of Capgo")? {
        let Some(name) = text(bundle, "name") else {
            return Err(ExportError::OtherForm("`GET /bundle/` of Capgo"));
        };
        let what = format!("bundle {}", shown(name));
        match problem(bundle, name) {
            Some(why) => export.leave_out(what, why),
            None => match channels.by_bundle.get(name) {
                None => export.leave_out(what, "no channel serves it"),
                Some(names) => export
                    .releases
                    .extend(names.iter().map(|channel| release(bundle, name, channel))),
            },
        }
    }
    export.releases.sort_by_key(|release| release.created_at);
    Ok(export)
}

fn problem(bundle: &Value, name: &str) -> Option<String> {
    if flag(bundle, &["deleted"]) == Some(true) {
        return Some("it was deleted".to_owned());
    }
    if text(bundle, "session_key").is_some() {
        return Some("it is encrypted, which this server has no bundles of; publish it without a key".to_owned());
    }
    id_problem(name)
}

fn release(bundle: &Value, name: &str, channel: &str) -> ExportedRelease {
    ExportedRelease {
        protocol: Protocol::Capgo,
        configuration: channel.to_owned(),
        platform: None,
        name: name.to_owned(),
        kind: UpdateKind::Update,
        group: None,
        content_hash: text(bundle, "checksum").map(str::to_lowercase),
        created_at: time(bundle, "created_at"),
        rollout: 100,
        is_mandatory: false,
        range: None,
        runtime_version: None,
        fingerprint: None,
        notes: notes(bundle, "comment"),
    }
}
