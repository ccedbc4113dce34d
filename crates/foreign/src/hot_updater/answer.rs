//! The answers to a hot-updater client (`docs/reference/hot-updater.md#answer`).

use launchway_domain::version::Version;
use serde::Serialize;

use super::bundle_id::BundleId;

/// The first version of the client that reads `UP_TO_DATE`. Older ones expect `null`.
const EXPLICIT_FROM: &str = "0.31.0";

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// It keeps what it runs.
    UpToDate,
    /// It returns to the built-in content.
    BuiltIn,
    /// It installs this bundle.
    Bundle(Offer<'a>),
}

/// How a bundle relates to the one that the client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Status {
    /// Its id is higher. The client refuses an update whose id is not.
    #[serde(rename = "UPDATE")]
    Update,
    /// Its id is lower.
    #[serde(rename = "ROLLBACK")]
    Rollback,
}

/// A bundle that a client is offered. The fields are those of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer<'a> {
    /// Its id.
    pub id: &'a str,
    /// How it relates to the running one.
    pub status: Status,
    /// Whether the client installs it at once.
    pub should_force_update: bool,
    /// What its publisher wrote about it.
    pub message: Option<&'a str>,
    /// Where its archive is; `None` is the built-in content.
    pub file_url: Option<String>,
    /// The SHA-256 of the archive in hexadecimal, or the signature of it.
    pub file_hash: Option<&'a str>,
}

/// Whether a client of this version, as it says in `Hot-Updater-SDK-Version`, reads `UP_TO_DATE`.
pub fn knows_up_to_date(sdk_version: Option<&str>) -> bool {
    let version = |text: &str| Version::parse(text.trim()).ok();
    sdk_version
        .and_then(version)
        .zip(version(EXPLICIT_FROM))
        .is_some_and(|(version, from)| version >= from)
}

impl Answer<'_> {
    /// The body of the answer, as JSON.
    pub fn body(&self, knows_up_to_date: bool) -> Vec<u8> {
        let offer = match self {
            Answer::UpToDate if knows_up_to_date => return br#"{"status":"UP_TO_DATE"}"#.to_vec(),
            Answer::UpToDate => return b"null".to_vec(),
            Answer::BuiltIn => &Offer {
                id: BundleId::NIL.as_str(),
                status: Status::Rollback,
                should_force_update: true,
                message: None,
                file_url: None,
                file_hash: None,
            },
            Answer::Bundle(offer) => offer,
        };
        // Texts and numbers always serialize.
        serde_json::to_vec(offer).unwrap_or_default()
    }
}

/// Why a check is refused. A client tells the app of the error, keeps what it runs, and checks again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The path is not that of a check.
    #[error("Not found")]
    NotFound,
    /// The platform is another one.
    #[error("The platform must be ios or android")]
    Platform,
    /// An id of a bundle has another form.
    #[error("The ids of bundles must be UUIDs")]
    BundleId,
}

impl Refusal {
    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Refusal::NotFound => 404,
            Refusal::Platform | Refusal::BundleId => 400,
        }
    }

    /// The body of the answer, as JSON.
    pub fn body(self) -> Vec<u8> {
        serde_json::json!({ "error": self.to_string() })
            .to_string()
            .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_update_is_told_in_the_words_of_the_version() {
        let of = |version| String::from_utf8(Answer::UpToDate.body(knows_up_to_date(version))).unwrap();
        for version in ["0.31.0", " 0.36.3 ", "1.0.0", "0.31.1-rc.1"] {
            assert_eq!(of(Some(version)), r#"{"status":"UP_TO_DATE"}"#, "{version}");
        }
        for version in [
            None,
            Some(""),
            Some("0.30.9"),
            Some("0.31.0-rc.1"),
            Some("latest"),
            Some("9999999999999999999999.0.0"),
        ] {
            assert_eq!(of(version), "null", "{version:?}");
        }
    }

    #[test]
    fn the_built_in_content_has_the_nil_id_and_no_file() {
        let body = String::from_utf8(Answer::BuiltIn.body(true)).unwrap();
        assert_eq!(
            body,
            r#"{"id":"00000000-0000-0000-0000-000000000000","status":"ROLLBACK","shouldForceUpdate":true,"message":null,"fileUrl":null,"fileHash":null}"#
        );
    }

    #[test]
    fn refusals_are_objects_with_an_error() {
        assert_eq!(
            (Refusal::NotFound.status(), Refusal::NotFound.body()),
            (404, br#"{"error":"Not found"}"#.to_vec())
        );
        assert_eq!((Refusal::Platform.status(), Refusal::BundleId.status()), (400, 400));
    }
}
