//! What the address of a list says of it, as it was typed: shown in the form above the list, and kept in its links.

use crate::api_error::ApiError;
use crate::blob::percent::encoded;
use crate::http::extract::Query;

/// The filters of a list, by the names of their parameters.
pub struct Filters(Vec<(&'static str, String)>);

impl Filters {
    /// Reads these parameters of an address; one that is not there is empty. Whether a value is one that can be is looked
    /// at elsewhere.
    pub fn read<const N: usize>(query: &Query, names: [&'static str; N]) -> Result<Filters, ApiError> {
        let typed = |name| Ok((name, query.get(name)?.unwrap_or_default().to_owned()));
        Ok(Filters(names.into_iter().map(typed).collect::<Result<_, ApiError>>()?))
    }

    /// What was typed for a parameter.
    pub fn get(&self, name: &str) -> &str {
        let typed = self.0.iter().find(|(known, _)| *known == name);
        typed.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Whether anything was typed.
    pub fn any(&self) -> bool {
        self.0.iter().any(|(_, value)| !value.is_empty())
    }

    /// What was typed as the beginning of a query.
    pub fn query(&self) -> String {
        let set = self.0.iter().filter(|(_, value)| !value.is_empty());
        set.map(|(name, value)| format!("{name}={}&", encoded(value))).collect()
    }
}
