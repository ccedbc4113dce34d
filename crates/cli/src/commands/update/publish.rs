//! `update <platform>`: packs, uploads and publishes.

mod compatible;
mod package;
mod wanted;

use launchway_client::Source;
use launchway_domain::update::UpdateStatus;

use self::compatible::UpdateFingerprint;
use self::package::Package;
use crate::args::publish::PublishArgs;
use crate::commands::run_blocking;
use crate::commands::update::signing::{PackageFacts, SigningDesk, check_package, no_trust_file};
use crate::commands::update::{note_on_rollout, show};
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::package::MeasuredPackage;

pub async fn run(arguments: PublishArgs, context: &Context) -> Result<(), Failure> {
    // Every problem of the arguments and the project is reported before anything is packed or sent.
    let (mut create, native) = wanted::from(&arguments, context)?;
    let client = context.client()?;
    let mut desk = SigningDesk::open(&create.bundle_id, arguments.sign_with.as_deref(), &client, context)?;
    if let Some(desk) = &mut desk {
        // What cannot be verified is not signed, so nothing is packed or sent for it.
        desk.check(create.configuration.as_deref()).await?;
    }
    let here = compatible::update_fingerprint(&arguments, context).await?;
    compatible::check(here.as_ref(), &arguments, &create, &client, context).await?;
    let package = package::prepare(&arguments, context).await?;
    let facts = match &desk {
        Some(_) => Some(facts(&package, here.as_ref()).await?),
        None => None,
    };
    let (fingerprint, lwfp2) = here.map(|here| (here.input, here.lwfp2)).unzip();
    create.fingerprint = fingerprint;

    context
        .printer
        .set_interrupt_note("nothing was published; uploaded data is deleted within a day");
    let upload = {
        let progress = context.printer.progress("Uploading", package.sealed.size);
        let source = Source {
            path: package.path(),
            file_name: "update.zip",
            size: package.sealed.size,
            sha256: &package.sealed.sha256,
        };
        client.upload(source, progress.callback()).await?
    };
    create.upload_id = Some(upload.id);
    context
        .printer
        .set_interrupt_note("the update may have been published: launchway update list");
    let lwfp2 = lwfp2.flatten();
    let answer = match &mut desk {
        Some(desk) => desk.publish(&create, lwfp2.as_deref(), facts.as_ref()).await?,
        None => client.create_update_with(&create, lwfp2.as_deref()).await?,
    };
    context.printer.set_interrupt_note("");

    let update = &answer.value;
    if update.status == UpdateStatus::AwaitingSignature {
        check_package(update, &package.sealed.sha256)?;
    }
    show::print_published(&answer, client.base(), context)?;
    match &mut desk {
        Some(desk) => desk.renew_due_roles().await,
        None if update.status == UpdateStatus::AwaitingSignature => return Err(no_trust_file(&update.bundle_id)),
        None => {}
    }
    note_on_rollout(update.rollout, context);
    if native.has_at_least(&update.version, &update.build_number) {
        let installed = native.described();
        context.printer.warn(&format!(
            "apps built from this project ({installed}) will not get it: give a higher --version or --build-number"
        ));
    }
    Ok(())
}

/// What is signed of the package.
async fn facts(package: &Package, fingerprint: Option<&UpdateFingerprint>) -> Result<PackageFacts, Failure> {
    let (path, sealed) = (package.path().to_owned(), package.sealed.clone());
    let measured = run_blocking(move || MeasuredPackage::of_sealed(&path, &sealed)).await??;
    Ok(PackageFacts::of(&measured, fingerprint.map(UpdateFingerprint::hash)))
}
