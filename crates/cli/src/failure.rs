//! Why a command failed: the exit code (`docs/reference/command-line.md#exit-codes`), the message and a hint.

use clap::error::ErrorKind;
use launchway_client::Error;
use serde_json::json;

use crate::api_words::in_commands;

/// Start of the message of a server that lacks the endpoint.
const NO_SUCH_PATH: &str = "There is nothing at this path";

/// End of the message of a server that requires an admin's key.
const ADMIN_SCOPE: &str = "'admin' scope";

/// Start of the message of a server that requires a greater role of the user in whose name a key is.
const ROLE: &str = "This requires the role";

/// The exit codes (`docs/reference/command-line.md#exit-codes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command failed.
    Failed = 1,
    /// The usage is invalid or incomplete.
    Usage = 2,
    /// The named resource does not exist.
    NotFound = 3,
    /// Not logged in, or not allowed.
    Auth = 4,
    /// The newest build of the app cannot run the update.
    Incompatible = 5,
    /// A server or network error.
    Server = 6,
    /// The installed app cannot run an update; a build from the store is needed.
    StoreBuildNeeded = 10,
    /// The followed build or submission failed.
    AwaitedFailed = 11,
    /// The followed build or submission was canceled.
    Canceled = 12,
    /// The followed build or submission took too long.
    TimedOut = 13,
    /// The user interrupted the command.
    Interrupted = 130,
}

impl Exit {
    /// The word for it in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Exit::Failed => "failed",
            Exit::Usage => "usage",
            Exit::NotFound => "not_found",
            Exit::Auth => "auth",
            Exit::Incompatible => "incompatible",
            Exit::Server => "server",
            Exit::StoreBuildNeeded => "store_build_needed",
            Exit::AwaitedFailed => "awaited_failed",
            Exit::Canceled => "canceled",
            Exit::TimedOut => "timed_out",
            Exit::Interrupted => "interrupted",
        }
    }
}

/// Why a command failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// The failure of arguments that the parser refuses. Its message ends where its first paragraph ends; tips and usage
    /// become the hint.
    pub fn of_arguments(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = match error.kind() {
            // All of the help is no message.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "no arguments specified",
            _ => text.strip_prefix("error: ").unwrap_or(&text),
        };
        let mut paragraphs = text.split("\n\n").map(joined).filter(|text| !text.is_empty());
        let failure = Self::usage(paragraphs.next().unwrap_or_default());
        let rest: Vec<_> = paragraphs.collect();
        match rest.is_empty() {
            true => failure.hint("run the command with --help"),
            false => failure.hint(rest.join("\n")),
        }
    }

    /// The failure as one line of JSON (`docs/reference/command-line.md#errors-as-json`).
    pub fn json(&self) -> String {
        // On a terminal, the lines of a hint stand under each other.
        let lines = |hint: &String| hint.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
        json!({
            "error": self.exit.as_str(),
            "message": self.message,
            "hint": self.hint.as_ref().map(lines),
            "exitCode": self.exit as u8,
        })
        .to_string()
    }

    /// The same with another message.
    pub fn message(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Api { status, request_id, .. } => of_status(status, in_commands(&message), request_id),
            Error::Network { .. } => {
                Self::new(Exit::Server, message).hint("check the address, and that the server is running")
            }
            Error::Unexpected { request_id, .. } => {
                let hint = "check that the address is that of a Launchway server";
                Self::new(Exit::Server, message).hint(with_request(hint, request_id))
            }
            Error::OtherVersion { request_id, .. } => {
                let hint = "run `launchway doctor` to compare the versions of the server and this program";
                Self::new(Exit::Server, message).hint(with_request(hint, request_id))
            }
            Error::Redirected { location, .. } => {
                let hint = match location.split_once("/api") {
                    Some((address, _)) => format!("if you trust it, give --url {address}"),
                    None => "check that the address is that of a Launchway server".to_owned(),
                };
                Self::new(Exit::Server, message).hint(hint)
            }
            Error::Refused { status, .. } if !may_pass(status) => {
                Self::new(Exit::Server, message).hint("ask the operator of the server to check its object storage")
            }
            Error::Refused { .. } | Error::Stalled { .. } => {
                Self::new(Exit::Server, message).hint("run the command again")
            }
            Error::Corrupt { .. } => Self::new(Exit::Server, message).hint("run the command again"),
            Error::File { .. } | Error::NotWritten { .. } => Self::failed(message),
            Error::Invalid(_) => Self::usage(message),
        }
    }
}

/// Whether a transfer that object storage refused may succeed later: its address expires, and storage may be busy.
fn may_pass(status: u16) -> bool {
    matches!(status, 403 | 408 | 429 | 500..)
}

/// The failure for an API error.
fn of_status(status: u16, message: String, request_id: Option<String>) -> Failure {
    match status {
        401 => Failure::new(Exit::Auth, message).hint("run `launchway login`, or set LAUNCHWAY_API_KEY to a valid key"),
        403 if message.ends_with(ADMIN_SCOPE) => {
            let hint = "as an owner or admin, run `launchway login --admin`; for CI, the operator creates a key: \
                        launchway-server admin create-key … --admin";
            Failure::new(Exit::Auth, message).hint(hint)
        }
        403 if message.starts_with(ROLE) => {
            let hint = "`launchway whoami` shows your role; ask an owner of the organization";
            Failure::new(Exit::Auth, message).hint(hint)
        }
        403 => Failure::new(Exit::Auth, message).hint("`launchway whoami` shows the scopes of the key"),
        404 if message.starts_with(NO_SUCH_PATH) => {
            let hint = "the server may be older than this program: run `launchway doctor` to compare the versions";
            Failure::new(Exit::NotFound, message).hint(hint)
        }
        404 => Failure::new(Exit::NotFound, message),
        429 => Failure::new(Exit::Server, message).hint("wait a minute, or ask the operator for a higher tier"),
        500.. => {
            let hint = with_request("see the server's log", request_id);
            Failure::new(Exit::Server, message).hint(hint)
        }
        _ => Failure::failed(message),
    }
}

fn with_request(hint: &str, request_id: Option<String>) -> String {
    match request_id {
        Some(id) => format!("{hint} (request {id})"),
        None => hint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(status: u16) -> Failure {
        let request_id = Some("req-1".to_owned());
        Error::Api {
            status,
            error: "Some Error".to_owned(),
            message: "no".to_owned(),
            request_id,
        }
        .into()
    }

    #[test]
    fn every_status_has_its_exit_code() {
        let rows = [
            (400, Exit::Failed),
            (401, Exit::Auth),
            (403, Exit::Auth),
            (404, Exit::NotFound),
            (405, Exit::Failed),
            (413, Exit::Failed),
            (429, Exit::Server),
            (500, Exit::Server),
            (503, Exit::Server),
        ];
        for (status, exit) in rows {
            assert_eq!(api(status).exit, exit, "{status}");
        }
    }

    #[test]
    fn a_refusal_that_repeats_is_not_to_be_tried_again() {
        for (status, again) in [
            (400, false),
            (403, true),
            (404, false),
            (413, false),
            (429, true),
            (503, true),
        ] {
            let origin = "https://storage.example".to_owned();
            let failure = Failure::from(Error::Refused { origin, status });
            let hint = failure.hint.unwrap_or_default();
            assert_eq!(hint == "run the command again", again, "{status}: {hint}");
        }
    }

    #[test]
    fn a_failure_of_the_server_names_the_request() {
        assert_eq!(api(500).hint.as_deref(), Some("see the server's log (request req-1)"));
    }
}
