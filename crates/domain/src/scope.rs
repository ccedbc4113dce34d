//! What an API key may do (`docs/reference/callers.md#scopes-and-endpoints`).

words! {
    /// One permission of an API key. `admin` implies no other.
    Scope, error = "a scope must be build, submit or update",
    /// `/build`.
    Build = "build",
    /// `/submit`.
    Submit = "submit",
    /// `/update`.
    Update = "update",
    /// `/env`, `/api-keys`, `/webhooks` and similar; only the operator creates such a key.
    Admin = "admin",
}

impl Scope {
    /// The scopes that can be requested over HTTP.
    pub const GRANTABLE: [Scope; 3] = [Scope::Build, Scope::Submit, Scope::Update];

    /// Parses a comma-separated list from the database. Unknown names are dropped: they grant nothing.
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
