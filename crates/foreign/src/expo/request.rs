//! Reads the request of `expo-updates` from its headers (`docs/reference/expo.md#request`).
//!
//! The client sends what it is told to (`expo-server-defined-headers`, settings of the app), so only what the answer depends on
//! is required. Everything else that is malformed counts as absent: a refusal would keep the app from updates forever.

use std::borrow::Cow;

use launchway_domain::platform::Platform;
use uuid::Uuid;

use super::accept::{self, Form};
use super::response::Refusal;
use super::structured::{self, Item};

/// The longest runtime version, in bytes.
pub const MAX_RUNTIME_VERSION_BYTES: usize = 255;
/// The longest name of a device or channel that is considered, in bytes.
const MAX_NAME_BYTES: usize = 255;
/// The number of failed updates that are considered; the client names those of the last days only.
const MAX_FAILED: usize = 32;
/// The longest error that is kept, in bytes. The client itself sends at most 1,024 characters.
const MAX_ERROR_BYTES: usize = 4096;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Answers are manifests.
    V0,
    /// Answers are manifests, directives or nothing.
    V1,
}

impl Protocol {
    /// The value of the header `expo-protocol-version`.
    pub fn number(self) -> &'static str {
        match self {
            Protocol::V0 => "0",
            Protocol::V1 => "1",
        }
    }
}

/// The algorithm of signatures that a client expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgorithmWish {
    /// `rsa-v1_5-sha256`, which is also meant if the client names none.
    RsaSha256,
    /// One that no client had when this was written.
    Unknown,
}

/// The signature that a client expects: without one it accepts no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureWish<'h> {
    /// The name of the key in the app's settings.
    pub key_id: Option<Cow<'h, str>>,
    /// The algorithm.
    pub algorithm: AlgorithmWish,
}

/// What a client says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'h> {
    /// The version of the protocol.
    pub protocol: Protocol,
    /// The form of answer that it prefers.
    pub form: Form,
    /// Its platform.
    pub platform: Platform,
    /// The runtime version of the binary.
    pub runtime_version: &'h str,
    /// The update that it runs, which may be the embedded one.
    pub current: Option<Uuid>,
    /// The update that the binary contains.
    pub embedded: Option<Uuid>,
    /// The device's own name.
    pub device_id: Option<&'h str>,
    /// The channel of the app, which is our configuration.
    pub channel: Option<&'h str>,
    /// Updates that could not be started lately.
    pub failed: Vec<Uuid>,
    /// The error with which the previous start ended.
    pub fatal_error: Option<Cow<'h, str>>,
    /// The signature that it expects.
    pub signature: Option<SignatureWish<'h>>,
}

/// Why a request has no answer. The message is sent to the client, which logs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The protocol is neither 0 nor 1.
    #[error("expo-protocol-version must be 0 or 1")]
    Protocol,
    /// No form of answer is accepted.
    #[error("accept must include multipart/mixed, application/expo+json or application/json")]
    Accept,
    /// The platform is missing or unknown.
    #[error("expo-platform must be ios or android")]
    Platform,
    /// The runtime version is missing or too long.
    #[error("expo-runtime-version must have 1 to 255 bytes")]
    RuntimeVersion,
}

impl RequestError {
    /// The answer.
    pub fn refusal(self) -> Refusal {
        match self {
            RequestError::Protocol | RequestError::Accept => Refusal::NotAcceptable(self.to_string()),
            RequestError::Platform | RequestError::RuntimeVersion => Refusal::BadRequest(self.to_string()),
        }
    }
}

