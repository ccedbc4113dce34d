//! The passphrases of private keys: from a variable, or typed at a terminal.

use launchway_trust::{SigningKey, SigningKeyError};
use zeroize::Zeroizing;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::trust::keys::key_failure;

/// The variable with the passphrase of every key that a command uses or makes.
pub const PASSPHRASE_VARIABLE: &str = "LAUNCHWAY_KEY_PASSPHRASE";
/// The fewest characters of a new passphrase.
const MIN_LENGTH: usize = 10;
/// How often a person may mistype.
const MAX_TRIES: usize = 3;

/// The passphrases that are known. One that was typed is tried for further keys before another is asked for.
pub struct Passphrases {
    variable: Option<Zeroizing<String>>,
    typed: Vec<Zeroizing<String>>,
    terminal: Terminal,
}

impl Passphrases {
    /// Those of this environment and terminal.
    pub fn new(environment: &Environment, terminal: Terminal) -> Result<Self, Failure> {
        Ok(Self {
            variable: environment.text(PASSPHRASE_VARIABLE)?.map(Zeroizing::new),
            typed: Vec::new(),
            terminal,
        })
    }

    /// Whether a passphrase is known or can be asked for.
    pub fn are_available(&self) -> bool {
        self.variable.is_some() || self.terminal.is_interactive()
    }

    /// Asks, twice, for the passphrase of new keys.
    pub async fn choose(&mut self) -> Result<Zeroizing<String>, Failure> {
        if let Some(passphrase) = &self.variable {
            check(passphrase).map_err(|failure| failure.hint(format!("change {PASSPHRASE_VARIABLE}")))?;
            return Ok(passphrase.clone());
        }
        if !self.terminal.is_interactive() {
            return Err(no_terminal("a new key"));
        }
        for _ in 0..MAX_TRIES {
            let first = self.ask("Passphrase of the new key").await?;
            if let Err(failure) = check(&first) {
                self.terminal.instruct(&failure.message);
                continue;
            }
            let second = self.ask("The same passphrase again").await?;
            if first == second {
                self.typed.push(first.clone());
                return Ok(first);
            }
            self.terminal.instruct("the passphrases differ");
        }
        Err(Failure::failed("no passphrase was chosen"))
    }

    async fn ask(&self, question: &str) -> Result<Zeroizing<String>, Failure> {
        let typed = self.terminal.ask_hidden(question).await.map_err(or_variable)?;
        Ok(Zeroizing::new(typed))
    }

    /// Opens a key. `what` names it in questions and failures.
    pub async fn open(&mut self, pem: &str, what: &str) -> Result<SigningKey, Failure> {
        let known = self.variable.iter().chain(&self.typed);
        match try_each(pem, known) {
            Err(SigningKeyError::Encrypted) => {}
            Err(SigningKeyError::Passphrase) if self.variable.is_none() => {}
            Err(SigningKeyError::Passphrase) => {
                return Err(Failure::failed(format!("the passphrase of {what} is wrong"))
                    .hint(format!("set {PASSPHRASE_VARIABLE} to the passphrase of this key")));
            }
            outcome => return outcome.map_err(|error| unusable(what, error)),
        }
        if !self.terminal.is_interactive() {
            return Err(no_terminal(what));
        }
        for _ in 0..MAX_TRIES {
            let typed = self.ask(&format!("Passphrase of {what}")).await?;
            match SigningKey::from_pem(pem, Some(&typed)) {
                Ok(key) => {
                    self.typed.push(typed);
                    return Ok(key);
                }
                Err(SigningKeyError::Passphrase) => self.terminal.instruct("the passphrase is wrong"),
                Err(error) => return Err(unusable(what, error)),
            }
        }
        Err(Failure::failed(format!("the passphrase of {what} is wrong")))
    }
}

/// The variable is the other way where a terminal cannot hide what is typed.
fn or_variable(failure: Failure) -> Failure {
    failure.hint(format!("set {PASSPHRASE_VARIABLE}"))
}

/// Tries a key without a passphrase, then with each. The last error if none fits.
fn try_each<'p>(pem: &str, known: impl Iterator<Item = &'p Zeroizing<String>>) -> Result<SigningKey, SigningKeyError> {
    let mut outcome = SigningKey::from_pem(pem, None);
    for passphrase in known {
        if !matches!(outcome, Err(SigningKeyError::Encrypted | SigningKeyError::Passphrase)) {
            break;
        }
        outcome = SigningKey::from_pem(pem, Some(passphrase));
    }
    outcome
}

fn check(passphrase: &str) -> Result<(), Failure> {
    if passphrase.chars().count() >= MIN_LENGTH {
        Ok(())
    } else {
        Err(Failure::usage(format!(
            "a passphrase must have at least {MIN_LENGTH} characters"
        )))
    }
}

fn unusable(what: &str, error: SigningKeyError) -> Failure {
    let failure = key_failure(error);
    Failure {
        message: format!("cannot use {what}: {}", failure.message),
        ..failure
    }
}

fn no_terminal(what: &str) -> Failure {
    or_variable(Failure::usage(format!(
        "no terminal to ask for the passphrase of {what} on"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;

    fn of(variables: &[(&str, &str)]) -> Passphrases {
        let environment = match variables {
            [one] => Environment::from([*one]),
            _ => Environment::default(),
        };
        Passphrases::new(&environment, Terminal::new(&Environment::from([("CI", "1")]))).expect("text")
    }

    #[tokio::test]
    async fn a_key_opens_with_the_passphrase_of_the_variable() {
        let random = SystemRandom::new();
        let key = SigningKey::generate(&random).expect("a key");
        let encrypted = key.to_encrypted_pem("a long passphrase", &random).expect("a text");
        let mut right = of(&[(PASSPHRASE_VARIABLE, "a long passphrase")]);
        let opened = right.open(&encrypted, "the key").await.expect("the passphrase");
        assert_eq!(opened.public(), key.public());
        let wrong = of(&[(PASSPHRASE_VARIABLE, "another passphrase")])
            .open(&encrypted, "the key")
            .await;
        let failure = wrong.expect_err("another passphrase");
        assert_eq!(failure.message, "the passphrase of the key is wrong");
        let none = of(&[]).open(&encrypted, "the key").await.expect_err("no passphrase");
        assert_eq!(none.message, "no terminal to ask for the passphrase of the key on");
        // A plain key needs none.
        assert!(of(&[]).open(&key.to_pem(), "the key").await.is_ok());
        let failure = of(&[]).open("no key", "the key").await.expect_err("no key");
        assert!(failure.message.starts_with("cannot use the key: "), "{failure:?}");
    }

    #[tokio::test]
    async fn a_new_passphrase_is_not_short() {
        let failure = of(&[(PASSPHRASE_VARIABLE, "too short")])
            .choose()
            .await
            .expect_err("short");
        assert_eq!(failure.message, "a passphrase must have at least 10 characters");
        of(&[(PASSPHRASE_VARIABLE, "long enough")])
            .choose()
            .await
            .expect("long");
        of(&[]).choose().await.expect_err("no terminal");
    }
}
