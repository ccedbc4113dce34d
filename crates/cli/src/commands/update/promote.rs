//! `update promote`: publishes the bytes of an update for another configuration.

use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber};

use crate::args::update::PromoteArgs;
use crate::commands::update::source::publish_again;
use crate::commands::update::{note_on_rollout, show};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(arguments: PromoteArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let source = client.update(&arguments.update.id).await?.value;
    let create = CreateUpdate {
        source_update_id: Some(source.id.clone()),
        bundle_id: source.bundle_id.clone(),
        platform: source.platform.clone(),
        version: source.version.clone(),
        build_number: Some(TextOrNumber::Text(source.build_number.clone())),
        configuration: Some(arguments.configuration.to_string()),
        fingerprint: source.fingerprint.clone().map(FingerprintInput::Hash),
        release_notes: Some(source.release_notes.clone()),
        rollout: arguments.rollout.map(i64::from),
        mandatory: Some(source.mandatory),
        ..CreateUpdate::default()
    };
    let answer = publish_again(&create, &source, arguments.sign_with.as_deref(), &client, context).await?;
    show::print_published(&answer, &client, context).await?;
    note_on_rollout(answer.value.rollout, context);
    Ok(())
}
