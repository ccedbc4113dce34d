//! The extracted fields of a manifest in either format: a few attributes of `manifest`, `uses-sdk` and `application`.

use std::collections::BTreeMap;
use std::fmt;

/// An attribute that is extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Package,
    VersionCode,
    VersionCodeMajor,
    VersionName,
    MinSdk,
    TargetSdk,
    Debuggable,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Number(u32),
    Flag(bool),
    /// A resource id.
    Reference(u32),
}

/// The attributes that were found. Of duplicates the first counts, as on devices.
#[derive(Default)]
pub(super) struct Manifest(BTreeMap<Field, Value>);

impl Field {
    /// The field of an attribute, by its element at depth `depth`, and by its resource id, or by its name if it has no
    /// id (frameworks/base: `core/res/res/values/public-final.xml`).
    pub(super) fn of(depth: usize, element: &str, id: Option<u32>, name: &str) -> Option<Self> {
        match (depth, element, id) {
            (0, "manifest", None | Some(0)) if name == "package" => Some(Field::Package),
            (0, "manifest", Some(0x0101_021b)) => Some(Field::VersionCode),
            (0, "manifest", Some(0x0101_0576)) => Some(Field::VersionCodeMajor),
            (0, "manifest", Some(0x0101_021c)) => Some(Field::VersionName),
            (1, "uses-sdk", Some(0x0101_020c)) => Some(Field::MinSdk),
            (1, "uses-sdk", Some(0x0101_0270)) => Some(Field::TargetSdk),
            (1, "application", Some(0x0101_000f)) => Some(Field::Debuggable),
            _ => None,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::Package => "package",
            Field::VersionCode => "versionCode",
            Field::VersionCodeMajor => "versionCodeMajor",
            Field::VersionName => "versionName",
            Field::MinSdk => "minSdkVersion",
            Field::TargetSdk => "targetSdkVersion",
            Field::Debuggable => "debuggable",
        })
    }
}

impl Manifest {
    pub(super) fn has(&self, field: Field) -> bool {
        self.0.contains_key(&field)
    }

    pub(super) fn replace(&mut self, field: Field, value: Value) {
        self.0.insert(field, value);
    }

    /// A non-empty text, or a number as text.
    pub(super) fn text(&self, field: Field) -> Option<String> {
        match self.0.get(&field)? {
            Value::Text(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A number, or a text that contains one.
    pub(super) fn number(&self, field: Field) -> Option<u32> {
        match self.0.get(&field)? {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn flag(&self, field: Field) -> bool {
        matches!(self.0.get(&field), Some(Value::Flag(true)))
    }

    /// The fields whose values are references.
    pub(super) fn references(&self) -> Vec<(Field, u32)> {
        let reference = |(field, value): (&Field, &Value)| match value {
            Value::Reference(id) => Some((*field, *id)),
            _ => None,
        };
        self.0.iter().filter_map(reference).collect()
    }
}
