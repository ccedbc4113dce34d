//! The rows of bundles that clients of other services ask for, and how they are written.

use launchway_domain::id::UpdateId;
use launchway_domain::release::Sequence;
use launchway_domain::rollout::Rollout;
use launchway_store::{IssueRow, ReleaseRow};

use super::fields::{FieldReader, FieldWriter};

/// A text that is stored with an update for clients of Expo. The longest is what a request may have: 1 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpoText {
    /// The update.
    pub update_id: UpdateId,
    /// What it is.
    pub kind: TextKind,
    /// The text.
    pub text: String,
}

/// What a stored text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// The export in its package.
    Export,
    /// What was signed for it.
    Signed,
    /// What is served once it is withdrawn.
    Undo,
}

impl TextKind {
    const ALL: [TextKind; 3] = [TextKind::Export, TextKind::Signed, TextKind::Undo];

    const fn byte(self) -> u8 {
        match self {
            TextKind::Export => b'e',
            TextKind::Signed => b's',
            TextKind::Undo => b'u',
        }
    }
}

/// Appends a text of Expo's clients.
pub fn write_expo_text(fields: &mut FieldWriter<'_>, row: &ExpoText) {
    let ExpoText { update_id, kind, text } = row;
    fields.0.push(b'X');
    fields.id(*update_id);
    fields.0.push(kind.byte());
    fields.text(text);
}

/// Reads a text of Expo's clients.
pub fn read_expo_text(fields: &mut FieldReader<'_>) -> Option<ExpoText> {
    let (update_id, byte) = (fields.id()?, fields.byte()?);
    Some(ExpoText {
        update_id,
        kind: TextKind::ALL.into_iter().find(|kind| kind.byte() == byte)?,
        text: fields.string()?,
    })
}

/// Appends a release.
pub fn write_release(fields: &mut FieldWriter<'_>, release: &ReleaseRow) {
    let ReleaseRow {
        id,
        status,
        bundle_id,
        platform,
        version,
        configuration,
        fingerprint,
        release_notes,
        mandatory,
        rollout,
        kind,
        format,
        sequence,
        runtime_version,
        binary_range,
        content_id,
        size,
        sha256,
        blob_key,
        is_signed,
        has_undo,
        has_files: _,
        ids,
        file_hash,
    } = release;
    fields.0.push(b'L');
    fields.id(*id);
    let words = [status.as_str(), bundle_id, platform.as_str(), version];
    words.into_iter().for_each(|text| fields.text(text));
    fields.optional(configuration.as_deref());
    fields.optional(fingerprint.as_deref());
    fields.text(release_notes);
    fields.flag(*mandatory);
    fields.0.push(rollout.percent());
    fields.text(kind.as_str());
    fields.text(format.as_str());
    fields.number(sequence.number());
    let range = binary_range.as_ref().map(ToString::to_string);
    fields.optional(runtime_version.as_ref().map(|version| version.as_str()));
    fields.optional(range.as_deref());
    fields.optional(content_id.as_deref());
    fields.signed(*size);
    fields.text(sha256);
    fields.text(blob_key);
    fields.flag(*is_signed);
    fields.flag(*has_undo);
    fields.number(ids.len() as u64);
    for (protocol, id) in ids {
        fields.text(protocol.as_str());
        fields.text(id);
    }
    fields.optional(file_hash.as_deref());
}

/// Reads a release.
pub fn read_release(fields: &mut FieldReader<'_>) -> Option<ReleaseRow> {
    let mut release = ReleaseRow {
        id: fields.id()?,
        status: fields.parse()?,
        bundle_id: fields.string()?,
        platform: fields.parse()?,
        version: fields.string()?,
        configuration: fields.optional()?,
        fingerprint: fields.optional()?,
        release_notes: fields.string()?,
        mandatory: fields.flag()?,
        rollout: Rollout::new(fields.byte()?)?,
        kind: fields.parse()?,
        format: fields.parse()?,
        sequence: Sequence::new(fields.number()?),
        runtime_version: fields.optional()?,
        binary_range: fields.optional()?,
        content_id: fields.optional()?,
        size: fields.signed()?,
        sha256: fields.string()?,
        blob_key: fields.string()?,
        is_signed: fields.flag()?,
        has_undo: fields.flag()?,
        // The texts of a snapshot are at hand, so it costs nothing to look.
        has_files: true,
        ids: Vec::new(),
        file_hash: None,
    };
    // Not reserved: the number is of the file.
    for _ in 0..fields.number()? {
        release.ids.push((fields.parse()?, fields.string()?));
    }
    release.file_hash = fields.optional()?;
    Some(release)
}

/// Appends an id of Expo's clients.
pub fn write_issue(fields: &mut FieldWriter<'_>, issue: &IssueRow) {
    let IssueRow {
        update_id,
        platform,
        id,
        created_at,
        undoes,
    } = issue;
    fields.0.push(b'I');
    fields.id(*update_id);
    fields.text(platform.as_str());
    fields.text(id);
    fields.signed(*created_at);
    fields.flag(undoes.is_some());
    if let Some(undoes) = undoes {
        fields.id(*undoes);
    }
}

/// Reads an id of Expo's clients.
pub fn read_issue(fields: &mut FieldReader<'_>) -> Option<IssueRow> {
    Some(IssueRow {
        update_id: fields.id()?,
        platform: fields.parse()?,
        id: fields.string()?,
        created_at: fields.signed()?,
        undoes: if fields.flag()? { Some(fields.id()?) } else { None },
    })
}
