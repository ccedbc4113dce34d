//! `trust init`: from nothing to signed updates. It can be repeated after it died at any point.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use launchway_api::trust::{PostTrust, TrustView};
use launchway_domain::configuration::Configuration;
use launchway_domain::tenancy::Role;
use launchway_trust::metadata::{Metadata, Root};
use launchway_trust::{Identity, RepositoryId, SigningKey, TrustFile, UpdateRole};
use ring::rand::SystemRandom;
use serde_json::json;

use super::Subject;
use super::keys::new_online_key;
use super::rights;
use crate::args::trust::{NewKeysArgs, TrustInitArgs};
use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::private_file;
use crate::trust::keys::{KeyDirectory, generate, short_id};
use crate::trust::repository::VerifiedRepository;
use crate::trust::setup::{self, FirstFiles, FirstVersions, Progress, ProgressFile};
use crate::trust::signers::{KEY_VARIABLE, Signers};

pub async fn run(arguments: TrustInitArgs, context: &Context) -> Result<(), Failure> {
    let mut subject = Subject::of(&arguments.app, context)?;
    let role = role(arguments.configuration, context)?;
    let progress = ProgressFile::of(&context.environment, "init", &subject.project.bundle_id)?;
    let server = subject.service.trust(subject.project.bundle_id.as_str()).await?.value;
    let begun = progress.load()?;
    match state(&server, &subject, begun.as_ref())? {
        State::Done => {}
        State::FileMissing(root) => subject.project.write(first_file(&role, root)?)?,
        State::New => {
            rights::check(&subject.service, Role::Admin).await?;
            check_recovery(&arguments.keys, context)?;
            let question = format!(
                "Set up signed updates for {} on {}? Releases of the app that embed launchway.trust.json take only updates that its keys signed.",
                subject.project.bundle_id,
                subject.service.base()
            );
            context.terminal.require_confirmation(&question, arguments.yes).await?;
            let made = set_up(&subject, &role, &arguments.keys, &progress, context).await?;
            subject.project.write(made)?;
        }
    }
    finish(&subject, &role, &arguments.keys, &progress, begun, context).await
}

/// The role of the told configuration, or of that of `launchway.toml`.
pub fn role(told: Option<Configuration>, context: &Context) -> Result<UpdateRole, Failure> {
    let configuration = match (told, &context.settings.update().configuration) {
        (Some(told), _) => told,
        (None, Some(text)) => text
            .parse::<Configuration>()
            .map_err(|error| Failure::usage(format!("configuration in launchway.toml: {error}")))?,
        (None, None) => {
            return Err(Failure::usage("no configuration specified")
                .hint("give --configuration NAME: the one whose updates the new key signs, such as production"));
        }
    };
    Ok(UpdateRole::Configuration(configuration))
}

/// How far an app is.
enum State {
    New,
    /// The server has the root, which is this text, and the project has no file.
    FileMissing(String),
    Done,
}

fn state(server: &TrustView, subject: &Subject, begun: Option<&Progress>) -> Result<State, Failure> {
    let project = &subject.project;
    let shown = project.path.display();
    let here = project.content.as_ref().map(|file| file.repository.to_string());
    match (&server.repository, here) {
        (None, None) => Ok(State::New),
        (Some(there), Some(here)) if *there == here => Ok(State::Done),
        (Some(there), None) => {
            let own = begun.filter(|progress| progress.repository == *there);
            let root = own.and_then(|progress| progress.root.clone());
            root.map(State::FileMissing).ok_or_else(|| {
                Failure::usage(format!("{} has signed updates, and {shown} does not exist", project.bundle_id))
                    .hint("get the file from the source repository of the app; `launchway trust reset` begins again when all keys are lost")
            })
        }
        (Some(_), Some(_)) => Err(
            Failure::usage(format!("{shown} is for another repository than the server's"))
                .hint("get the newest file from the source repository of the app, and check the address of the server"),
        ),
        (None, Some(_)) => Err(Failure::usage(format!(
            "{shown} exists, and this server has no root for {}",
            project.bundle_id
        ))
        .hint("check the address of the server; delete the file only if no app was released with it")),
    }
}

/// A recovery key that nobody sees would be lost: without a terminal it needs a file.
pub fn check_recovery(keys: &NewKeysArgs, context: &Context) -> Result<(), Failure> {
    let shown = context.terminal.is_interactive() && !context.printer.is_json();
    if shown || keys.recovery_key.is_some() {
        return Ok(());
    }
    Err(Failure::usage("no terminal to show the recovery key on").hint("give --recovery-key FILE"))
}

/// Makes keys and files, and sends them. Returns the file of the project.
async fn set_up(
    subject: &Subject,
    role: &UpdateRole,
    keys: &NewKeysArgs,
    file: &ProgressFile,
    context: &Context,
) -> Result<TrustFile, Failure> {
    let mut signers = Signers::new(context, None)?;
    let files = make_files(subject, role, keys, file, 1, &mut signers, context).await?;
    let request = PostTrust {
        bundle_id: subject.project.bundle_id.to_string(),
        roots: vec![files.root.clone()],
        roles: BTreeMap::from([("targets".to_owned(), files.targets), (role.to_string(), files.role)]),
        ..PostTrust::default()
    };
    context
        .printer
        .set_interrupt_note("the keys are saved: run the command again to continue");
    subject.service.change_trust(&request).await?;
    first_file(role, files.root)
}

