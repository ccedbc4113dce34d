//! Writes answers (`docs/reference/capgo.md#answers`).
//!
//! An `error` or `kind` beside an update makes it a failure, and an error without a `kind` is one, too; so an answer has an update
//! or both of them. The desktop client reads no error unless the status is 200.

use serde::Serialize;

use super::files::Manifest;

/// Why there is no update. Clients know the first words of their own service; others are text for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The app has the newest update that it can have.
    NoNewVersion,
    /// A newer update is older than the app itself.
    UnderNative,
    /// A newer update needs a newer app from the store.
    NeedsNewApp,
    /// The app takes encrypted updates only.
    EncryptionNotSupported,
    /// No app with this id has updates for these clients.
    UnknownApp,
    /// No app is named.
    MissingAppId,
    /// The platform is not one of the clients'.
    UnsupportedPlatform,
    /// The body is not a JSON object.
    InvalidJson,
    /// The body is too large.
    BodyTooLarge,
    /// The device asks for a channel that does not let it in.
    ChannelNotFound,
    /// Too many requests.
    TooManyRequests,
}

/// The bytes of an answer beside its texts.
const SYNTAX_BYTES: usize = 96;

/// How a client takes an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// There is nothing to do.
    UpToDate,
    /// There is an update, but not for this app.
    Blocked,
    /// The check failed; the app is told.
    Failed,
}

impl ErrorCode {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::NoNewVersion => "no_new_version_available",
            ErrorCode::UnderNative => "disable_auto_update_under_native",
            ErrorCode::NeedsNewApp => "disable_auto_update_to_major",
            ErrorCode::EncryptionNotSupported => "encryption_not_supported",
            ErrorCode::UnknownApp => "app_not_found",
            ErrorCode::MissingAppId => "missing_app_id",
            ErrorCode::UnsupportedPlatform => "unsupported_platform",
            ErrorCode::InvalidJson => "invalid_json_body",
            ErrorCode::BodyTooLarge => "body_too_large",
            ErrorCode::ChannelNotFound => "channel_not_found",
            ErrorCode::TooManyRequests => "too_many_requests",
        }
    }

    /// How the client takes it.
    pub fn kind(self) -> Kind {
        match self {
            ErrorCode::NoNewVersion => Kind::UpToDate,
            ErrorCode::UnderNative | ErrorCode::NeedsNewApp | ErrorCode::EncryptionNotSupported => Kind::Blocked,
            _ => Kind::Failed,
        }
    }

    /// What developers read in the log of the device.
    pub fn message(self) -> &'static str {
        match self {
            ErrorCode::NoNewVersion => "No new version available",
            ErrorCode::UnderNative => "The newest update is older than the installed app",
            ErrorCode::NeedsNewApp => "The newest update needs another version of the app from the store",
            ErrorCode::EncryptionNotSupported => {
                "The app has a public key and takes encrypted updates only. Remove publicKey from the settings of the plugin."
            }
            ErrorCode::UnknownApp => "This server has no updates for Capgo's clients of an app with this app_id",
            ErrorCode::MissingAppId => "app_id is missing",
            ErrorCode::UnsupportedPlatform => "platform must be ios, android or electron",
            ErrorCode::InvalidJson => "The body must be a JSON object",
            ErrorCode::BodyTooLarge => "The body is too large",
            ErrorCode::ChannelNotFound => "No channel of this name lets devices in by themselves",
            ErrorCode::TooManyRequests => "Too many requests",
        }
    }
}

/// What a client is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateAnswer<'a> {
    /// It installs this update.
    Update {
        /// The name of the update.
        name: &'a str,
        /// Where its ZIP file is.
        url: &'a str,
        /// The SHA-256 of the ZIP file in hexadecimal.
        sha256: &'a str,
        /// Its files, for a client that installs them.
        files: Option<&'a Manifest>,
    },
    /// It returns to the content of the installed app.
    BuiltIn,
    /// There is no update. A newer one that another app is needed for is named.
    Error(ErrorCode),
    /// A newer update needs another app; its name.
    NeedsNewApp(&'a str),
    /// Too many requests; the seconds to wait. The client waits for at most a day.
    TooManyRequests(u64),
}

/// A response as HTTP has it. The body is JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The seconds of the header `retry-after`.
    pub retry_after: Option<u64>,
    /// The body.
    pub body: String,
}

impl Response {
    pub(super) fn ok(body: String) -> Response {
        Response {
            status: 200,
            retry_after: None,
            body,
        }
    }
}

#[derive(Serialize)]
struct WireUpdate<'a> {
    version: &'a str,
    url: &'a str,
    checksum: &'a str,
}

#[derive(Serialize)]
struct WireError<'a> {
    error: &'a str,
    message: &'a str,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    breaking: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !value
}

