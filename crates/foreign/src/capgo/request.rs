//! Reads the request for an update (`docs/reference/capgo.md#updates`).

use launchway_domain::version::Version;

use super::device::Device;
use super::fields::Fields;
use super::response::{ErrorCode, UpdateAnswer};

/// The largest body of a request, except one of stats, in bytes.
pub const MAX_BODY_BYTES: usize = 16 * 1024;

/// A client asks for an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRequest<'b> {
    /// The device and its app.
    pub device: Device<'b>,
    /// The version of the installed app as far as it is one.
    pub installed: Option<Version>,
}

impl<'b> UpdateRequest<'b> {
    /// Reads the body.
    ///
    /// # Errors
    /// The answer to a body that is not a request: the client counts it as a failure and asks again at its next start.
    pub fn read(body: &'b [u8]) -> Result<UpdateRequest<'b>, UpdateAnswer<'static>> {
        if body.len() > MAX_BODY_BYTES {
            return Err(UpdateAnswer::Error(ErrorCode::BodyTooLarge));
        }
        let Some(mut fields) = Fields::read(body) else {
            return Err(UpdateAnswer::Error(ErrorCode::InvalidJson));
        };
        let device = Device::read(&mut fields);
        if device.app_id.is_none() {
            Err(UpdateAnswer::Error(ErrorCode::MissingAppId))
        } else if device.platform.is_none() {
            Err(UpdateAnswer::Error(ErrorCode::UnsupportedPlatform))
        } else if device.wants_encryption {
            Err(UpdateAnswer::Error(ErrorCode::EncryptionNotSupported))
        } else {
            let installed = device.binary_version();
            Ok(UpdateRequest { device, installed })
        }
    }

    /// Whether an update of this version is older than the app, which contains newer content. Such an update is not offered.
    pub fn is_under_native(&self, update: &Version) -> bool {
        self.installed.as_ref().is_some_and(|installed| update < installed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_body_without_app_or_platform_is_answered_with_an_error() {
        let large = format!("{{\"app_id\": \"{}\"}}", "a".repeat(MAX_BODY_BYTES));
        for (body, code) in [
            ("", ErrorCode::InvalidJson),
            ("[]", ErrorCode::InvalidJson),
            ("{\"app_id\"", ErrorCode::InvalidJson),
            (&large, ErrorCode::BodyTooLarge),
            ("{\"platform\": \"ios\"}", ErrorCode::MissingAppId),
            ("{\"app_id\": \"com.example.app\"}", ErrorCode::UnsupportedPlatform),
            (
                "{\"app_id\": \"com.example.app\", \"platform\": \"ios\", \"key_id\": \"a\"}",
                ErrorCode::EncryptionNotSupported,
            ),
        ] {
            assert_eq!(
                UpdateRequest::read(body.as_bytes()),
                Err(UpdateAnswer::Error(code)),
                "{body:.60}"
            );
        }
        let deep = "[".repeat(10_000);
        assert_eq!(
            UpdateRequest::read(deep.as_bytes()),
            Err(UpdateAnswer::Error(ErrorCode::InvalidJson))
        );
    }

    #[test]
    fn an_update_older_than_the_app_is_under_native() {
        let body =
            |build: &str| format!("{{\"app_id\": \"a\", \"platform\": \"electron\", \"version_build\": \"{build}\"}}");
        for (build, update, expected) in [
            ("2.0.0", "1.9.9", true),
            ("2.0.0", "2.0.0", false),
            ("2.0", "2.0.1", false),
            ("version two", "1.0.0", false),
        ] {
            let body = body(build);
            let request = UpdateRequest::read(body.as_bytes()).unwrap();
            assert_eq!(
                request.is_under_native(&Version::parse(update).unwrap()),
                expected,
                "{build} {update}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_body_is_read_or_answered(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            json in r#"\{"(app_id|platform|version_name|key_id)": ?("ios|[0-9.]{1,9}|"[a-z.]{0,9}"|\[\{|null|-?[0-9]{1,40})(, "platform": "ios")?\}?"#,
        ) {
            let _ = UpdateRequest::read(&bytes);
            let _ = UpdateRequest::read(json.as_bytes());
        }
    }
}
