//! `update rollback`: publishes the bytes from before a bad update again, with a higher build number.

use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber, UpdateView};
use launchway_client::{Client, Paging, UpdateFilter};

use crate::args::update::RollbackArgs;
use crate::commands::update::source::publish_again;
use crate::commands::update::{lineage, show};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: u32 = 100;
/// Maximum number of other fingerprints that the server is asked about.
const MOST_COMPARED: usize = 10;

pub async fn run(arguments: RollbackArgs, context: &Context) -> Result<(), Failure> {
    // Before any request: without a terminal, nothing can come of them.
    context.terminal.must_ask(arguments.yes)?;
    let client = context.client()?;
    let (bad, updates) = find_bad_update(&arguments, &client).await?;
    let (good, reached) = match &arguments.to {
        Some(id) => {
            let good = chosen_update(&client, id, &bad).await?;
            let reached = lineage::runs_wherever(&good, &bad);
            (good, reached)
        }
        None => {
            let good = find_good_update(&bad, &updates, &client).await;
            (good.ok_or_else(|| no_predecessor(&bad, &updates))?, true)
        }
    };
    context.printer.note(&format!("Bad:    {}", line(&bad)));
    context.printer.note(&format!("Before: {}", line(&good)));
    if !reached {
        context
            .printer
            .warn("the native code of the two differs: devices with the bad update are sent to the store instead");
    }
    note_on_callers(&bad, context);
    let question = format!(
        "Publish the bytes of {} as {} with a higher build number?",
        good.version, bad.version
    );
    context.terminal.require_confirmation(&question, arguments.yes).await?;
    let create = rollback_request(good.clone(), &bad);
    let answer = publish_again(&create, &good, arguments.sign_with.as_deref(), &client, context).await?;
    let installed = (bad.version.as_str(), bad.build_number.as_str());
    show::print_rollback(&answer, installed, &client, context).await
}

/// The bad update, and all updates of its app and platform.
async fn find_bad_update(arguments: &RollbackArgs, client: &Client) -> Result<(UpdateView, Vec<UpdateView>), Failure> {
    if let Some(id) = &arguments.id {
        let bad = client.update(id).await?.value;
        let updates = all_updates(client, &bad.bundle_id, bad.platform.as_str()).await?;
        return Ok((bad, updates));
    }
    let (Some(bundle_id), Some(platform)) = (&arguments.bundle_id, arguments.platform) else {
        return Err(Failure::usage("no update specified, and no app with platform"));
    };
    let configuration = arguments.configuration.as_ref().map(ToString::to_string);
    if configuration.is_none() && !arguments.all_configurations {
        return Err(Failure::usage("no configuration specified")
            .hint("give --configuration NAME, or --all-configurations for updates without one"));
    }
    let updates = all_updates(client, bundle_id, platform.as_str()).await?;
    match lineage::newest(&updates, configuration.as_deref()).cloned() {
        Some(bad) => Ok((bad, updates)),
        None => {
            let line = configuration.unwrap_or_else(|| "all configurations".to_owned());
            Err(Failure::new(
                Exit::NotFound,
                format!("{bundle_id} has no {platform} update for {line}"),
            ))
        }
    }
}

/// The newest update before the bad one that runs wherever the bad one runs. For different fingerprints, the server
/// decides whether they have the same native code; an older server does not answer.
async fn find_good_update(bad: &UpdateView, updates: &[UpdateView], client: &Client) -> Option<UpdateView> {
    let mut others: Vec<&Option<String>> = Vec::new();
    for update in lineage::predecessors(bad, updates) {
        if lineage::runs_wherever(update, bad) {
            return Some(update.clone());
        }
        if bad.fingerprint.is_none() || others.contains(&&update.fingerprint) || others.len() == MOST_COMPARED {
            continue;
        }
        let compared = client.fingerprint_diff(&update.id, &bad.id).await;
        if compared.is_ok_and(|answer| answer.value.same) {
            return Some(update.clone());
        }
        others.push(&update.fingerprint);
    }
    None
}

/// All updates of an app on a platform.
async fn all_updates(client: &Client, bundle_id: &str, platform: &str) -> Result<Vec<UpdateView>, Failure> {
    let mut updates: Vec<UpdateView> = Vec::new();
    let filter = UpdateFilter {
        bundle_id: Some(bundle_id.to_owned()),
        platform: Some(platform.to_owned()),
        ..UpdateFilter::default()
    };
    loop {
        let offset = updates.len() as u64;
        let page = client.updates(&filter, Paging { limit: PAGE, offset }).await?.value;
        let is_last = page.items.is_empty() || page.offset.saturating_add(i64::from(PAGE)) >= page.total;
        updates.extend(page.items);
        if is_last {
            return Ok(updates);
        }
    }
}

async fn chosen_update(client: &Client, id: &str, bad: &UpdateView) -> Result<UpdateView, Failure> {
    let good = client.update(id).await?.value;
    if (&good.bundle_id, &good.platform) != (&bad.bundle_id, &bad.platform) {
        return Err(Failure::usage(format!(
            "{id} is an update of {} for {}",
            good.bundle_id, good.platform
        )));
    }
    Ok(good)
}

/// A rollback differs from the bad update by its build number alone.
fn note_on_callers(bad: &UpdateView, context: &Context) {
    let version = &bad.version;
    context.printer.note(&format!(
        "Only phones that send currentBuild or currentUpdateId with their check get it. For a phone that sends neither, {version} is not newer than {version}."
    ));
    if let Some(callers) = bad.callers.filter(|callers| callers.without_build > 0) {
        context.printer.warn(&format!(
            "{} of the {} checks of this app since the server started sent neither: those phones cannot see the rollback",
            callers.without_build, callers.checks
        ));
    }
}

fn no_predecessor(bad: &UpdateView, updates: &[UpdateView]) -> Failure {
    let id = &bad.id;
    let message = match lineage::has_only_the_same_before(bad, updates) {
        true => format!("every published update before {id} has the same files"),
        false => format!("no published update before {id} runs on all of its devices"),
    };
    Failure::new(Exit::NotFound, message).hint(format!(
        "choose one with --to ID, or pause this one: launchway update pause {id}"
    ))
}

/// The version of the bad update, so that the next build number is higher on every device that has it.
fn rollback_request(good: UpdateView, bad: &UpdateView) -> CreateUpdate {
    CreateUpdate {
        source_update_id: Some(good.id),
        bundle_id: bad.bundle_id.clone(),
        platform: bad.platform.clone(),
        version: bad.version.clone(),
        build_number: Some(TextOrNumber::Text("auto".to_owned())),
        configuration: bad.configuration.clone(),
        fingerprint: good.fingerprint.map(FingerprintInput::Hash),
        release_notes: Some(good.release_notes),
        mandatory: Some(good.mandatory),
        ..CreateUpdate::default()
    }
}

fn line(update: &UpdateView) -> String {
    format!(
        "{} {} (build {}), {}",
        update.id, update.version, update.build_number, update.status
    )
}
