//! `trust`: signed updates, their keys and their metadata (`docs/reference/trust.md#command-line`).

mod init;
mod keys;
mod push;
mod reset;
mod rights;
mod sign;
mod status;
mod verify;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use launchway_api::trust::TrustChange;
use launchway_client::{Answer, Client};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_trust::PublicKey;

use crate::args::trust::{AppArgs, TrustCommand};
use crate::commands::app::App;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::trust::file::ProjectTrust;
use crate::trust::repository::VerifiedRepository;

pub async fn run(command: TrustCommand, context: &Context) -> Result<(), Failure> {
    match command {
        TrustCommand::Init(arguments) => init::run(arguments, context).await,
        TrustCommand::Status(app) => status::run(&app, context).await,
        TrustCommand::Verify(arguments) => verify::run(arguments, context).await,
        TrustCommand::NewKey(arguments) => keys::make(arguments, context).await,
        TrustCommand::AddKey(arguments) => keys::add(arguments, context).await,
        TrustCommand::RemoveKey(arguments) => keys::remove(arguments, context).await,
        TrustCommand::Rotate(arguments) => keys::rotate(arguments, context).await,
        TrustCommand::Sign(arguments) => sign::run(arguments, context).await,
        TrustCommand::Push(arguments) => push::run(arguments, context).await,
        TrustCommand::Reset(arguments) => reset::run(arguments, context).await,
    }
}

/// The app of a command, its file in the project, and the client for its server.
struct Subject {
    service: Client,
    project: ProjectTrust,
}

impl Subject {
    fn of(app: &AppArgs, context: &Context) -> Result<Self, Failure> {
        let bundle_id = bundle_id(app, context)?;
        Ok(Self {
            project: ProjectTrust::of(&context.settings.root, &bundle_id)?,
            service: context.client()?,
        })
    }

    /// The server's metadata, verified from the file of the project.
    async fn repository(&self, context: &Context) -> Result<VerifiedRepository, Failure> {
        let file = self.project.required()?;
        VerifiedRepository::fetch(context, &self.service, &self.project.bundle_id, file).await
    }
}

/// The app: told, of the trust file, or of the project if it has only one.
fn bundle_id(app: &AppArgs, context: &Context) -> Result<BundleId, Failure> {
    if let Some(told) = &app.bundle_id {
        return Ok(told.clone());
    }
    if let Some(known) = ProjectTrust::only_app(&context.settings.root)? {
        return Ok(known);
    }
    let mut found = BTreeSet::new();
    let mut problem = None;
    for platform in Platform::ALL {
        match App::without_profile(platform, context).bundle_id(None, context) {
            Ok(id) => {
                found.insert(id);
            }
            Err(failure) => problem = Some(failure),
        }
    }
    let mut found = found.into_iter();
    match (found.next(), found.next(), problem) {
        (Some(id), None, _) => id
            .parse::<BundleId>()
            .map_err(|error| Failure::usage(format!("the bundle identifier {id} {error}"))),
        (Some(_), Some(_), _) => Err(
            Failure::usage("the apps of this project have different bundle identifiers")
                .hint("give --bundle-id ID; each one has its own keys"),
        ),
        (None, _, problem) => {
            let problem = problem.unwrap_or_else(|| Failure::usage("no app specified"));
            Err(problem.hint("give --bundle-id ID, or set bundle_id under [app] in launchway.toml"))
        }
    }
}

/// Reads the file with a public key.
fn read_public_key(path: &Path) -> Result<PublicKey, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    PublicKey::from_pem(&text).map_err(|error| {
        Failure::usage(format!("{} {error}", path.display()))
            .hint("`launchway trust new-key` prints such a key, and key services export it")
    })
}

/// Prints what the server made of a change.
fn print_change(answer: &Answer<TrustChange>, context: &Context) -> Result<(), Failure> {
    let change = &answer.value;
    context.printer.result(&answer.body, || {
        fields(&[
            ("App", change.trust.bundle_id.clone()),
            ("In force", change.accepted.join(", ")),
            ("Need signatures", change.drafts.join(", ")),
            ("Published", change.published_update_ids.join(", ")),
        ])
    })
}
