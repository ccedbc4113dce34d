//! Whoever can sign here: the keys of this machine, the key of `LAUNCHWAY_SIGNING_KEY`, or a command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use launchway_trust::draft::{Draft, FileSizeError};
use launchway_trust::metadata::{Authority, Body, Metadata};
use launchway_trust::{PublicKey, SigningKey};
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

use crate::context::Context;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::trust::keys::{KeyDirectory, short_id};
use crate::trust::passphrases::Passphrases;
use crate::trust::sign_with::SignCommand;

/// The variable with a private key as PEM, or with the path of its file.
pub const KEY_VARIABLE: &str = "LAUNCHWAY_SIGNING_KEY";
const PEM_BEGIN: &str = "-----BEGIN ";

/// The keys that can sign here. A key is opened when it is first used.
pub struct Signers {
    directory: KeyDirectory,
    /// The content of [`KEY_VARIABLE`].
    variable: Option<Zeroizing<String>>,
    passphrases: Passphrases,
    command: Option<SignCommand>,
    open: BTreeMap<PublicKey, SigningKey>,
    random: SystemRandom,
}

impl Signers {
    /// Whoever can sign in this context. With `sign_with`, the text of `--sign-with`, only that command signs.
    pub fn new(context: &Context, sign_with: Option<&str>) -> Result<Self, Failure> {
        Self::of(&context.environment, context.terminal, sign_with)
    }

    /// The same of this environment and terminal.
    pub fn of(environment: &Environment, terminal: Terminal, sign_with: Option<&str>) -> Result<Self, Failure> {
        let variable = match environment.text(KEY_VARIABLE)?.map(Zeroizing::new) {
            Some(text) if !text.trim_start().starts_with(PEM_BEGIN) => Some(read(Path::new(text.trim()))?),
            text => text,
        };
        Ok(Self {
            directory: KeyDirectory::of(environment),
            variable,
            passphrases: Passphrases::new(environment, terminal)?,
            command: sign_with.map(SignCommand::parse).transpose()?,
            open: BTreeMap::new(),
            random: SystemRandom::new(),
        })
    }

    /// The passphrases that are known, for new keys.
    pub fn passphrases(&mut self) -> &mut Passphrases {
        &mut self.passphrases
    }

    /// Adds a key that was just made.
    pub fn add(&mut self, key: SigningKey) {
        self.open.insert(*key.public(), key);
    }

    /// Whether keys of this machine alone can sign for a role. Nobody is asked for a passphrase.
    pub fn can_sign(&self, authority: Authority<'_>) -> bool {
        let is_here = |public: &PublicKey| {
            self.open.contains_key(public) || self.directory.load(public).is_ok_and(|pem| pem.is_some())
        };
        let here = authority.signers().iter().filter(|public| is_here(public)).count() as u64;
        self.command.is_none() && self.passphrases.are_available() && here >= authority.threshold()
    }

