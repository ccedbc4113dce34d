//! Targets: the updates that a role signed, the roles that it delegates to, and what it revoked.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::meta_file::{hashes_value, read_hashes};
use super::{Body, Delegations, FormError};
use crate::digest::Sha256;
use crate::json::{Object, Value, object};

/// A role revokes at most this many packages.
pub const MAX_REVOKED: usize = 32;
/// The name of the field with revoked packages.
const REVOKED: &str = "x-revoked";

/// What a targets role says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Targets by path.
    pub targets: BTreeMap<String, Target>,
    /// The roles that it delegates to.
    pub delegations: Option<Delegations>,
    /// The hashes of packages that no phone starts, in the order in which they were revoked.
    pub revoked: Vec<Sha256>,
}

/// One target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its length in bytes.
    pub length: u64,
    /// Its hashes by the name of the algorithm, in hexadecimal digits.
    pub hashes: BTreeMap<String, String>,
    /// What the application says about it.
    pub custom: Option<Value>,
}

impl Target {
    /// Its SHA-256, if that was signed.
    pub fn sha256(&self) -> Option<Sha256> {
        self.hashes.get("sha256")?.parse().ok()
    }

    fn read(value: Value) -> Result<Self, FormError> {
        let mut fields = Fields::of(value, "targets")?;
        Ok(Self {
            length: fields.count("length")?,
            hashes: read_hashes(&mut fields)?,
            custom: fields.members().remove("custom"),
        })
    }

    fn to_value(&self) -> Value {
        let mut members = object([("hashes", hashes_value(&self.hashes)), ("length", self.length.into())]);
        if let Some(custom) = &self.custom {
            members.insert("custom".to_owned(), custom.clone());
        }
        Value::Object(members)
    }
}

impl Body for Targets {
    const TYPE: &'static str = "targets";
    const LIMIT: usize = 64 << 10;

    fn read(members: &mut Object) -> Result<Self, FormError> {
        let mut fields = Fields::from_members(members);
        let targets = fields.object("targets")?.into_iter();
        let targets = targets.map(|(path, value)| Ok((path, Target::read(value)?)));
        let delegations = fields.members().remove("delegations").map(Delegations::read);
        Ok(Self {
            targets: targets.collect::<Result<_, FormError>>()?,
            delegations: delegations.transpose()?,
            revoked: read_revoked(&mut fields)?,
        })
    }

    fn write(&self, members: &mut Object) {
        let targets = self
            .targets
            .iter()
            .map(|(path, target)| (path.clone(), target.to_value()));
        members.insert("targets".to_owned(), Value::Object(targets.collect()));
        if let Some(delegations) = &self.delegations {
            members.insert("delegations".to_owned(), delegations.to_value());
        }
        if !self.revoked.is_empty() {
            let hashes = self.revoked.iter().map(|hash| hash.to_string().into()).collect();
            members.insert(REVOKED.to_owned(), Value::Array(hashes));
        }
    }
}

/// An unreadable list makes the file invalid: ignoring it would let a phone start what was revoked.
fn read_revoked(fields: &mut Fields) -> Result<Vec<Sha256>, FormError> {
    let invalid = FormError { field: REVOKED };
    if !fields.has(REVOKED) {
        return Ok(Vec::new());
    }
    let texts = fields.texts(REVOKED)?;
    if texts.len() > MAX_REVOKED {
        return Err(invalid);
    }
    texts
        .into_iter()
        .map(|text| text.parse().map_err(|_| invalid))
        .collect()
}
