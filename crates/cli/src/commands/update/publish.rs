//! `update <platform>`: packs, uploads and publishes.

mod compatible;
mod package;
mod wanted;

use launchway_client::Source;

use crate::args::publish::PublishArgs;
use crate::commands::update::{note_on_rollout, show};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(arguments: PublishArgs, context: &Context) -> Result<(), Failure> {
    // Every problem of the arguments and the project is reported before anything is packed or sent.
    let (mut create, native) = wanted::from(&arguments, context)?;
    let client = context.client()?;
    let here = compatible::update_fingerprint(&arguments, context).await?;
    compatible::check(here.as_ref(), &arguments, &create, &client, context).await?;
    let (fingerprint, lwfp2) = here.map(|here| (here.input, here.lwfp2)).unzip();
    create.fingerprint = fingerprint;
    let package = package::prepare(&arguments, context).await?;

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
    let answer = client.create_update_with(&create, lwfp2.flatten().as_deref()).await?;

    let update = &answer.value;
    show::print_published(&answer, client.base(), context)?;
    note_on_rollout(update.rollout, context);
    if native.has_at_least(&update.version, &update.build_number) {
        let installed = native.described();
        context.printer.warn(&format!(
            "apps built from this project ({installed}) will not get it: give a higher --version or --build-number"
        ));
    }
    Ok(())
}
