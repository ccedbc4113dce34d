//! `--sign-with`: a command that signs with a key which is not a file, such as one of a key service or a token.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::failure::Failure;

/// A person may have to touch a token.
const TIMEOUT: Duration = Duration::from_secs(120);
/// More than any DER of a signature.
const MAX_OUTPUT: u64 = 1 << 10;
/// Variables that are none of the command's business.
const SECRETS: [&str; 3] = ["LAUNCHWAY_API_KEY", "LAUNCHWAY_KEY_PASSPHRASE", "LAUNCHWAY_SIGNING_KEY"];

/// The command: it reads the bytes to sign from standard input, and writes the DER of the signature to standard output.
/// It runs without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignCommand {
    words: Vec<String>,
    timeout: Duration,
}

impl SignCommand {
    /// Splits a text into the program and its arguments: at spaces, except between single or double quotes.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let words = split(text).ok_or_else(|| Failure::usage("a quote in --sign-with has no end"))?;
        if words.is_empty() {
            return Err(Failure::usage("--sign-with is empty"));
        }
        Ok(Self {
            words,
            timeout: TIMEOUT,
        })
    }

    /// The command's signature of a message, in DER. What the command prints to standard error is shown.
    pub async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let program = &self.words[0];
        let mut command = Command::new(program);
        command
            .args(&self.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.stderr(Stdio::inherit()).kill_on_drop(true);
        for name in SECRETS {
            command.env_remove(name);
        }
        let child = command
            .spawn()
            .map_err(|error| Failure::failed(format!("cannot run {program}: {error}")))?;
        // The command and its pipes are dropped at the end of the time.
        match tokio::time::timeout(self.timeout, exchange(child, message)).await {
            Ok(outcome) => outcome.map_err(|problem| Failure::failed(format!("{program} {problem}"))),
            Err(_) => Err(Failure::failed(format!(
                "{program} did not sign within {} s",
                self.timeout.as_secs()
            ))),
        }
    }
}

async fn exchange(mut child: Child, message: &[u8]) -> Result<Vec<u8>, String> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no standard input and output".to_owned());
    };
    let write = async {
        // A command that ends without reading says so by its exit code or its output.
        let _ = stdin.write_all(message).await;
        drop(stdin);
    };
    let mut output = Vec::new();
    let mut limited = stdout.take(MAX_OUTPUT + 1);
    let read = limited.read_to_end(&mut output);
    tokio::pin!(write, read);
    // A command that printed too much may never read the rest.
    let read = tokio::select! {
        read = &mut read => read,
        () = &mut write => read.await,
    };
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if output.len() as u64 > MAX_OUTPUT {
        return Err("printed more than a signature".to_owned());
    }
    let status = child.wait().await.map_err(|error| format!("did not end: {error}"))?;
    match (status.success(), output.is_empty()) {
        (true, false) => Ok(output),
        (true, true) => Err("printed no signature".to_owned()),
        (false, _) => Err(format!("failed: {status}")),
    }
}

/// `None`: a quote has no end.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match quote {
            Some(end) if end == letter => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                // Quotes without anything between them are an empty argument.
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_at_spaces_outside_quotes() {
        let rows: [(&str, Option<&[&str]>); 6] = [
            ("sign", Some(&["sign"])),
            ("  sign  --key  1 ", Some(&["sign", "--key", "1"])),
            (
                "'C:\\Program Files\\sign' \"a b\"",
                Some(&["C:\\Program Files\\sign", "a b"]),
            ),
            ("sign pre'a b'post ''", Some(&["sign", "prea bpost", ""])),
            ("sign '", None),
            ("sign $(x); y", Some(&["sign", "$(x);", "y"])),
        ];
        for (text, expected) in rows {
            let expected = expected.map(|words| words.iter().map(ToString::to_string).collect());
            assert_eq!(split(text), expected, "{text}");
        }
        SignCommand::parse(" ").expect_err("nothing to run");
    }

    #[cfg(unix)]
    async fn run(text: &str, message: &[u8]) -> Result<Vec<u8>, String> {
        let mut command = SignCommand::parse(text).expect("words");
        command.timeout = Duration::from_secs(if text.contains("sleep") { 0 } else { 60 });
        command.sign(message).await.map_err(|failure| failure.message)
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_gets_the_bytes_and_answers_the_signature() {
        let message = vec![7; 1000];
        assert_eq!(run("cat", &message).await, Ok(message));
        // It need not read all of its input.
        assert_eq!(run("sh -c 'printf x'", &vec![7; 1 << 20]).await, Ok(b"x".to_vec()));
        assert_eq!(
            run("sh -c 'printf %s \"$LAUNCHWAY_API_KEY\"x'", b"").await,
            Ok(b"x".to_vec())
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_that_does_not_sign_is_a_failure() {
        let rows = [
            ("/nowhere/sign", "cannot run /nowhere/sign: "),
            ("sh -c 'exit 3'", "sh failed: exit status: 3"),
            ("sh -c 'printf x; exit 3'", "sh failed: exit status: 3"),
            ("true", "true printed no signature"),
            (
                "sh -c 'while :; do echo garbage; done'",
                "sh printed more than a signature",
            ),
            ("sleep 9", "sleep did not sign within 0 s"),
            // The descendant keeps standard output open.
            ("sh -c 'sleep 9 & exit 0'", "sh did not sign within 0 s"),
        ];
        for (text, expected) in rows {
            let problem = run(text, b"message").await.expect_err(text);
            assert!(problem.starts_with(expected), "{text}: {problem}");
        }
    }
}
