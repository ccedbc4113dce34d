//! `trust reset`: begins a new repository with new keys when all keys are lost.

use std::collections::BTreeMap;

use launchway_api::trust::ResetTrust;
use launchway_domain::tenancy::Role;

use super::Subject;
use super::init::{check_recovery, finish, first_file, make_files, role};
use super::rights;
use crate::args::trust::ResetArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::setup::ProgressFile;
use crate::trust::signers::Signers;

pub async fn run(arguments: ResetArgs, context: &Context) -> Result<(), Failure> {
    let mut subject = Subject::of(&arguments.app, context)?;
    let bundle_id = subject.project.bundle_id.clone();
    let role = role(arguments.configuration, context)?;
    let file = ProgressFile::of(&context.environment, "reset", &bundle_id)?;
    let server = subject.service.trust(bundle_id.as_str()).await?.value;
    let Some(present) = &server.repository else {
        return Err(Failure::usage(format!("{bundle_id} has no signed updates")).hint("run `launchway trust init`"));
    };
    let begun = file.load()?;
    // An earlier run died after the server began the new repository.
    let sent = begun.as_ref().filter(|progress| progress.repository == *present);
    if let Some(root) = sent.and_then(|progress| progress.root.clone()) {
        subject.project.write(first_file(&role, root)?)?;
        return finish(&subject, &role, &arguments.keys, &file, begun, context).await;
    }
    rights::check(&subject.service, Role::Owner).await?;
    check_recovery(&arguments.keys, context)?;
    let confirmed = match &arguments.confirm {
        Some(told) => told.to_string(),
        None if context.terminal.is_interactive() => {
            context.terminal.instruct(&format!(
                "Phones with a released app of {bundle_id} take no update until their users have a new release from the store"
            ));
            context
                .terminal
                .ask("Type the bundle id to begin again with new keys", None)
                .await?
        }
        None => return Err(Failure::usage("no terminal to prompt on").hint("give --confirm with the bundle id")),
    };
    if confirmed != bundle_id.as_str() {
        return Err(Failure::failed("that is not the bundle id; nothing was done"));
    }
    let root = server.roles.iter().find(|known| known.role == "root");
    let version = root.and_then(|root| root.version).unwrap_or(0) + 1;
    let mut signers = Signers::new(context, None)?;
    let files = make_files(&subject, &role, &arguments.keys, &file, version, &mut signers, context).await?;
    let request = ResetTrust {
        bundle_id: bundle_id.to_string(),
        confirm: confirmed,
        root: files.root.clone(),
        roles: BTreeMap::from([("targets".to_owned(), files.targets), (role.to_string(), files.role)]),
    };
    context
        .printer
        .set_interrupt_note("the keys are saved: run the command again to continue");
    subject.service.reset_trust(&request).await?;
    subject.project.write(first_file(&role, files.root)?)?;
    finish(&subject, &role, &arguments.keys, &file, begun, context).await
}
