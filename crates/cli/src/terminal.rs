//! Prompts, if a user can answer them: there are none without a terminal or with `CI` set
//! (`docs/reference/command-line.md#prompts`).

use std::io::{self, IsTerminal, Read, Write};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::clean;

/// The terminal of the user.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    interactive: bool,
    piped: bool,
}

impl Terminal {
    /// Checks whether standard input and standard error are a terminal.
    pub fn new(environment: &Environment) -> Self {
        let piped = !io::stdin().is_terminal();
        Self {
            interactive: !piped && io::stderr().is_terminal() && !environment.flag("CI"),
            piped,
        }
    }

    /// Whether prompts are possible.
    pub fn is_interactive(self) -> bool {
        self.interactive
    }

    /// Whether standard input is a file or a pipe.
    pub fn is_piped(self) -> bool {
        self.piped
    }

    /// Asks for a line; an empty one means `default`.
    pub async fn ask(self, question: &str, default: Option<&str>) -> Result<String, Failure> {
        match default {
            Some(default) => show(&format!("{question} [{default}]: ")),
            None => show(&format!("{question}: ")),
        }
        let line = read_line().await?;
        let line = line.trim();
        Ok(if line.is_empty() {
            default.unwrap_or_default()
        } else {
            line
        }
        .to_owned())
    }

    /// Asks for a line that is not displayed while it is typed.
    pub async fn ask_hidden(self, question: &str) -> Result<String, Failure> {
        show(&format!("{question}: "));
        // Also dropped when the command is interrupted, so that the terminal displays input again.
        let _hidden = EchoGuard::begin()?;
        let line = read_line().await;
        show("\n");
        Ok(line?.trim().to_owned())
    }

    /// Prints an instruction that the user must follow. It is not a note, because the command cannot go on without it.
    pub fn instruct(self, text: &str) {
        show(&format!("{}\n", clean(text)));
    }

    /// Asks for confirmation, unless `yes` is set.
    pub async fn require_confirmation(self, question: &str, yes: bool) -> Result<(), Failure> {
        match self.must_ask(yes)? {
            true => self.ask_to_go_on(question).await,
            false => Ok(()),
        }
    }

    /// Asks for confirmation, unless `yes` is set. The question, which names what it is about, is made only if it is asked.
    pub async fn require_confirmation_of(
        self,
        yes: bool,
        question: impl AsyncFnOnce() -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        match self.must_ask(yes)? {
            true => self.ask_to_go_on(&question().await?).await,
            false => Ok(()),
        }
    }

    /// Whether a confirmation must be asked for: not if `yes` is set.
    ///
    /// # Errors
    /// Nobody can be asked.
    pub fn must_ask(self, yes: bool) -> Result<bool, Failure> {
        if !yes && !self.is_interactive() {
            return Err(Failure::usage("no terminal to prompt on").hint("give --yes"));
        }
        Ok(!yes)
    }

    async fn ask_to_go_on(self, question: &str) -> Result<(), Failure> {
        match self.confirm(question).await? {
            true => Ok(()),
            false => Err(Failure::failed("nothing was done")),
        }
    }

    /// Asks a yes-or-no question; any answer but yes is no.
    pub async fn confirm(self, question: &str) -> Result<bool, Failure> {
        let answer = self.ask(&format!("{question} [y/N]"), None).await?;
        Ok(["y", "yes"].contains(&answer.to_ascii_lowercase().as_str()))
    }
}

/// Reads all of standard input as text, at most `limit` bytes.
pub async fn read_input(limit: u64) -> Result<String, Failure> {
    let read = move || {
        let mut text = String::new();
        io::stdin().lock().take(limit).read_to_string(&mut text).map(|_| text)
    };
    read_apart(read).await
}

async fn read_line() -> Result<String, Failure> {
    let read = || {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    };
    read_apart(read).await
}

/// Reads on a separate thread, so that an interruption does not wait for the reading to end.
async fn read_apart(read: impl FnOnce() -> io::Result<String> + Send + 'static) -> Result<String, Failure> {
    let outcome = tokio::task::spawn_blocking(read)
        .await
        .map_err(io::Error::other)
        .flatten();
    outcome.map_err(|error| Failure::failed(format!("cannot read standard input: {error}")))
}

/// Displays a question. A failure to write it cannot be reported to this terminal.
fn show(text: &str) {
    let mut terminal = io::stderr().lock();
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

/// Hides typed input while it lives.
#[cfg(unix)]
struct EchoGuard(rustix::termios::Termios);

#[cfg(unix)]
impl EchoGuard {
    fn begin() -> Result<Self, Failure> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let unable = |error| Failure::failed(format!("the terminal cannot hide the key: {error}"));
        let shown = tcgetattr(io::stdin()).map_err(unable)?;
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).map_err(unable)?;
        Ok(Self(shown))
    }
}

#[cfg(unix)]
impl Drop for EchoGuard {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // Nothing more can be done about a closed terminal.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(not(unix))]
struct EchoGuard;

#[cfg(not(unix))]
impl EchoGuard {
    fn begin() -> Result<Self, Failure> {
        Err(Failure::usage("this terminal cannot hide the key").hint("use --with-key and pipe the key in"))
    }
}
