//! `trust new-key`, `add-key`, `remove-key` and `rotate`: who signs for which role.

use launchway_api::trust::CreateOnlineKey;
use launchway_trust::metadata::Key;
use launchway_trust::{PublicKey, UpdateRole};
use ring::rand::SystemRandom;
use serde_json::json;

use super::{Subject, print_change, read_public_key};
use crate::args::trust::{AddKeyArgs, AppArgs, NewKeyArgs, RemoveKeyArgs, RotateArgs, SigningArgs};
use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::{Exit, Failure};
use crate::private_file;
use crate::trust::change;
use crate::trust::keys::{KeyDirectory, generate, short_id};
use crate::trust::next_versions::NextVersions;
use crate::trust::passphrases::Passphrases;
use crate::trust::repository::VerifiedRepository;
use crate::trust::signers::Signers;

/// What to know about a key of the role `any`.
pub const REACHES_EVERYTHING: &str =
    "a key of `any` signs updates for apps of every configuration, production included";
/// The fewest digits of a key's id that a person may give.
const MIN_DIGITS: usize = 6;
/// The most characters of a key's name.
const MAX_NAME: usize = 64;

/// `trust new-key`: prints the public key alone to standard output.
pub async fn make(arguments: NewKeyArgs, context: &Context) -> Result<(), Failure> {
    let random = SystemRandom::new();
    let key = generate(&random)?;
    let path = match arguments.ci_key {
        Some(path) => {
            private_file::create(&path, key.to_pem())?;
            path
        }
        None => {
            let mut passphrases = Passphrases::new(&context.environment, context.terminal)?;
            let passphrase = passphrases.choose().await?;
            KeyDirectory::of(&context.environment).save(&key, &passphrase, &random)?
        }
    };
    let (id, public, path) = (key.public().id(), key.public().to_pem(), path.display().to_string());
    let told = json!({ "keyId": id, "publicKey": public, "path": path });
    context
        .printer
        .note(&format!("The private key {} is in {path}", short_id(&id)));
    context.printer.result(&told.to_string(), || public)
}

/// `trust add-key`.
pub async fn add(arguments: AddKeyArgs, context: &Context) -> Result<(), Failure> {
    let public = read_public_key(&arguments.public_key)?;
    let key = named_key(public, arguments.name.as_deref())?;
    let role = &arguments.role;
    if *role == DeveloperRole::Update(UpdateRole::Any) {
        context.printer.warn(REACHES_EVERYTHING);
    }
    change_keys(&arguments.app, &arguments.signing, context, async |next, _| {
        next.add_key(role, key.clone(), arguments.threshold)?;
        Ok(None)
    })
    .await
}

/// `trust remove-key`.
pub async fn remove(arguments: RemoveKeyArgs, context: &Context) -> Result<(), Failure> {
    let role = &arguments.role;
    change_keys(&arguments.app, &arguments.signing, context, async |next, _| {
        let id = find(next.repository(), std::slice::from_ref(role), &arguments.key_id)?;
        next.remove_key(role, &id, arguments.threshold)?;
        Ok(None)
    })
    .await
}

/// `trust rotate`.
pub async fn rotate(arguments: RotateArgs, context: &Context) -> Result<(), Failure> {
    let replacement = match (&arguments.key_id, &arguments.public_key) {
        (Some(id), Some(path)) => Some((id, named_key(read_public_key(path)?, arguments.name.as_deref())?)),
        _ => None,
    };
    change_keys(&arguments.app, &arguments.signing, context, async |next, subject| {
        if let Some((id, key)) = &replacement {
            let roles = [DeveloperRole::Root, DeveloperRole::Targets].into_iter();
            let roles = roles.chain(next.repository().update_roles().map(DeveloperRole::Update));
            let id = find(next.repository(), &roles.collect::<Vec<_>>(), id)?;
            next.replace_key(&id, key)?;
        }
        if !arguments.online_key {
            return Ok(None);
        }
        let public = new_online_key(subject).await?;
        next.replace_online_key(public)?;
        Ok(Some(public))
    })
    .await
}

/// Changes keys: verifies, edits, shows, asks, signs and sends. `edit` returns the server's new key if there is one.
async fn change_keys(
    app: &AppArgs,
    signing: &SigningArgs,
    context: &Context,
    edit: impl AsyncFnOnce(&mut NextVersions<'_>, &Subject) -> Result<Option<PublicKey>, Failure>,
) -> Result<(), Failure> {
    let mut subject = Subject::of(app, context)?;
    let repository = subject.repository(context).await?;
    let mut next = NextVersions::of(&repository);
    let online = edit(&mut next, &subject).await?.or(repository.online_key());
    let online = online.ok_or_else(|| Failure::failed("the root names no key of the server"))?;
    next.complete()?;
    change::confirm(&next, "Sign and send this change?", signing.yes, context).await?;
    let mut signers = Signers::new(context, signing.sign_with.as_deref())?;
    let signed = change::sign(&next, &online, &mut signers).await?;
    let answer = signed.send(&subject.service, &mut subject.project, context).await?;
    print_change(&answer, context)
}

/// A new key of the server, which the next root names.
pub async fn new_online_key(subject: &Subject) -> Result<PublicKey, Failure> {
    let request = CreateOnlineKey {
        bundle_id: subject.project.bundle_id.to_string(),
    };
    let view = subject.service.create_online_key(&request).await?.value;
    PublicKey::from_pem(&view.public_key)
        .map_err(|error| Failure::new(Exit::Server, format!("the server's new key {error}")))
}

fn named_key(public: PublicKey, name: Option<&str>) -> Result<Key, Failure> {
    match name {
        None => Ok(Key::from(public)),
        Some(name) if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) => {
            Err(Failure::usage(format!("--name must be 1 to {MAX_NAME} characters")))
        }
        Some(name) => Ok(Key::with_name(public, name)),
    }
}

/// The whole id of the one key of these roles that begins with `digits`.
fn find(repository: &VerifiedRepository, roles: &[DeveloperRole], digits: &str) -> Result<String, Failure> {
    if digits.len() < MIN_DIGITS {
        return Err(Failure::usage(format!(
            "a key id must have at least {MIN_DIGITS} digits"
        )));
    }
    let authorities = roles.iter().filter_map(|role| repository.authority(role));
    let mut found: Vec<String> = authorities
        .flat_map(|authority| authority.key_ids().map(|(id, _)| id.to_owned()).collect::<Vec<_>>())
        .filter(|id| id.starts_with(digits))
        .collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Failure::new(Exit::NotFound, format!("no role has a key {digits}"))
            .hint("`launchway trust status` shows the keys")),
        _ => Err(Failure::usage(format!("{digits} is the beginning of several key ids")).hint("give more digits")),
    }
}
