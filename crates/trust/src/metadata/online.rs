//! Snapshot and timestamp: which versions of which files belong together now.

use std::collections::BTreeMap;

use super::fields::Fields;
use super::{Body, FormError, MetaFile};
use crate::json::{Object, Value, object};

/// What a snapshot says: the version of each targets role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Files by name, such as `targets.json`. A role that was removed stays listed.
    pub meta: BTreeMap<String, MetaFile>,
}

/// What a timestamp says: the version of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The snapshot.
    pub snapshot: MetaFile,
}

impl Snapshot {
    /// What it says about the file of a targets role.
    pub fn role(&self, name: &str) -> Option<&MetaFile> {
        self.meta.get(&format!("{name}.json"))
    }
}

impl Body for Snapshot {
    const TYPE: &'static str = "snapshot";
    const LIMIT: usize = 16 << 10;

    fn read(members: &mut Object) -> Result<Self, FormError> {
        let meta = Fields::from_members(members).object("meta")?.into_iter();
        let meta = meta.map(|(name, value)| Ok((name, MetaFile::read(value)?)));
        Ok(Self {
            meta: meta.collect::<Result<_, FormError>>()?,
        })
    }

    fn write(&self, members: &mut Object) {
        let meta = self.meta.iter().map(|(name, file)| (name.clone(), file.to_value()));
        members.insert("meta".to_owned(), Value::Object(meta.collect()));
    }
}

impl Body for Timestamp {
    const TYPE: &'static str = "timestamp";
    const LIMIT: usize = 4 << 10;

    fn read(members: &mut Object) -> Result<Self, FormError> {
        let mut meta = Fields::of(Fields::from_members(members).value("meta")?, "meta")?;
        Ok(Self {
            snapshot: MetaFile::read(meta.value("snapshot.json")?)?,
        })
    }

    fn write(&self, members: &mut Object) {
        let meta = object([("snapshot.json", self.snapshot.to_value())]);
        members.insert("meta".to_owned(), Value::Object(meta));
    }
}
