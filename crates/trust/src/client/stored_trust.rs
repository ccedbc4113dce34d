//! What a phone keeps of its trusted metadata, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::Sha256;
use crate::floors::Floor;
use crate::identity::RepositoryId;
use crate::json::{self, Object, Value, object};
use crate::metadata::FormError;
use crate::metadata::fields::Fields;
use crate::trusted_metadata::{StoredFiles, TrustedMetadata};

/// The most bytes that are read back.
const LIMIT: usize = 2 << 20;

/// The trusted files, the learned floors, and the chain of roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrust {
    pub(super) repository: RepositoryId,
    pub(super) root: Vec<u8>,
    pub(super) lineage: BTreeMap<u64, Sha256>,
    pub(super) floors: BTreeMap<String, Floor>,
    timestamp: Option<Vec<u8>>,
    snapshot: Option<Vec<u8>>,
    targets: Option<Vec<u8>>,
    roles: BTreeMap<String, Vec<u8>>,
}

/// The text is nothing that [`StoredTrust::to_json`] wrote: the phone begins with what the app carries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the stored trust of this phone")]
pub struct StoredTrustError;

impl StoredTrust {
    pub(super) fn of(
        trusted: &TrustedMetadata,
        floors: BTreeMap<String, Floor>,
        lineage: BTreeMap<u64, Sha256>,
    ) -> Self {
        let identity = trusted.root().header().identity.as_ref();
        Self {
            // A client's root always has an identity; zeros are that of no repository.
            repository: identity.map_or(RepositoryId::from_bytes([0; 16]), |identity| identity.repository),
            root: trusted.root().bytes().to_vec(),
            lineage,
            floors,
            timestamp: trusted.timestamp().map(|file| file.bytes().to_vec()),
            snapshot: trusted.snapshot().map(|file| file.bytes().to_vec()),
            targets: trusted.targets().map(|file| file.bytes().to_vec()),
            roles: trusted
                .roles()
                .map(|(name, file)| (name.to_owned(), file.bytes().to_vec()))
                .collect(),
        }
    }

    pub(super) fn files(&self) -> StoredFiles<'_> {
        let roles = self.roles.iter();
        StoredFiles {
            timestamp: self.timestamp.as_deref(),
            snapshot: self.snapshot.as_deref(),
            targets: self.targets.as_deref(),
            roles: roles.map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect(),
        }
    }

    /// The JSON to keep.
    pub fn to_json(&self) -> String {
        let floors = self
            .floors
            .iter()
            .map(|(role, floor)| (role.clone(), floor_value(floor)));
        let lineage = self
            .lineage
            .iter()
            .map(|(version, signed)| (version.to_string(), signed.to_string().into()));
        let roles = self.roles.iter().map(|(name, bytes)| (name.clone(), text(bytes)));
        let mut members = object([
            ("floors", Value::Object(floors.collect())),
            ("lineage", Value::Object(lineage.collect())),
            ("repository", self.repository.to_string().into()),
            ("roles", Value::Object(roles.collect())),
            ("root", text(&self.root)),
        ]);
        let files = [
            ("timestamp", &self.timestamp),
            ("snapshot", &self.snapshot),
            ("targets", &self.targets),
        ];
        for (name, file) in files {
            if let Some(bytes) = file {
                members.insert(name.to_owned(), text(bytes));
            }
        }
        json::to_text(&Value::Object(members))
    }

    /// Reads what [`StoredTrust::to_json`] wrote.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_json(bytes: &[u8]) -> Result<Self, StoredTrustError> {
        let value = json::parse(bytes, LIMIT).map_err(|_| StoredTrustError)?;
        Self::read(value).map_err(|_| StoredTrustError)
    }

    fn read(value: Value) -> Result<Self, FormError> {
        let mut fields = Fields::of(value, "stored")?;
        let invalid = FormError { field: "stored" };
        let files = |members: Object| -> Result<BTreeMap<String, Vec<u8>>, FormError> {
            let files = members.into_iter();
            files
                .map(|(name, value)| match value {
                    Value::Text(text) => Ok((name, text.into_bytes())),
                    _ => Err(invalid),
                })
                .collect()
        };
        let lineage = files(fields.object("lineage")?)?.into_iter().map(|(version, signed)| {
            let signed = String::from_utf8_lossy(&signed).parse().map_err(|_| invalid)?;
            Ok((version.parse().map_err(|_| invalid)?, signed))
        });
        let lineage = lineage.collect::<Result<_, FormError>>()?;
        let floors = fields.object("floors")?.into_iter();
        let floors = floors.map(|(role, value)| Ok((role, read_floor(value)?)));
        let floors = floors.collect::<Result<_, FormError>>()?;
        let repository = fields.text("repository")?.parse().map_err(|_| invalid)?;
        let roles = files(fields.object("roles")?)?;
        let mut rest = files(std::mem::take(fields.members()))?;
        Ok(Self {
            repository,
            root: rest.remove("root").ok_or(invalid)?,
            lineage,
            floors,
            timestamp: rest.remove("timestamp"),
            snapshot: rest.remove("snapshot"),
            targets: rest.remove("targets"),
            roles,
        })
    }
}

/// Metadata is UTF-8, or it would not have been read.
fn text(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn floor_value(floor: &Floor) -> Value {
    let keys = floor.keys.iter().map(|key| key.clone().into()).collect();
    let revoked = floor.revoked.iter().map(|hash| hash.to_string().into()).collect();
    Value::Object(object([
        ("keys", Value::Array(keys)),
        ("revoked", Value::Array(revoked)),
        ("version", floor.version.into()),
    ]))
}

fn read_floor(value: Value) -> Result<Floor, FormError> {
    let mut fields = Fields::of(value, "floors")?;
    let revoked = fields.texts("revoked")?.into_iter();
    let revoked = revoked.map(|text| text.parse().map_err(|_| FormError { field: "revoked" }));
    Ok(Floor {
        version: fields.positive("version")?,
        keys: fields.texts("keys")?.into_iter().collect::<BTreeSet<_>>(),
        revoked: revoked.collect::<Result<_, _>>()?,
    })
}
