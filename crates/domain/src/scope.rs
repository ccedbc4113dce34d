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
    /// `/env`, `/api-keys`, `/webhooks` and similar. The operator creates such a key, or an admin confirms one in the browser.
    Admin = "admin",
}

impl Scope {
    /// These scopes as a list for people.
    pub fn names(scopes: &[Scope]) -> String {
        let names: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
        names.join(", ")
    }

    /// The scopes of keys that `POST /api-keys` creates.
    pub const GRANTABLE: [Scope; 3] = [Scope::Build, Scope::Submit, Scope::Update];

    /// These scopes but `admin`, and whether it is among them.
    pub fn without_admin(scopes: &[Scope]) -> (Vec<Scope>, bool) {
        let others: Vec<_> = scopes.iter().copied().filter(|scope| *scope != Scope::Admin).collect();
        let has_admin = others.len() < scopes.len();
        (others, has_admin)
    }

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
