//! How a runner comes to be known to its server: once by a token that works once, and from then on by its own, which is
//! kept in the work directory together with whose it is.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use launchway_api::runner::Enrol;
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
/// A token is far shorter; what is longer than this is something else.
const LONGEST_INPUT: u64 = 4096;

/// A runner that its server knows.
pub struct Enrolment {
    /// Whose it is.
    pub known: Known,
    /// By what the server knows it.
    pub token: SecretText,
}

/// Whose a work directory is, in its `runner.json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Known {
    /// The server.
    pub url: String,
    /// `runner_…`.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// The enrolment kept in `work_dir`, or a new one of the runner that `wanted` describes.
pub async fn enrolment(work_dir: &Path, wanted: Enrol, context: &Context) -> Result<Enrolment, Failure> {
    if let Some(known) = kept(work_dir)? {
        let other = told(context, &[]).filter(|url| url.to_string() != known.url);
        return match other {
            None => Ok(Enrolment {
                known,
                token: token::read(&token_file(work_dir)).map_err(unusable)?,
            }),
            // The token must not go anywhere else.
            Some(other) => Err(Failure::usage(format!(
                "the runner in {} is one of {}, not of {other}",
                work_dir.display(),
                known.url
            ))
            .hint("name another --work-dir for a runner of another server")),
        };
    }
    let url = told(context, &[Origin::Login]).ok_or_else(|| {
        Failure::usage("the runner is not enrolled, and no server is named").hint("give --url or set LAUNCHWAY_URL")
    })?;
    if url.is_open_to_eavesdroppers() {
        context.printer.warn(&format!(
            "{url} is not encrypted: tokens, secrets and sources can be read on the way"
        ));
    }
    // What can go wrong here goes wrong before the token is used up.
    let mut file = prepare(work_dir).map_err(|error| unwritable(work_dir, &error))?;
    let once = once(context).await?;
    let enrolled = protocol::enrol(&url, &once, &wanted).await.map_err(refused)?;
    let known = Known {
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
    // Last: that it is there says that the runner is enrolled.
    token::write(&token_file(work_dir), &token).map_err(unusable)?;
    context
        .printer
        .note(&format!("Enrolled as {} ({}) with {}", known.name, known.id, known.url));
    Ok(Enrolment { known, token })
}

/// Where the runner's own token is.
pub fn token_file(work_dir: &Path) -> PathBuf {
    work_dir.join("token")
}

/// The server that was named by flag, environment, or one of `others`: not that of `launchway.toml`, which may be
/// anybody's.
fn told(context: &Context, others: &[Origin]) -> Option<BaseUrl> {
    let url = context.settings.url.as_ref()?;
    let counts = matches!(url.source, Origin::Flag(_) | Origin::Variable(_)) || others.contains(&url.source);
    counts.then(|| url.value.clone())
}

fn kept(work_dir: &Path) -> Result<Option<Known>, Failure> {
    if !token_file(work_dir).exists() {
        return Ok(None);
    }
    let path = work_dir.join("runner.json");
    let text = fs::read_to_string(&path).map_err(|error| unwritable(work_dir, &error))?;
    match serde_json::from_str(&text) {
        Ok(known) => Ok(Some(known)),
        Err(_) => Err(Failure::failed(format!("{} is damaged", path.display()))
            .hint(format!("delete {} and enrol anew", token_file(work_dir).display()))),
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

/// The token that works once.
async fn once(context: &Context) -> Result<SecretText, Failure> {
    let text = match context.environment.text(VARIABLE)? {
        Some(text) => text,
        None if context.terminal.is_piped() => read_input(LONGEST_INPUT).await?,
        None if context.terminal.is_interactive() => context.terminal.ask_hidden("Runner token").await?,
        None => String::new(),
    };
    match text.trim() {
        "" => Err(
            Failure::usage("the runner is not enrolled, and no token was given").hint(format!(
                "set {VARIABLE}, or pipe the token in; `launchway runner token` makes one"
            )),
        ),
        token => Ok(SecretText::new(token.to_owned())),
    }
}

/// The usual advice, to log in, would be of no use here.
fn refused(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Auth => {
            failure.hint("a runner token works once and not for long; `launchway runner token` makes another")
        }
        _ => failure,
    }
}

fn unusable(error: TokenError) -> Failure {
    Failure::failed(error.to_string())
}

fn unwritable(work_dir: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("cannot use the work directory {}: {error}", work_dir.display()))
        .hint("name another with --work-dir")
}
