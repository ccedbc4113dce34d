//! The parameters of a query or form; a malformed one is refused with a message that names it.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use launchway_domain::id::{Id, Kind};
use launchway_domain::percent::decode_query;
use launchway_ops::api_error::ApiError;
use launchway_store::Paging;

const MAX_NUMBER_DIGITS: usize = 9;

/// The query parameters of a request. Unknown ones are ignored; reading a duplicate is refused.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(Vec<u8>, Vec<u8>)>);

impl Query {
    /// Parses the text after `?`.
    pub fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let owned = |text: &str| decode_query(text.as_bytes()).into_owned();
        Query(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (owned(name), owned(value)))
                .collect(),
        )
    }

    /// All parameters as they were sent.
    pub fn into_pairs(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.0
    }

    /// A parameter as it was sent, empty ones included.
    pub fn raw(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self
            .0
            .iter()
            .filter(|(given, _)| given == name.as_bytes())
            .map(|(_, value)| value);
        let value = values.next();
        if values.next().is_some() {
            return Err(duplicate_parameter(name));
        }
        value.map(|bytes| text(name, bytes)).transpose()
    }

    /// An optional parameter; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Result<Option<&str>, ApiError> {
        Ok(self.raw(name)?.filter(|value| !value.is_empty()))
    }

    /// An optional parameter of a type; `wanted` describes the valid values.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str, wanted: &str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.get(name)? else { return Ok(None) };
        text.parse()
            .map(Some)
            .map_err(|_| ApiError::bad(format!("{name} must be {wanted}")))
    }

    /// A filter of a list by what has this name. `None`: the text has no form that such a name can have, so it names
    /// nothing, and the list is empty (`docs/reference/conventions.md#filters-that-name-nothing`).
    pub fn named<T: std::str::FromStr>(&self, name: &str) -> Result<Option<Option<T>>, ApiError> {
        self.named_by(name, |text| text.parse().ok())
    }

    /// A filter of a list by text. PostgreSQL cannot store a NUL in text, and refuses to compare with one.
    pub fn named_text(&self, name: &str) -> Result<Option<Option<String>>, ApiError> {
        self.named_by(name, |text| Some(text.to_owned()).filter(|text| !text.contains('\0')))
    }

    fn named_by<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<Option<T>>, ApiError> {
        Ok(match self.get(name)? {
            None => Some(None),
            Some(text) => read(text).map(Some),
        })
    }

    /// The id of a request that requires one. An id of any shape that names nothing is "not found".
    pub fn id<K: Kind>(&self, what: &'static str) -> Result<IdParam<K>, ApiError> {
        self.optional_id(what)?.ok_or_else(|| ApiError::bad("id is required"))
    }

    /// The id of a request that returns a list without one. An empty id is refused.
    pub fn optional_id<K: Kind>(&self, what: &'static str) -> Result<Option<IdParam<K>>, ApiError> {
        match self.raw("id")? {
            None => Ok(None),
            Some("") => Err(ApiError::bad("id is required")),
            Some(text) => Ok(Some(IdParam {
                id: text.parse().ok(),
                what,
            })),
        }
    }

    /// `limit` and `offset` (`docs/reference/conventions.md#lists`).
    pub fn paging(&self) -> Result<Paging, ApiError> {
        let number = |name: &str, least: i64, default: i64| -> Result<i64, ApiError> {
            let Some(text) = self.get(name)? else {
                return Ok(default);
            };
            let digits = text.len() <= MAX_NUMBER_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
            let value = digits
                .then(|| text.parse::<i64>().ok())
                .flatten()
                .filter(|value| *value >= least);
            value.ok_or_else(|| ApiError::bad(format!("{name} must be a whole number from {least}")))
        };
        Ok(Paging {
            limit: number("limit", 1, 10)?.min(100),
            offset: number("offset", 0, 0)?,
        })
    }
}

/// An id as it was sent: a request's form is checked before existence, so a malformed id is kept until then.
#[derive(Clone, Copy, Debug)]
pub struct IdParam<K: Kind> {
    id: Option<Id<K>>,
    what: &'static str,
}

impl<K: Kind> IdParam<K> {
    /// The id; "not found" if it does not have the shape of an id.
    pub fn get(self) -> Result<Id<K>, ApiError> {
        self.id.ok_or(ApiError::NoSuch(self.what))
    }
}

/// The refusal of a duplicate parameter.
pub fn duplicate_parameter(name: &str) -> ApiError {
    ApiError::bad(format!("{name} is given twice"))
}

/// The refusal of a parameter whose value is no text.
pub fn not_text(name: &str) -> ApiError {
    ApiError::bad(format!("{name} is not valid UTF-8"))
}

fn text<'v>(name: &str, value: &'v [u8]) -> Result<&'v str, ApiError> {
    std::str::from_utf8(value).map_err(|_| not_text(name))
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Query::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_parameter_is_read_once() {
        let query = Query::parse("a=1&b=x%20y+z&c=&a=2&d=%ff&%65=5");
        assert_eq!(query.get("b").expect("b"), Some("x y z"));
        assert_eq!(query.get("c").expect("c"), None);
        assert_eq!(query.get("e").expect("e"), Some("5"));
        assert_eq!(query.get("a").expect_err("twice").to_string(), "a is given twice");
        assert_eq!(query.get("d").expect_err("bytes").to_string(), "d is not valid UTF-8");
    }

    #[test]
    fn a_filter_names_one_thing_or_all_or_nothing() {
        let query = Query::parse("a=5&b=five&c=&d=1&d=2&e=%ff&f=x%00y");
        assert_eq!(query.named::<u8>("a").expect("a"), Some(Some(5)));
        assert_eq!(query.named::<u8>("b").expect("b"), None);
        for name in ["c", "absent"] {
            assert_eq!(query.named::<u8>(name).expect(name), Some(None), "{name}");
        }
        for name in ["d", "e"] {
            assert!(query.named::<u8>(name).is_err(), "{name}");
        }
        assert_eq!(query.named_text("b").expect("b"), Some(Some("five".to_owned())));
        assert_eq!(query.named_text("f").expect("f"), None);
    }

    #[test]
    fn paging_follows_the_reference() {
        for (text, limit, offset) in [
            ("", 10, 0),
            ("limit=100&offset=5", 100, 5),
            ("limit=101", 100, 0),
            ("limit=&offset=", 10, 0),
        ] {
            let paging = Query::parse(text).paging().expect(text);
            assert_eq!((paging.limit, paging.offset), (limit, offset), "{text}");
        }
        for text in [
            "limit=0",
            "limit=-1",
            "offset=-1",
            "limit=ten",
            "limit=1.5",
            "limit=1000000000",
            "limit=%201",
            "limit=1&limit=1",
        ] {
            assert!(Query::parse(text).paging().is_err(), "{text}");
        }
    }
}
