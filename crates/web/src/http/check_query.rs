//! Parses the query of the public check in one pass, without an allocation unless something is escaped.

use std::borrow::Cow;

use launchway_domain::percent::decode_query;
use launchway_domain::words;
use launchway_ops::api_error::ApiError;
use memchr::{memchr, memchr2};

use crate::query::{duplicate_parameter, not_text};

words! {
    /// A parameter of the check (`docs/reference/updates.md#request`).
    Parameter:
    /// The version of the app.
    CurrentVersion = "currentVersion",
    /// The build number of the app.
    CurrentBuild = "currentBuild",
    /// The platform.
    Platform = "platform",
    /// The fingerprint of the app's native code.
    Fingerprint = "fingerprint",
    /// The configuration that the app was built with.
    Configuration = "configuration",
    /// The device's own name.
    DeviceId = "deviceId",
    /// The update that the app runs.
    CurrentUpdateId = "currentUpdateId",
}

/// The known parameters of a check. It agrees with [`Query`](crate::query::Query) on each: unknown ones are
/// ignored, and reading a duplicate is refused.
#[derive(Debug, Default)]
pub struct CheckQuery<'q>([ParameterValue<'q>; Parameter::ALL.len()]);

#[derive(Debug, Default)]
enum ParameterValue<'q> {
    #[default]
    Not,
    Once(Cow<'q, str>),
    /// Its escapes are no UTF-8.
    NoText,
    Twice,
}

impl<'q> ParameterValue<'q> {
    /// The value that was sent as this text.
    fn decode(sent: &'q str) -> ParameterValue<'q> {
        match decode_query(sent.as_bytes()) {
            Cow::Borrowed(_) => ParameterValue::Once(Cow::Borrowed(sent)),
            Cow::Owned(bytes) => {
                String::from_utf8(bytes).map_or(ParameterValue::NoText, |text| ParameterValue::Once(Cow::Owned(text)))
            }
        }
    }
}

impl Parameter {
    fn of_name(name: &[u8]) -> Option<Parameter> {
        Parameter::ALL
            .into_iter()
            .find(|parameter| parameter.as_str().as_bytes() == name)
    }
}

impl<'q> CheckQuery<'q> {
    /// Parses the text after `?`.
    pub fn parse(query: &'q str) -> CheckQuery<'q> {
        let mut read = CheckQuery::default();
        let is_escaped = memchr2(b'%', b'+', query.as_bytes()).is_some();
        let mut rest = Some(query);
        while let Some(query) = rest {
            let pair;
            (pair, rest) = split_at_first(query, memchr(b'&', query.as_bytes()));
            // For a name this short, comparing byte by byte is faster than searching for a character.
            let (name, value) = split_at_first(pair, pair.bytes().position(|byte| byte == b'='));
            let value = value.unwrap_or_default();
            let parameter = match is_escaped {
                true => Parameter::of_name(&decode_query(name.as_bytes())),
                false => Parameter::of_name(name.as_bytes()),
            };
            let Some(parameter) = parameter else { continue };
            let given = &mut read.0[parameter as usize];
            *given = match given {
                ParameterValue::Not if is_escaped => ParameterValue::decode(value),
                ParameterValue::Not => ParameterValue::Once(Cow::Borrowed(value)),
                _ => ParameterValue::Twice,
            };
        }
        read
    }

    /// A parameter; an empty one counts as absent.
    ///
    /// # Errors
    /// 400 if it is given twice, or is not UTF-8.
    pub fn get(&self, parameter: Parameter) -> Result<Option<&str>, ApiError> {
        match &self.0[parameter as usize] {
            ParameterValue::Not => Ok(None),
            ParameterValue::Once(value) => Ok(Some(&**value).filter(|text| !text.is_empty())),
            ParameterValue::NoText => Err(not_text(parameter.as_str())),
            ParameterValue::Twice => Err(duplicate_parameter(parameter.as_str())),
        }
    }
}

/// What is before and after the character at this place; without one, all of the text and nothing.
fn split_at_first(text: &str, place: Option<usize>) -> (&str, Option<&str>) {
    match place {
        Some(place) => (&text[..place], Some(&text[place + 1..])),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::Query;

    #[test]
    fn each_parameter_is_at_its_number() {
        for (number, parameter) in Parameter::ALL.into_iter().enumerate() {
            assert_eq!(parameter as usize, number);
            let query = format!("x=1&{}=a%20b+c&", parameter.as_str());
            let query = CheckQuery::parse(&query);
            for other in Parameter::ALL {
                let expected = (other == parameter).then_some("a b c");
                assert_eq!(query.get(other).unwrap(), expected, "{other:?} of {query:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_general_query(
            pairs in prop::collection::vec(
                ("currentVersion|platform|deviceId|d%65viceId|other|[a-z%+]{0,3}", "=?", "[a-c%0-9+=]{0,6}|%ff|é"), 0..6,
            ),
        ) {
            let pairs: Vec<String> = pairs.into_iter().map(|(name, mark, value)| format!("{name}{mark}{value}")).collect();
            let text = pairs.join("&");
            let (ours, general) = (CheckQuery::parse(&text), Query::parse(&text));
            for parameter in Parameter::ALL {
                let of = |result: Result<Option<&str>, ApiError>| match result {
                    Ok(value) => Ok(value.map(str::to_owned)),
                    Err(failure) => Err(failure.body().message),
                };
                prop_assert_eq!(of(ours.get(parameter)), of(general.get(parameter.as_str())), "{:?} {}", parameter, text);
            }
        }
    }
}
