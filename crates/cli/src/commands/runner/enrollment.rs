//! Enrolls a runner with its server: the first time with a one-time token, and from then on with the runner's own
//! token, which is stored in the work directory with the runner's identity.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use launchway_api::runner::Enroll;
use launchway_api::secret::SecretText;
use launchway_client::{BaseUrl, Error};
use launchway_runner::protocol;
use launchway_runner::token::{self, TokenError};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::settings::Origin;
use crate::terminal::read_input;

const VARIABLE: &str = "LAUNCHWAY_RUNNER_TOKEN";
/// A token is far shorter than this.
const LONGEST_INPUT: u64 = 4096;

/// An enrolled runner.
pub struct Enrollment {
    /// Its identity.
    pub known: RunnerIdentity,
    /// The token that authenticates it.
    pub token: SecretText,
}

/// The identity of a work directory's runner, in `runner.json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunnerIdentity {
    pub url: String,
    /// `runner_…`.
    pub id: String,
    /// The display name.
    pub name: String,
}

/// The enrollment saved in `work_dir`, or a new one for the runner that `wanted` describes.
pub async fn enrollment(work_dir: &Path, wanted: Enroll, context: &Context) -> Result<Enrollment, Failure> {
    if let Some(known) = read_identity(work_dir)? {
        let other = named_server(context, &[]).filter(|url| url.to_string() != known.url);
        return match other {
            None => Ok(Enrollment {
                known,
                token: token::read(&token_file(work_dir)).map_err(unusable)?,
            }),
            // The token must not go to any other server.
            Some(other) => Err(Failure::usage(format!(
                "the runner in {} is enrolled with {}, not with {other}",
                work_dir.display(),
                known.url
            ))
            .hint("give another --work-dir for a runner of another server")),
        };
    }
    let url = named_server(context, &[Origin::Login]).ok_or_else(|| {
        Failure::usage("the runner is not enrolled, and no server specified").hint("give --url, or set LAUNCHWAY_URL")
    })?;
    if url.is_open_to_eavesdroppers() {
        context.printer.warn(&format!(
            "{url} is not encrypted: others on the network can read tokens, secrets and sources"
        ));
    }
    // Everything that can fail locally fails before the one-time token is used.
    let mut file = prepare(work_dir).map_err(|error| unwritable(work_dir, &error))?;
    let once = one_time_token(context).await?;
    let enrolled = protocol::enroll(&url, &once, &wanted).await.map_err(refused)?;
    let known = RunnerIdentity {
        url: url.to_string(),
        id: enrolled.id,
        name: wanted.name,
    };
    let token = SecretText::new(enrolled.token);
    let written = serde_json::to_string(&known)
        .map_err(io::Error::other)
        .and_then(|json| file.write_all(json.as_bytes()))
        .and_then(|()| file.sync_all());
    written.map_err(|error| unwritable(work_dir, &error))?;
    // Written last: its existence shows that the runner is enrolled.
    token::write(&token_file(work_dir), &token).map_err(unusable)?;
    context
        .printer
        .note(&format!("Enrolled as {} ({}) with {}", known.name, known.id, known.url));
    Ok(Enrollment { known, token })
}

/// The path of the runner's own token.
pub fn token_file(work_dir: &Path) -> PathBuf {
    work_dir.join("token")
}

/// The server from a flag, the environment, or one of `others`, but never from `launchway.toml`, which is untrusted.
fn named_server(context: &Context, others: &[Origin]) -> Option<BaseUrl> {
    let url = context.settings.url.as_ref()?;
    let counts = matches!(url.source, Origin::Flag(_) | Origin::Variable(_)) || others.contains(&url.source);
    counts.then(|| url.value.clone())
}

fn read_identity(work_dir: &Path) -> Result<Option<RunnerIdentity>, Failure> {
    if !token_file(work_dir).exists() {
        return Ok(None);
    }
    let path = work_dir.join("runner.json");
    let text = fs::read_to_string(&path).map_err(|error| unwritable(work_dir, &error))?;
    match serde_json::from_str(&text) {
        Ok(known) => Ok(Some(known)),
        Err(_) => Err(Failure::failed(format!("{} is damaged", path.display()))
            .hint(format!("delete {} and enroll again", token_file(work_dir).display()))),
    }
}

fn prepare(work_dir: &Path) -> io::Result<fs::File> {
    DirBuilder::new().recursive(true).mode(0o711).create(work_dir)?;
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(work_dir.join("runner.json"))
}

/// The one-time token.
async fn one_time_token(context: &Context) -> Result<SecretText, Failure> {
    let text = match context.environment.text(VARIABLE)? {
        Some(text) => text,
        None if context.terminal.is_piped() => read_input(LONGEST_INPUT).await?,
        None if context.terminal.is_interactive() => context.terminal.ask_hidden("Runner token").await?,
        None => String::new(),
    };
    match text.trim() {
        "" => Err(
            Failure::usage("the runner is not enrolled, and no token given").hint(format!(
                "set {VARIABLE}, or pipe the token in; `launchway runner token` creates one"
            )),
        ),
        token => Ok(SecretText::new(token.to_owned())),
    }
}

/// The usual hint, to log in, does not help here.
fn refused(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Auth => failure.hint("a runner token works once, for an hour; `launchway runner token` creates another"),
        _ => failure,
    }
}

fn unusable(error: TokenError) -> Failure {
    Failure::failed(error.to_string())
}

fn unwritable(work_dir: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot use the work directory {}: {error}", work_dir.display()))
        .hint("give another with --work-dir")
}
