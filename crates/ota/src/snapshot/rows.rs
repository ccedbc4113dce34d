//! The rows from which the index is made, and how they are written.

use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::version::Version;
use launchway_store::{IssueRow, OfferedUpdate, ReleaseRow, RetiredUpdate, TrustFileRow};

use super::fields::{FieldReader, FieldWriter};
use super::foreign_rows::{
    ExpoText, read_expo_text, read_issue, read_release, write_expo_text, write_issue, write_release,
};

/// A row. The index takes them in the order of [`Row::phase`].
#[derive(Clone, Debug)]
pub enum Row {
    /// A file of an app's metadata.
    TrustFile {
        /// The key of its bundle, here and below.
        key: String,
        /// The file.
        file: TrustFileRow,
    },
    /// A published or paused update.
    Offered(Box<OfferedUpdate>),
    /// A withdrawn or deleted update.
    Retired {
        /// The bundle.
        key: String,
        /// The update.
        update: RetiredUpdate,
    },
    /// A fingerprint document. Those of one bundle follow each other, newest first.
    Document {
        /// The bundle.
        key: String,
        /// The fingerprint.
        hash: String,
        /// The document.
        document: String,
    },
    /// A fingerprint with the `lwfp-2` hash of the same native code, in the same order.
    Pair {
        /// The bundle.
        key: String,
        /// The fingerprint.
        hash: String,
        /// The other hash.
        lwfp2: String,
    },
    /// A bundle that clients of other services ask for. Its keys and releases follow.
    Foreign {
        /// The bundle.
        key: String,
        /// Whom it belongs to.
        org_id: OrgId,
    },
    /// A deployment key of the foreign bundle before.
    DeploymentKey {
        /// The key that clients send.
        key: String,
        /// The platform.
        platform: Platform,
        /// The configuration.
        configuration: Option<String>,
    },
    /// A release of the foreign bundle before.
    Release(Box<ReleaseRow>),
    /// An id under which clients of Expo receive a release of the foreign bundle before.
    Issue(IssueRow),
    /// A text of a release of the foreign bundle before.
    ExpoText(ExpoText),
}

/// All rows of one bundle, in order.
pub type BundleRows = Vec<Row>;

impl Row {
    /// The place of its kind among all rows.
    pub fn phase(&self) -> u8 {
        match self {
            Row::TrustFile { .. } => 0,
            Row::Offered(_) => 1,
            Row::Retired { .. } => 2,
            Row::Document { .. } => 3,
            Row::Pair { .. } => 4,
            Row::Foreign { .. } | Row::DeploymentKey { .. } | Row::Release(_) | Row::Issue(_) | Row::ExpoText(_) => 5,
        }
    }

    /// Appends the row; its length comes first.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut row = Vec::with_capacity(256);
        let mut fields = FieldWriter(&mut row);
        match self {
            Row::TrustFile { key, file } => write_trust_file(&mut fields, key, file),
            Row::Offered(update) => write_offered(&mut fields, update),
            Row::Retired { key, update } => write_retired(&mut fields, key, update),
            Row::Document { key, hash, document } => write_texts(&mut fields, b'D', [key, hash, document]),
            Row::Pair { key, hash, lwfp2 } => write_texts(&mut fields, b'P', [key, hash, lwfp2]),
            Row::Foreign { key, org_id } => {
                fields.0.push(b'F');
                fields.text(key);
                fields.id(*org_id);
            }
            Row::DeploymentKey {
                key,
                platform,
                configuration,
            } => {
                write_texts(&mut fields, b'K', [key, platform.as_str()]);
                fields.optional(configuration.as_deref());
            }
            Row::Release(release) => write_release(&mut fields, release),
            Row::Issue(issue) => write_issue(&mut fields, issue),
            Row::ExpoText(text) => write_expo_text(&mut fields, text),
        }
        FieldWriter(out).number(row.len() as u64);
        out.extend_from_slice(&row);
    }

    /// Reads rows that were written one after the other; `None` if they were not.
    pub fn read_all(content: &[u8]) -> Option<Vec<Row>> {
        let mut reader = FieldReader::new(content);
        let mut rows = Vec::new();
        while !reader.is_empty() {
            let length = reader.number()?;
            let mut fields = FieldReader::new(reader.take(length)?);
            rows.push(Row::read(&mut fields)?);
            if !fields.is_empty() {
                return None;
            }
        }
        Some(rows)
    }

    fn read(fields: &mut FieldReader<'_>) -> Option<Row> {
        let row = match fields.byte()? {
            b'T' => Row::TrustFile {
                key: fields.string()?,
                file: read_trust_file(fields)?,
            },
            b'O' => Row::Offered(Box::new(read_offered(fields)?)),
            b'R' => Row::Retired {
                key: fields.string()?,
                update: RetiredUpdate {
                    id: fields.id()?,
                    platform: fields.parse()?,
                    version: fields.parse()?,
                    build: fields.number()?,
                },
            },
            b'D' => Row::Document {
                key: fields.string()?,
                hash: fields.string()?,
                document: fields.string()?,
            },
            b'P' => Row::Pair {
                key: fields.string()?,
                hash: fields.string()?,
                lwfp2: fields.string()?,
            },
            b'F' => Row::Foreign {
                key: fields.string()?,
                org_id: fields.id()?,
            },
            b'K' => Row::DeploymentKey {
                key: fields.string()?,
                platform: fields.parse()?,
                configuration: fields.optional()?,
            },
            b'L' => Row::Release(Box::new(read_release(fields)?)),
            b'I' => Row::Issue(read_issue(fields)?),
            b'X' => Row::ExpoText(read_expo_text(fields)?),
            _ => return None,
        };
        Some(row)
    }
}

