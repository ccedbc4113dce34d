//! What an API key may do (spec part 5 rule 3, contract part 2).

use std::fmt;
use std::str::FromStr;

/// One permission of an API key. `admin` implies no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// `/build`.
    Build,
    /// `/submit`.
    Submit,
    /// `/update`.
    Update,
    /// `/env`, `/api-keys`, `/webhooks` and the like; only the operator makes such a key.
    Admin,
}

/// The text names no scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope must be build, submit or update")]
pub struct UnknownScope;

impl Scope {
    /// The scopes that can be asked for over HTTP.
    pub const GRANTABLE: [Scope; 3] = [Scope::Build, Scope::Submit, Scope::Update];
    /// Every scope.
    pub const ALL: [Scope; 4] = [Scope::Build, Scope::Submit, Scope::Update, Scope::Admin];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Build => "build",
            Scope::Submit => "submit",
            Scope::Update => "update",
            Scope::Admin => "admin",
        }
    }

    /// Reads a comma-separated list as it stands in the database. Unknown names are dropped: they grant nothing.
    pub fn list_from(text: &str) -> Vec<Scope> {
        text.split(',').filter_map(|name| name.parse().ok()).collect()
    }

    /// Writes a comma-separated list in the order of [`Scope::ALL`], each scope once.
    pub fn list_to_text(scopes: &[Scope]) -> String {
        let names: Vec<_> = Scope::ALL
            .iter()
            .filter(|scope| scopes.contains(scope))
            .map(|scope| scope.as_str())
            .collect();
        names.join(",")
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Scope::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or(UnknownScope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_kept_in_one_order_without_doubles() {
        assert_eq!(
            Scope::list_to_text(&[Scope::Update, Scope::Build, Scope::Update]),
            "build,update"
        );
        assert_eq!(Scope::list_from("build,update,launch"), [Scope::Build, Scope::Update]);
        assert_eq!(Scope::list_from(""), []);
    }
}