impl<'h> Request<'h> {
    /// Reads a request. `header` returns the first value of a header by its name in lower case.
    ///
    /// # Errors
    /// The request cannot be answered by any update.
    pub fn read(header: impl Fn(&str) -> Option<&'h [u8]>) -> Result<Request<'h>, RequestError> {
        let text = |name: &str| {
            let value = str::from_utf8(header(name)?).ok()?.trim();
            (!value.is_empty()).then_some(value)
        };
        let protocol = match text("expo-protocol-version") {
            None | Some("0") => Protocol::V0,
            Some("1") => Protocol::V1,
            Some(_) => return Err(RequestError::Protocol),
        };
        let name = |name: &str| text(name).filter(|value| value.len() <= MAX_NAME_BYTES);
        let platform = match text("expo-platform") {
            Some("ios") => Platform::Ios,
            Some("android") => Platform::Android,
            _ => return Err(RequestError::Platform),
        };
        let runtime_version = text("expo-runtime-version").filter(|value| value.len() <= MAX_RUNTIME_VERSION_BYTES);
        Ok(Request {
            protocol,
            form: accept::preferred(text("accept")).ok_or(RequestError::Accept)?,
            platform,
            runtime_version: runtime_version.ok_or(RequestError::RuntimeVersion)?,
            current: text("expo-current-update-id").and_then(id),
            embedded: text("expo-embedded-update-id").and_then(id),
            device_id: name("eas-client-id"),
            channel: name("expo-channel-name"),
            failed: text("expo-recent-failed-update-ids").map_or_else(Vec::new, failed),
            fatal_error: header("expo-fatal-error").and_then(fatal_error),
            signature: text("expo-expect-signature").map(signature),
        })
    }

    /// Whether the app runs what its binary contains.
    pub fn runs_embedded(&self) -> bool {
        self.current.is_some() && self.current == self.embedded
    }
}

/// A UUID in its usual form of 36 characters; iOS writes some in upper case.
pub(super) fn id(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

fn failed(field: &str) -> Vec<Uuid> {
    let members = structured::list(field).unwrap_or_default();
    let ids = members.into_iter().filter_map(|member| id(&member.into_text()?));
    ids.take(MAX_FAILED).collect()
}

/// The error is free text of a native exception, so it may hold any bytes.
fn fatal_error(value: &[u8]) -> Option<Cow<'_, str>> {
    let end = value.len().min(MAX_ERROR_BYTES);
    let text = String::from_utf8_lossy(&value[..end]);
    (!text.trim().is_empty()).then_some(text)
}

/// What a client expects of signatures. It expects one even if it says so in a form that we cannot read.
fn signature(field: &str) -> SignatureWish<'_> {
    let mut wish = SignatureWish {
        key_id: None,
        algorithm: AlgorithmWish::RsaSha256,
    };
    for (key, value) in structured::dictionary(field).unwrap_or_default() {
        match (key, value) {
            ("keyid", Item::Text(key_id)) => wish.key_id = Some(key_id),
            ("alg", Item::Text(algorithm)) if algorithm == super::signature::ALGORITHM => {}
            ("alg", _) => wish.algorithm = AlgorithmWish::Unknown,
            _ => {}
        }
    }
    wish
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "0193c9a1-7c4e-7d7e-8a9b-0123456789ab";
    const EMBEDDED: &str = "0193C9A1-7C4E-7D7E-8A9B-0123456789FF";