fn write_texts<const N: usize>(fields: &mut FieldWriter<'_>, kind: u8, texts: [&str; N]) {
    fields.0.push(kind);
    texts.into_iter().for_each(|text| fields.text(text));
}

fn write_trust_file(fields: &mut FieldWriter<'_>, key: &str, file: &TrustFileRow) {
    let TrustFileRow {
        role,
        version,
        content,
        expires_at,
        accepted_at,
        accepted_by,
    } = file;
    write_texts(fields, b'T', [key, role, content, accepted_by]);
    fields.number(*version);
    fields.signed(*expires_at);
    fields.signed(*accepted_at);
}

fn read_trust_file(fields: &mut FieldReader<'_>) -> Option<TrustFileRow> {
    let (role, content, accepted_by) = (fields.string()?, fields.string()?, fields.string()?);
    Some(TrustFileRow {
        role,
        content,
        accepted_by,
        version: fields.number()?,
        expires_at: fields.signed()?,
        accepted_at: fields.signed()?,
    })
}

fn write_offered(fields: &mut FieldWriter<'_>, update: &OfferedUpdate) {
    let OfferedUpdate {
        id,
        org_id,
        status,
        bundle_id,
        platform,
        // Parsed from its text.
        version: _,
        version_text,
        build_number,
        configuration,
        fingerprint,
        release_notes,
        mandatory,
        rollout,
        size,
        sha256,
        blob_key,
        trust_role,
        created_at,
    } = update;
    fields.0.push(b'O');
    fields.id(*id);
    fields.id(*org_id);
    let words = [status.as_str(), bundle_id, platform.as_str(), version_text];
    words.into_iter().for_each(|text| fields.text(text));
    fields.text(build_number.as_str());
    fields.optional(configuration.as_deref());
    fields.optional(fingerprint.as_deref());
    fields.text(release_notes);
    fields.flag(*mandatory);
    fields.0.push(rollout.percent());
    fields.signed(*size);
    fields.text(sha256);
    fields.text(blob_key);
    fields.optional(trust_role.as_deref());
    fields.signed(*created_at);
}

fn read_offered(fields: &mut FieldReader<'_>) -> Option<OfferedUpdate> {
    let (id, org_id, status) = (fields.id()?, fields.id()?, fields.parse()?);
    let (bundle_id, platform, version_text) = (fields.string()?, fields.parse()?, fields.string()?);
    Some(OfferedUpdate {
        id,
        org_id,
        status,
        bundle_id,
        platform,
        version: Version::parse(&version_text).ok()?,
        version_text,
        build_number: fields.parse()?,
        configuration: fields.optional()?,
        fingerprint: fields.optional()?,
        release_notes: fields.string()?,
        mandatory: fields.flag()?,
        rollout: Rollout::new(fields.byte()?)?,
        size: fields.signed()?,
        sha256: fields.string()?,
        blob_key: fields.string()?,
        trust_role: fields.optional()?,
        created_at: fields.signed()?,
    })
}

fn write_retired(fields: &mut FieldWriter<'_>, key: &str, update: &RetiredUpdate) {
    let RetiredUpdate {
        id,
        platform,
        version,
        build,
    } = update;
    fields.0.push(b'R');
    fields.text(key);
    fields.id(*id);
    fields.text(platform.as_str());
    fields.text(&version.to_string());
    fields.number(*build);
}
