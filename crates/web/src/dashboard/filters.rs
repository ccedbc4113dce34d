//! The filters of a list, as they were typed: shown in the form above the list, told in words, and kept in its links. What
//! is typed matches parts, whatever its letter case; what is chosen matches whole values.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::percent::encode;
use launchway_ops::api_error::ApiError;
use launchway_store::Org;

use crate::query::Query;

/// How a filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// With the whole value.
    Whole,
    /// With any part of the value.
    Part,
}

/// A filter of a list: its parameter, what it compares, and how.
pub type Known = (&'static str, &'static str, Matching);

/// A filter and its typed value; an empty one matches everything.
#[derive(Debug)]
struct Filter {
    name: &'static str,
    what: &'static str,
    matching: Matching,
    typed: String,
}

/// The filters of a list.
#[derive(Debug)]
pub struct Filters(Vec<Filter>);

impl Filters {
    /// Reads these parameters of a query; a missing one is empty. Whole values are validated elsewhere.
    pub fn read<const N: usize>(query: &Query, known: [Known; N]) -> Result<Filters, ApiError> {
        let read = |(name, what, matching)| {
            // PostgreSQL cannot store a NUL in text, so nothing contains one.
            let typed = query.get(name)?.unwrap_or_default().trim().replace('\0', "\u{fffd}");
            Ok(Filter {
                name,
                what,
                matching,
                typed,
            })
        };
        Ok(Filters(known.into_iter().map(read).collect::<Result<_, ApiError>>()?))
    }

    /// The typed value of a parameter.
    pub fn get(&self, name: &str) -> &str {
        let filter = self.0.iter().find(|filter| filter.name == name);
        filter.map(|filter| filter.typed.as_str()).unwrap_or_default()
    }

    /// The typed part of a value; `None` matches everything.
    pub fn part(&self, name: &str) -> Option<String> {
        Some(self.get(name))
            .filter(|typed| !typed.is_empty())
            .map(str::to_owned)
    }

    /// The app that `bundleId` names, or else the typed part of its identifier. One that is typed or chosen as a whole is
    /// meant: `com.example.app` does not stand for `com.example.app.beta`.
    pub async fn app(&mut self, org: &mut Org<'_>) -> Result<(Option<BundleId>, Option<String>), ApiError> {
        let part = self.part("bundleId");
        let named: Option<BundleId> = part.as_ref().and_then(|part| part.parse().ok());
        let Some(named) = named else { return Ok((None, part)) };
        if org.app_by_bundle(&named).await?.is_none() {
            return Ok((None, part));
        }
        for filter in self.0.iter_mut().filter(|filter| filter.name == "bundleId") {
            filter.matching = Matching::Whole;
        }
        Ok((Some(named), None))
    }

    fn set(&self) -> impl Iterator<Item = &Filter> {
        self.0.iter().filter(|filter| !filter.typed.is_empty())
    }

    /// Whether any filter is set.
    pub fn any(&self) -> bool {
        self.set().next().is_some()
    }

    /// What the filters match, such as `the app contains “shop” and the status is failed`.
    pub fn words(&self) -> String {
        let words = self.set().map(|filter| match filter.matching {
            Matching::Whole => format!("the {} is {}", filter.what, filter.typed),
            Matching::Part => format!("the {} contains “{}”", filter.what, filter.typed),
        });
        words.collect::<Vec<_>>().join(" and ")
    }

    /// The filters as the beginning of a query.
    pub fn query(&self) -> String {
        self.set()
            .map(|filter| format!("{}={}&", filter.name, encode(&filter.typed)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_say_what_they_match() {
        let known = [
            ("status", "status", Matching::Whole),
            ("branch", "branch", Matching::Part),
            ("bundleId", "app", Matching::Part),
        ];
        let filters = |query| Filters::read(&Query::parse(query), known).expect("a query");
        let both = filters("branch=+fix%00/1&status=failed&bundleId=");
        assert_eq!(
            both.words(),
            "the status is failed and the branch contains “fix\u{fffd}/1”"
        );
        assert_eq!(both.query(), "status=failed&branch=fix%EF%BF%BD%2F1&");
        assert_eq!(both.part("bundleId"), None);
        let none = filters("other=1&branch=+");
        assert!(!none.any() && none.words().is_empty() && none.query().is_empty());
    }
}