    fn read<'h>(headers: &'h [(&str, &'h [u8])]) -> Result<Request<'h>, RequestError> {
        Request::read(|name| {
            headers
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        })
    }

    /// The headers that every request has, and others.
    fn with<'h>(others: &[(&'h str, &'h str)]) -> Vec<(&'h str, &'h [u8])> {
        let mut headers = vec![
            ("expo-platform", "ios"),
            ("expo-runtime-version", "1.0.0"),
            ("expo-protocol-version", "1"),
        ];
        headers.retain(|(name, _)| others.iter().all(|(other, _)| other != name));
        let all = headers.into_iter().chain(others.iter().copied());
        all.map(|(name, value)| (name, value.as_bytes())).collect()
    }

    #[test]
    fn what_the_client_sends_is_read() {
        let failed = format!("\"{ID}\", \"not an id\", 5, \"{EMBEDDED}\"");
        let headers = with(&[
            ("accept", "multipart/mixed,application/expo+json,application/json"),
            ("expo-platform", "android"),
            ("expo-current-update-id", ID),
            ("expo-embedded-update-id", EMBEDDED),
            ("eas-client-id", "f3d1e7a0-0000-4000-8000-000000000000"),
            ("expo-channel-name", "production"),
            ("expo-recent-failed-update-ids", &failed),
            ("expo-fatal-error", "Error: undefined is not a function"),
            ("expo-expect-signature", r#"sig, keyid="main", alg="rsa-v1_5-sha256""#),
            ("expo-updates-environment", "BARE"),
        ]);
        let request = read(&headers).unwrap();
        let ids = [ID, EMBEDDED].map(|id| Uuid::try_parse(id).unwrap());
        let expected = Request {
            protocol: Protocol::V1,
            form: Form::Multipart,
            platform: Platform::Android,
            runtime_version: "1.0.0",
            current: Some(ids[0]),
            embedded: Some(ids[1]),
            device_id: Some("f3d1e7a0-0000-4000-8000-000000000000"),
            channel: Some("production"),
            failed: ids.to_vec(),
            fatal_error: Some("Error: undefined is not a function".into()),
            signature: Some(SignatureWish {
                key_id: Some("main".into()),
                algorithm: AlgorithmWish::RsaSha256,
            }),
        };
        assert_eq!(request, expected);
        assert!(!request.runs_embedded());
        assert!(
            Request {
                current: request.embedded,
                ..request.clone()
            }
            .runs_embedded()
        );
        assert!(
            !Request {
                current: None,
                embedded: None,
                ..request
            }
            .runs_embedded()
        );
    }

    #[test]
    fn what_is_malformed_counts_as_absent() {
        let long = "a".repeat(MAX_NAME_BYTES + 1);
        let headers = with(&[
            (
                "expo-current-update-id",
                "urn:uuid:0193c9a1-7c4e-7d7e-8a9b-0123456789ab",
            ),
            ("expo-embedded-update-id", "0193c9a17c4e7d7e8a9b0123456789ab"),
            ("eas-client-id", &long),
            ("expo-channel-name", " "),
            ("expo-recent-failed-update-ids", "\"0193c9a1"),
            ("expo-expect-signature", "nonsense="),
        ]);
        let request = read(&headers).unwrap();
        assert_eq!((request.current, request.embedded), (None, None));
        assert_eq!((request.device_id, request.channel), (None, None));
        assert!(request.failed.is_empty());
        let wish = SignatureWish {
            key_id: None,
            algorithm: AlgorithmWish::RsaSha256,
        };
        assert_eq!(request.signature, Some(wish));
        let headers = with(&[("expo-expect-signature", "sig, alg=\"ecdsa\"")]);
        assert_eq!(
            read(&headers).unwrap().signature.unwrap().algorithm,
            AlgorithmWish::Unknown
        );
    }

    #[test]
    fn an_error_of_any_bytes_is_kept_within_bounds() {
        let error = vec![0xff; MAX_ERROR_BYTES * 2];
        let mut headers = with(&[]);
        headers.push(("expo-fatal-error", &error));
        let kept = read(&headers).unwrap().fatal_error.unwrap();
        assert_eq!(kept.chars().count(), MAX_ERROR_BYTES);
    }

    #[test]
    fn a_request_that_no_update_can_answer_is_refused() {
        let long = "1".repeat(MAX_RUNTIME_VERSION_BYTES + 1);
        for (name, value, expected) in [
            ("expo-protocol-version", "2", RequestError::Protocol),
            ("expo-protocol-version", "one", RequestError::Protocol),
            ("accept", "text/html", RequestError::Accept),
            ("expo-platform", "", RequestError::Platform),
            ("expo-platform", "web", RequestError::Platform),
            ("expo-runtime-version", "", RequestError::RuntimeVersion),
            ("expo-runtime-version", &long, RequestError::RuntimeVersion),
        ] {
            assert_eq!(read(&with(&[(name, value)])), Err(expected), "{name}: {value:.20}");
        }
        let without_protocol = with(&[("expo-protocol-version", "")]);
        assert_eq!(read(&without_protocol).unwrap().protocol, Protocol::V0);
    }

    proptest! {
        #[test]
        fn every_header_is_read_or_refused(values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 11)) {
            const NAMES: [&str; 11] = [
                "accept", "expo-platform", "expo-runtime-version", "expo-protocol-version", "expo-current-update-id",
                "expo-embedded-update-id", "eas-client-id", "expo-channel-name", "expo-recent-failed-update-ids",
                "expo-fatal-error", "expo-expect-signature",
            ];
            let read = |fixed: &[(&str, &'static [u8])]| {
                let find = |name: &str| {
                    let fixed = fixed.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
                    fixed.or_else(|| Some(values[NAMES.iter().position(|known| *known == name)?].as_slice()))
                };
                Request::read(find).map(|request| request.failed.len())
            };
            let _ = read(&[]);
            let required: [(&str, &'static [u8]); 4] =
                [("accept", b"*/*"), ("expo-platform", b"ios"), ("expo-runtime-version", b"1"), ("expo-protocol-version", b"1")];
            prop_assert!(read(&required).is_ok());
        }
    }
}