/// Makes the keys, shows the recovery key, and signs the first files. Everything is saved before it returns.
pub async fn make_files(
    subject: &Subject,
    role: &UpdateRole,
    keys: &NewKeysArgs,
    file: &ProgressFile,
    root_version: u64,
    signers: &mut Signers,
    context: &Context,
) -> Result<FirstFiles, Failure> {
    let mut progress = setup::make_keys(file, signers, context).await?;
    if progress.recovery_key.is_none() {
        let recovery = generate(&SystemRandom::new())?;
        hand_over(&recovery, keys.recovery_key.as_deref(), context).await?;
        progress.recovery_key = Some(recovery.public().to_pem());
        file.save(&progress)?;
    }
    let repository = progress
        .repository
        .parse::<RepositoryId>()
        .map_err(|error| Failure::failed(format!("the saved repository id {error}")))?;
    let first = FirstVersions {
        identity: Identity {
            repository,
            bundle_id: subject.project.bundle_id.clone(),
        },
        root_version,
        role,
        online: new_online_key(subject).await?,
        now: context.now(),
    };
    let files = first.sign(&progress, signers).await?;
    progress.root = Some(files.root.clone());
    file.save(&progress)?;
    Ok(files)
}

/// Hands the recovery key to its holder, and waits until it is stored. It is nowhere else.
async fn hand_over(key: &SigningKey, to: Option<&Path>, context: &Context) -> Result<(), Failure> {
    if let Some(path) = to {
        private_file::create(path, key.to_pem())?;
        context
            .printer
            .note(&format!("The recovery key is in {}: move it offline", path.display()));
        return Ok(());
    }
    context
        .terminal
        .instruct("The recovery key, which replaces a lost root key. It is shown only now: store it offline.");
    context.terminal.instruct(&key.to_pem());
    match context.terminal.confirm("Have you stored the recovery key?").await? {
        true => Ok(()),
        false => Err(Failure::failed("the recovery key was not stored; nothing was sent")
            .hint("run the command again: it shows a new recovery key")),
    }
}

/// The file of the project for a repository's first versions, whose root was signed here.
pub fn first_file(role: &UpdateRole, root: String) -> Result<TrustFile, Failure> {
    let parsed: Option<Metadata<Root>> = Metadata::parse(root.as_bytes()).ok();
    let identity = parsed.and_then(|root| root.header().identity.clone());
    let identity = identity.ok_or_else(|| Failure::failed("the saved root names no repository"))?;
    Ok(TrustFile {
        root,
        repository: identity.repository,
        floors: BTreeMap::from([("targets".to_owned(), 1), (role.to_string(), 1)]),
        revoked: BTreeSet::new(),
    })
}

/// Verifies what the server has now, and says what to do next.
pub async fn finish(
    subject: &Subject,
    role: &UpdateRole,
    keys: &NewKeysArgs,
    file: &ProgressFile,
    begun: Option<Progress>,
    context: &Context,
) -> Result<(), Failure> {
    let repository = subject.repository(context).await?;
    let progress = file.load()?.or(begun);
    if let Some(path) = &keys.ci_key {
        export_signing_key(&repository, role, path, context).await?;
    }
    let id = |pem: Option<&String>| pem.and_then(|pem| setup::public(pem).ok()).map(|key| key.id());
    let root_key = id(progress.as_ref().map(|progress| &progress.root_key));
    let signing_key = id(progress.as_ref().map(|progress| &progress.signing_key));
    let recovery_key = id(progress.as_ref().and_then(|progress| progress.recovery_key.as_ref()));
    let told = json!({
        "bundleId": subject.project.bundle_id.as_str(),
        "repository": repository.identity().repository.to_string(),
        "role": role.to_string(),
        "path": subject.project.path.display().to_string(),
        "rootKey": root_key, "signingKey": signing_key, "recoveryKey": recovery_key,
    });
    let short = |id: &Option<String>| id.as_deref().map(|id| short_id(id).to_owned()).unwrap_or_default();
    context.printer.result(&told.to_string(), || {
        fields(&[
            ("App", subject.project.bundle_id.to_string()),
            ("Repository", repository.identity().repository.to_string()),
            ("Written", subject.project.path.display().to_string()),
            ("Root key", short(&root_key)),
            ("Recovery key", short(&recovery_key)),
            ("Signing key", short(&signing_key)),
            ("Signs", role.to_string()),
        ])
    })?;
    file.remove()?;
    let ci = match &keys.ci_key {
        Some(path) => format!(
            "3. Store {} as the secret {KEY_VARIABLE} of your CI system, and delete the file.",
            path.display()
        ),
        None => format!(
            "3. For CI, run `launchway trust init --ci-key FILE`, and store the file as the secret {KEY_VARIABLE}."
        ),
    };
    context.printer.note(&format!(
        "Next:\n1. Commit {}.\n2. Run `launchway embed` in the build of the app, and release it to the store.\n{ci}\n`launchway update` signs from now on.",
        subject.project.path.display()
    ));
    Ok(())
}

/// Writes the key of the role that is on this machine, not encrypted, to a file.
async fn export_signing_key(
    repository: &VerifiedRepository,
    role: &UpdateRole,
    path: &Path,
    context: &Context,
) -> Result<(), Failure> {
    let directory = KeyDirectory::of(&context.environment);
    let authority = repository.authority(&DeveloperRole::Update(role.clone()));
    let mut signers = Signers::new(context, None)?;
    for public in authority.iter().flat_map(|authority| authority.signers()) {
        let Some(pem) = directory.load(&public)? else { continue };
        let what = format!("the key {} of {role}", short_id(&public.id()));
        let key = signers.passphrases().open(&pem, &what).await?;
        private_file::create(path, key.to_pem())?;
        return Ok(());
    }
    Err(Failure::usage(format!("no key of {role} is on this machine"))
        .hint(format!("make one: launchway trust new-key --ci-key {}", path.display())))
}
