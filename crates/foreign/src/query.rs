//! The query of a request, as the JavaScript servers of the other services read it.

use std::borrow::Cow;

use launchway_domain::percent::decode_query;

/// The maximum length of a query in bytes. Queries of real clients have a few hundred.
pub(crate) const MAX_QUERY_BYTES: usize = 4096;

/// The parameters of a query, decoded, in the order of the request.
pub(crate) struct Query<'q>(Vec<(Cow<'q, str>, Cow<'q, str>)>);

/// The query is longer than [`MAX_QUERY_BYTES`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueryTooLongError;

impl<'q> Query<'q> {
    /// Reads the text after `?`. Bytes that are not UTF-8 become replacement characters, which no id contains.
    ///
    /// # Errors
    /// The text is too long.
    pub fn read(text: &'q str) -> Result<Self, QueryTooLongError> {
        if text.len() > MAX_QUERY_BYTES {
            return Err(QueryTooLongError);
        }
        let pairs = text.as_bytes().split(|byte| *byte == b'&');
        Ok(Self(
            pairs
                .filter(|pair| !pair.is_empty())
                .map(|pair| {
                    let mut halves = pair.splitn(2, |byte| *byte == b'=');
                    let mut next = || lossy(decode_query(halves.next().unwrap_or_default()));
                    (next(), next())
                })
                .collect(),
        ))
    }

    /// The first parameter of these names that is not empty. One that is given twice has both values with a comma between, which
    /// is no valid value of any parameter.
    pub fn get(&self, names: &[&str]) -> Option<Cow<'q, str>> {
        names.iter().find_map(|name| {
            let mut values = self.0.iter().filter(|(given, _)| given == name).map(|(_, value)| value);
            let first = values.next()?;
            let mut joined = first.clone();
            for other in values {
                joined = Cow::Owned(format!("{joined},{other}"));
            }
            (!joined.is_empty()).then_some(joined)
        })
    }
}

fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_with_a_value_counts() {
        let query = Query::read("a=&b=1%202+3&&=x&c&d=4&d=5&%65=%ff").unwrap();
        for (names, expected) in [
            (&["a", "b"][..], Some("1 2 3")),
            (&["b", "a"], Some("1 2 3")),
            (&["a"], None),
            (&["c"], None),
            (&["d"], Some("4,5")),
            (&["e"], Some("\u{fffd}")),
            (&["f"], None),
        ] {
            assert_eq!(query.get(names).as_deref(), expected, "{names:?}");
        }
    }

    #[test]
    fn a_query_is_read_up_to_its_longest() {
        assert!(Query::read(&"&".repeat(MAX_QUERY_BYTES)).is_ok());
        assert!(Query::read(&"&".repeat(MAX_QUERY_BYTES + 1)).is_err());
    }
}