impl UpdateAnswer<'_> {
    /// Writes the answer.
    pub fn respond(self) -> Response {
        match self {
            UpdateAnswer::Update {
                name,
                url,
                sha256,
                files,
            } => {
                let texts = name.len() + url.len() + sha256.len();
                let update = WireUpdate {
                    version: name,
                    url,
                    checksum: sha256,
                };
                let mut body = json(&update, texts + files.map_or(0, Manifest::size));
                if let Some(files) = files {
                    body.pop();
                    body.extend([",\"manifest\":", files.json(), "}"]);
                }
                Response::ok(body)
            }
            UpdateAnswer::BuiltIn => Response::ok(format!("{{\"version\":\"{}\"}}", super::name::BUILT_IN)),
            UpdateAnswer::Error(code) => Response::ok(error(code, None)),
            UpdateAnswer::NeedsNewApp(name) => Response::ok(error(ErrorCode::NeedsNewApp, Some(name))),
            UpdateAnswer::TooManyRequests(seconds) => {
                let body = error(ErrorCode::TooManyRequests, None);
                Response {
                    status: 429,
                    retry_after: Some(seconds),
                    body,
                }
            }
        }
    }
}

fn error(code: ErrorCode, version: Option<&str>) -> String {
    let (error, message, kind) = (code.as_str(), code.message(), code.kind());
    let wire = WireError {
        error,
        message,
        kind,
        version,
        breaking: version.is_some(),
    };
    json(&wire, error.len() + message.len() + version.map_or(0, str::len))
}

/// JSON whose texts have about this many bytes.
fn json(value: &impl Serialize, texts: usize) -> String {
    let mut json = Vec::with_capacity(texts + SYNTAX_BYTES);
    // Texts and flags always have a JSON form, which is UTF-8.
    let written = serde_json::to_writer(&mut json, value);
    written
        .ok()
        .and_then(|()| String::from_utf8(json).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::files::{PackedFile, PackedFiles};
    use super::*;
    use crate::place::Place;

    fn files() -> PackedFiles {
        let file = |path: &str| PackedFile {
            path: path.to_owned(),
            sha256: [0; 32],
            place: Place {
                size: 9,
                start: 40,
                length: 9,
                is_deflated: false,
                checksum: 5,
            },
        };
        PackedFiles::new(vec![file("index.html"), file("a \"b\".js")]).unwrap()
    }

    fn body(answer: UpdateAnswer<'_>) -> Value {
        let response = answer.respond();
        assert_eq!((response.status, response.retry_after), (200, None));
        serde_json::from_str(&response.body).unwrap()
    }

    #[test]
    fn an_update_has_neither_error_nor_kind() {
        let files = files().manifest("https://u.example.com", "a");
        let update = |files| UpdateAnswer::Update {
            name: "1.2.3",
            url: "https://u.example.com/a?b",
            sha256: "ab",
            files,
        };
        let plain = json!({"version": "1.2.3", "url": "https://u.example.com/a?b", "checksum": "ab"});
        assert_eq!(body(update(None)), plain);
        let with_files = body(update(Some(&files)));
        assert_eq!(with_files["manifest"][1]["file_name"], "a \"b\".js");
        assert_eq!(with_files["manifest"].as_array().unwrap().len(), 2);
        assert!(with_files.get("error").is_none() && with_files.get("kind").is_none());
        assert!(files.size() > 200);
    }

    #[test]
    fn an_error_has_a_kind() {
        let none =
            json!({"error": "no_new_version_available", "message": "No new version available", "kind": "up_to_date"});
        assert_eq!(body(UpdateAnswer::Error(ErrorCode::NoNewVersion)), none);
        assert_eq!(body(UpdateAnswer::Error(ErrorCode::UnderNative))["kind"], "blocked");
        assert_eq!(body(UpdateAnswer::Error(ErrorCode::InvalidJson))["kind"], "failed");
        let newer = body(UpdateAnswer::NeedsNewApp("2.0.0"));
        assert_eq!(
            (&newer["error"], &newer["version"]),
            (&json!("disable_auto_update_to_major"), &json!("2.0.0"))
        );
        assert_eq!((&newer["kind"], &newer["breaking"]), (&json!("blocked"), &json!(true)));
        assert_eq!(body(UpdateAnswer::BuiltIn), json!({"version": "builtin"}));
    }

    #[test]
    fn too_many_requests_say_when_to_ask_again() {
        let response = UpdateAnswer::TooManyRequests(60).respond();
        assert_eq!((response.status, response.retry_after), (429, Some(60)));
        let body: Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(
            (&body["error"], &body["kind"]),
            (&json!("too_many_requests"), &json!("failed"))
        );
    }
}
