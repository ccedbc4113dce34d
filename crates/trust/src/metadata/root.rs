//! The root: the keys of all top-level roles.

use super::authority::{keys_value, read_keys};
use super::fields::Fields;
use super::{Authority, Body, FormError, Keys, RoleKeys};
use crate::json::{Object, Value};
use crate::role::TopLevel;

/// What a root says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The keys that its roles name.
    pub keys: Keys,
    /// Who signs the next root.
    pub root: RoleKeys,
    /// Who signs the timestamp.
    pub timestamp: RoleKeys,
    /// Who signs the snapshot.
    pub snapshot: RoleKeys,
    /// Who signs targets.
    pub targets: RoleKeys,
    /// Whether the names of files carry their versions.
    pub consistent_snapshot: bool,
}

impl Root {
    /// Who signs for a top-level role.
    pub fn authority(&self, role: TopLevel) -> Authority<'_> {
        Authority::new(&self.keys, self.role(role))
    }

    /// The keys of a top-level role.
    pub fn role(&self, role: TopLevel) -> &RoleKeys {
        match role {
            TopLevel::Root => &self.root,
            TopLevel::Timestamp => &self.timestamp,
            TopLevel::Snapshot => &self.snapshot,
            TopLevel::Targets => &self.targets,
        }
    }
}

impl Body for Root {
    const TYPE: &'static str = "root";
    const LIMIT: usize = 32 << 10;

    fn read(members: &mut Object) -> Result<Self, FormError> {
        let mut fields = Fields::from_members(members);
        let keys = read_keys(&mut fields)?;
        let mut roles = Fields::of(fields.value("roles")?, "roles")?;
        let mut role = |role: TopLevel| RoleKeys::read(&mut Fields::of(roles.value(role.name())?, "roles")?);
        Ok(Self {
            keys,
            root: role(TopLevel::Root)?,
            timestamp: role(TopLevel::Timestamp)?,
            snapshot: role(TopLevel::Snapshot)?,
            targets: role(TopLevel::Targets)?,
            consistent_snapshot: fields.has("consistent_snapshot") && fields.bool("consistent_snapshot")?,
        })
    }

    fn write(&self, members: &mut Object) {
        let roles = TopLevel::ALL.map(|role| {
            let mut members = Object::new();
            self.role(role).write(&mut members);
            (role.name().to_owned(), Value::Object(members))
        });
        members.insert("consistent_snapshot".to_owned(), Value::Bool(self.consistent_snapshot));
        members.insert("keys".to_owned(), keys_value(&self.keys));
        members.insert("roles".to_owned(), Value::Object(roles.into()));
    }
}