    /// Whether anything here can add a signature for an authority. Opens the key, so a passphrase may be asked for.
    pub async fn has_signer(&mut self, authority: Authority<'_>, role: &str) -> Result<bool, Failure> {
        if self.command.is_some() {
            return Ok(true);
        }
        for public in authority.signers() {
            if self.open_key(&public, role).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Signs until every authority has as many signatures as it needs, or no further key is here. A root has two
    /// authorities: that of the root before and its own. Returns how many signatures are missing.
    ///
    /// # Errors
    /// Signatures are missing, and none of the keys that could add one is here.
    pub async fn sign<T: Body>(
        &mut self,
        draft: &mut Draft,
        role: &str,
        authorities: &[Authority<'_>],
    ) -> Result<u64, Failure> {
        let before = missing::<T>(draft, authorities)?;
        if before == 0 {
            return Ok(0);
        }
        let mut added = 0;
        if let Some(command) = self.command.clone() {
            added += sign_by(&command, draft, role, authorities).await?;
        } else {
            for authority in authorities {
                added += self.sign_one::<T>(draft, role, *authority).await?;
            }
        }
        match added {
            0 => Err(no_key(role, &lacking::<T>(draft, authorities)?, before)),
            _ => missing::<T>(draft, authorities),
        }
    }

    /// Adds the signatures that one authority still needs. Returns how many it added.
    async fn sign_one<T: Body>(
        &mut self,
        draft: &mut Draft,
        role: &str,
        authority: Authority<'_>,
    ) -> Result<usize, Failure> {
        let mut added = 0;
        for public in authority.signers() {
            let signed = signers::<T>(draft, authority)?;
            if signed.len() as u64 >= authority.threshold() {
                break;
            }
            if signed.contains(&public) {
                continue;
            }
            if !self.open_key(&public, role).await? {
                continue;
            }
            let key = &self.open[&public];
            let sign = draft.sign(authority, key, &self.random);
            sign.map_err(|error| Failure::failed(format!("cannot sign {role}: {error}")))?;
            added += 1;
        }
        Ok(added)
    }

    /// Opens a key for use. Returns whether it is here.
    async fn open_key(&mut self, public: &PublicKey, role: &str) -> Result<bool, Failure> {
        if self.open.contains_key(public) {
            return Ok(true);
        }
        if let Some(pem) = self.variable.take() {
            let key = self.passphrases.open(&pem, KEY_VARIABLE).await?;
            self.open.insert(*key.public(), key);
        }
        if self.open.contains_key(public) {
            return Ok(true);
        }
        let Some(pem) = self.directory.load(public)? else {
            return Ok(false);
        };
        let id = public.id();
        let what = format!("the key {} of {role}", short_id(&id));
        let key = self.passphrases.open(&pem, &what).await?;
        if key.public() != public {
            return Err(Failure::failed(format!("the file of {what} contains another key")));
        }
        self.open.insert(*public, key);
        Ok(true)
    }
}

/// The ids of the keys that could still sign.
fn lacking<'a, T: Body>(draft: &Draft, authorities: &[Authority<'a>]) -> Result<BTreeSet<&'a str>, Failure> {
    let mut ids = BTreeSet::new();
    for authority in authorities {
        let signed = signers::<T>(draft, *authority)?;
        if (signed.len() as u64) < authority.threshold() {
            let open = authority
                .key_ids()
                .filter(|(_, key)| key.is_none_or(|key| !signed.contains(&key)));
            ids.extend(open.map(|(id, _)| short_id(id)));
        }
    }
    Ok(ids)
}

/// The failure where none of the keys that could sign is here.
fn no_key(role: &str, lacking: &BTreeSet<&str>, missing: u64) -> Failure {
    let ids: Vec<&str> = lacking.iter().copied().collect();
    let needed = match missing {
        1 => "a signature".to_owned(),
        many => format!("{many} signatures"),
    };
    let message = format!(
        "{role} needs {needed}, and no key that could add it is on this machine: {}",
        ids.join(", ")
    );
    Failure::failed(message).hint(format!(
        "run this where a key is, set {KEY_VARIABLE} to one, or give --sign-with COMMAND"
    ))
}

/// Lets a command sign. Its key is the one of an authority that the signature verifies with.
async fn sign_by(
    command: &SignCommand,
    draft: &mut Draft,
    role: &str,
    authorities: &[Authority<'_>],
) -> Result<usize, Failure> {
    let signature = hex::encode(command.sign(draft.message()).await?);
    let mut added = 0;
    for authority in authorities {
        let mut ids = authority.key_ids();
        if ids.any(|(id, _)| draft.attach(*authority, id, &signature).is_ok()) {
            added += 1;
        }
    }
    match added {
        0 => Err(Failure::failed(format!(
            "what --sign-with printed is not a signature by a key of {role}"
        ))
        .hint("it must be the DER of an ECDSA P-256 signature with SHA-256 of the bytes on standard input")),
        _ => Ok(added),
    }
}

/// How many signatures a draft still needs, over all authorities.
pub fn missing<T: Body>(draft: &Draft, authorities: &[Authority<'_>]) -> Result<u64, Failure> {
    let mut missing = 0;
    for authority in authorities {
        let signed = signers::<T>(draft, *authority)?.len() as u64;
        missing += authority.threshold().saturating_sub(signed);
    }
    Ok(missing)
}

fn signers<T: Body>(draft: &Draft, authority: Authority<'_>) -> Result<BTreeSet<PublicKey>, Failure> {
    Ok(authority.signers_of(&metadata::<T>(draft)?))
}

/// The draft as metadata.
pub fn metadata<T: Body>(draft: &Draft) -> Result<Metadata<T>, Failure> {
    let text = text(draft)?;
    Metadata::parse(text.as_bytes()).map_err(|error| Failure::failed(format!("cannot read the draft: {error}")))
}

/// The draft as the text to send.
pub fn text(draft: &Draft) -> Result<String, Failure> {
    draft
        .to_text()
        .map_err(|error: FileSizeError| Failure::failed(error.to_string()))
}

fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "cannot read {}, which {KEY_VARIABLE} names: {error}",
            path.display()
        ))
        .hint("the variable must be a private key in PEM, or the path of its file")
    })?;
    Ok(Zeroizing::new(text))
}

#[cfg(test)]
mod tests;
