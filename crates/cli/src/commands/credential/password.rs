//! The passwords of a credential: from the environment, a pipe or a prompt, never from an argument.

use launchway_api::secret::SecretText;

use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::read_input;

/// The variable with the password of the file.
pub const PASSWORD: &str = "LAUNCHWAY_CREDENTIAL_PASSWORD";
const KEY_PASSWORD: &str = "LAUNCHWAY_CREDENTIAL_KEY_PASSWORD";
/// Longest password that is read.
const LONGEST_PASSWORD: u64 = 4096;

/// What opens a file, and the private key in it if that has a password of its own.
pub struct Secrets {
    pub file: SecretText,
    pub key: Option<SecretText>,
}

impl Secrets {
    /// Reads them; the password of the file may be empty.
    pub async fn read(context: &Context) -> Result<Self, Failure> {
        let file = match given(context).await? {
            Some(password) => password,
            None => SecretText::new(context.terminal.ask_hidden("Password of the file").await?),
        };
        let key = context.environment.text(KEY_PASSWORD)?.map(SecretText::new);
        Ok(Self { file, key })
    }
}

/// The password of a new file, which is typed twice.
pub async fn new(context: &Context) -> Result<SecretText, Failure> {
    if let Some(password) = given(context).await? {
        return Ok(password);
    }
    let first = context.terminal.ask_hidden("New password of the file").await?;
    let second = context.terminal.ask_hidden("The same password again").await?;
    match first == second {
        true => Ok(SecretText::new(first)),
        false => Err(Failure::usage("the passwords differ")),
    }
}

/// The password in the environment or from a pipe; `None` if somebody can be asked.
async fn given(context: &Context) -> Result<Option<SecretText>, Failure> {
    if let Some(password) = context.environment.text(PASSWORD)? {
        return Ok(Some(SecretText::new(password)));
    }
    if context.terminal.is_interactive() {
        return Ok(None);
    }
    if context.terminal.is_piped() {
        let text = read_input(LONGEST_PASSWORD).await?;
        return Ok(Some(SecretText::new(text.trim_end_matches(['\r', '\n']).to_owned())));
    }
    Err(Failure::usage("no terminal to prompt for the password")
        .hint(format!("pipe the password in, or set {PASSWORD}")))
}
