//! The filters of a list, as they were typed: shown in the form above the list, and kept in its links.

use launchway_domain::percent::encode;
use launchway_ops::api_error::ApiError;

use crate::query::Query;

/// The filters of a list, by the names of their parameters.
pub struct Filters(Vec<(&'static str, String)>);

impl Filters {
    /// Reads these parameters of a query; a missing one is empty. Values are validated elsewhere.
    pub fn read<const N: usize>(query: &Query, names: [&'static str; N]) -> Result<Filters, ApiError> {
        let typed = |name| Ok((name, query.get(name)?.unwrap_or_default().to_owned()));
        Ok(Filters(names.into_iter().map(typed).collect::<Result<_, ApiError>>()?))
    }

    /// The typed value of a parameter.
    pub fn get(&self, name: &str) -> &str {
        let typed = self.0.iter().find(|(known, _)| *known == name);
        typed.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Whether any filter is set.
    pub fn any(&self) -> bool {
        self.0.iter().any(|(_, value)| !value.is_empty())
    }

    /// The filters as the beginning of a query.
    pub fn query(&self) -> String {
        let set = self.0.iter().filter(|(_, value)| !value.is_empty());
        set.map(|(name, value)| format!("{name}={}&", encode(value))).collect()
    }
}
