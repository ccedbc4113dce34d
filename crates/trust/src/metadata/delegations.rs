//! Delegations: which roles sign for which paths, and by which keys.

use std::collections::BTreeSet;

use super::authority::{keys_value, read_keys};
use super::fields::Fields;
use super::{Authority, FormError, Keys, RoleKeys};
use crate::json::{Object, Value, object};
use crate::role::TopLevel;

/// The roles that a targets role delegates to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegations {
    /// The keys that the roles name.
    pub keys: Keys,
    /// The roles, in the order in which a target is looked for; no name twice, none of a top-level role.
    pub roles: Vec<Delegation>,
}

/// One role that is delegated to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// The name of the role.
    pub name: String,
    /// Who signs for it.
    pub role: RoleKeys,
    /// Whether the search for a path ends with this role.
    pub terminating: bool,
    /// Patterns of the paths that it signs for. Empty if the delegation is by hash prefixes.
    pub paths: Vec<String>,
}

impl Delegations {
    /// The delegation to the role of this name.
    pub fn get(&self, name: &str) -> Option<&Delegation> {
        self.roles.iter().find(|role| role.name == name)
    }

    /// Who signs for a role.
    pub fn authority<'a>(&'a self, delegation: &'a Delegation) -> Authority<'a> {
        Authority::new(&self.keys, &delegation.role)
    }

    pub(super) fn read(value: Value) -> Result<Self, FormError> {
        let mut fields = Fields::of(value, "delegations")?;
        let keys = read_keys(&mut fields)?;
        let mut roles = Vec::new();
        let mut names = BTreeSet::from(TopLevel::ALL.map(|role| role.name().to_owned()));
        let items = if fields.has("roles") {
            fields.array("roles")?
        } else {
            Vec::new()
        };
        for item in items {
            let delegation = Delegation::read(Fields::of(item, "roles")?)?;
            if !names.insert(delegation.name.clone()) {
                return Err(FormError { field: "roles" });
            }
            roles.push(delegation);
        }
        Ok(Self { keys, roles })
    }

    pub(super) fn to_value(&self) -> Value {
        let roles = self.roles.iter().map(Delegation::to_value).collect();
        Value::Object(object([
            ("keys", keys_value(&self.keys)),
            ("roles", Value::Array(roles)),
        ]))
    }
}

impl Delegation {
    fn read(mut fields: Fields) -> Result<Self, FormError> {
        Ok(Self {
            name: fields.text("name")?,
            role: RoleKeys::read(&mut fields)?,
            terminating: fields.bool("terminating")?,
            paths: if fields.has("paths") {
                fields.texts("paths")?
            } else {
                Vec::new()
            },
        })
    }

    fn to_value(&self) -> Value {
        let paths = self.paths.iter().map(|path| path.clone().into()).collect();
        let mut members: Object = object([
            ("name", self.name.clone().into()),
            ("paths", Value::Array(paths)),
            ("terminating", Value::Bool(self.terminating)),
        ]);
        self.role.write(&mut members);
        Value::Object(members)
    }
}
