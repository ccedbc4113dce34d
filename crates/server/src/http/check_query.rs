//! Parses the query of the public check in one pass, without an allocation unless something is escaped.

use std::borrow::Cow;

use launchway_domain::percent::decode_query;

use crate::api_error::ApiError;
use crate::http::extract::{duplicate_parameter, text};

/// A parameter of the check (`docs/reference/updates.md#request`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `currentVersion`
    CurrentVersion,
    /// `currentBuild`
    CurrentBuild,
    /// `platform`
    Platform,
    /// `fingerprint`
    Fingerprint,
    /// `configuration`
    Configuration,
    /// `deviceId`
    DeviceId,
    /// `currentUpdateId`
    CurrentUpdateId,
}

/// The known parameters of a check. It agrees with [`Query`](crate::http::extract::Query) on each: unknown ones are
/// ignored, and reading a duplicate is refused.
#[derive(Debug, Default)]
pub struct CheckQuery<'q>([ParameterValue<'q>; Parameter::ALL.len()]);

#[derive(Debug, Default)]
enum ParameterValue<'q> {
    #[default]
    Not,
    Once(Cow<'q, [u8]>),
    Twice,
}

impl Parameter {
    /// Every parameter, at the index of its number.
    pub const ALL: [Parameter; 7] = [
        Parameter::CurrentVersion,
        Parameter::CurrentBuild,
        Parameter::Platform,
        Parameter::Fingerprint,
        Parameter::Configuration,
        Parameter::DeviceId,
        Parameter::CurrentUpdateId,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::CurrentVersion => "currentVersion",
            Parameter::CurrentBuild => "currentBuild",
            Parameter::Platform => "platform",
            Parameter::Fingerprint => "fingerprint",
            Parameter::Configuration => "configuration",
            Parameter::DeviceId => "deviceId",
            Parameter::CurrentUpdateId => "currentUpdateId",
        }
    }

    fn of_name(name: &[u8]) -> Option<Parameter> {
        Parameter::ALL
            .into_iter()
            .find(|parameter| parameter.name().as_bytes() == name)
    }
}

impl<'q> CheckQuery<'q> {
    /// Parses the text after `?`.
    pub fn parse(query: &'q str) -> CheckQuery<'q> {
        let mut read = CheckQuery::default();
        // For parts this short, comparing byte by byte is faster than searching for a character.
        for pair in query.as_bytes().split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let (name, value) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
            if let Some(parameter) = Parameter::of_name(&decode_query(name)) {
                let given = &mut read.0[parameter as usize];
                *given = match given {
                    ParameterValue::Not => ParameterValue::Once(decode_query(value)),
                    ParameterValue::Once(_) | ParameterValue::Twice => ParameterValue::Twice,
                };
            }
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
            ParameterValue::Once(value) => Ok(Some(text(parameter.name(), value)?).filter(|text| !text.is_empty())),
            ParameterValue::Twice => Err(duplicate_parameter(parameter.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::extract::Query;

    #[test]
    fn each_parameter_is_at_its_number() {
        for (number, parameter) in Parameter::ALL.into_iter().enumerate() {
            assert_eq!(parameter as usize, number);
            let query = format!("x=1&{}=a%20b+c&", parameter.name());
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
                prop_assert_eq!(of(ours.get(parameter)), of(general.get(parameter.name())), "{:?} {}", parameter, text);
            }
        }
    }
}
