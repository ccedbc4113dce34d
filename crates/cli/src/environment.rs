//! The environment variables, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::Failure;

/// The environment variables. An empty one counts as absent.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "the one place where the environment is read")]
    pub fn of_this_process() -> Self {
        let named = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self(named.collect())
    }

    /// The text of a variable. Fails when it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let text = value
            .clone()
            .into_string()
            .map_err(|_| Failure::usage(format!("{name} is not UTF-8 text")))?;
        Ok(Some(text))
    }

    /// The path in a variable.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.value(name).map(PathBuf::from)
    }

    /// Whether a variable is set to anything but `0` and `false`.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| value != "0" && value != "false")
    }

    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&OsString> {
        self.0.get(name).filter(|value| !value.is_empty())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        Self(
            variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
        )
    }
}
