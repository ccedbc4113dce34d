//! `update show`: all details of one update. The other commands print an update in the same form.

use indicatif::HumanBytes;
use launchway_api::reports::{CrashGroup, ReportCounts};
use launchway_api::updates::UpdateView;
use launchway_client::{Answer, BaseUrl, Client};
use launchway_domain::crash::MAX_GROUP_DEVICES;
use launchway_domain::release::{Format, UpdateKind};
use launchway_domain::update::UpdateStatus;

use crate::commands::update::signing::sign_command;
use crate::context::Context;
use crate::failure::Failure;
use crate::names::Names;
use crate::printer::fields::{count_files, fields};

/// The lines of a stack that are printed; `--json` prints all.
const STACK_LINES: usize = 10;

pub async fn run(id: &str, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.update(id).await?;
    print(&answer, &client, context).await
}

/// Prints an update.
pub async fn print(answer: &Answer<UpdateView>, client: &Client, context: &Context) -> Result<(), Failure> {
    let names = names(&answer.value, client, context).await;
    context.printer.result(&answer.body, || prose(&answer.value, &names))
}

/// The names of what the text of an update identifies.
pub async fn names(update: &UpdateView, client: &Client, context: &Context) -> Names {
    Names::read([update.created_by.as_str()], client, context).await
}

/// Prints a new update, with the check that an app would make.
pub async fn print_published(answer: &Answer<UpdateView>, client: &Client, context: &Context) -> Result<(), Failure> {
    // An app for which every update is newer.
    with_check(answer, ("0.0.0", "0"), client, context).await
}

/// Prints an update that replaces a bad one, with the check of an app that runs the bad one.
pub async fn print_rollback(
    answer: &Answer<UpdateView>,
    bad: (&str, &str),
    client: &Client,
    context: &Context,
) -> Result<(), Failure> {
    with_check(answer, bad, client, context).await
}

/// Prints an update, with the check of an app of this version and build.
async fn with_check(
    answer: &Answer<UpdateView>,
    installed: (&str, &str),
    client: &Client,
    context: &Context,
) -> Result<(), Failure> {
    let update = &answer.value;
    if update.status == UpdateStatus::AwaitingSignature {
        return print_awaiting(answer, client, context).await;
    }
    let names = names(update, client, context).await;
    context.printer.result(&answer.body, || {
        let check = check_url(update, installed, client.base());
        format!("{}\nTo check like an app:\n  curl '{check}'\n", prose(update, &names))
    })?;
    context.note_page(client.base(), &update.id);
    Ok(())
}

/// Prints an update that waits, with what a holder of a key runs.
async fn print_awaiting(answer: &Answer<UpdateView>, client: &Client, context: &Context) -> Result<(), Failure> {
    let role = answer.value.trust_role.as_deref().unwrap_or("its role");
    let command = sign_command(&answer.value);
    print(answer, client, context).await?;
    context.note_page(client.base(), &answer.value.id);
    // Also beside JSON: people look for it in the log of CI.
    context.printer.note(&format!(
        "Not offered yet. To publish it, somebody with a key of {role} runs:\n  {command}"
    ));
    Ok(())
}

/// An update in one line, by its id and what people call it.
pub fn named(update: &UpdateView) -> String {
    let configuration = update.configuration.as_deref().unwrap_or("all configurations");
    format!(
        "{}, {} (build {}) of {} for {}, {configuration}",
        update.id, update.version, update.build_number, update.bundle_id, update.platform
    )
}

/// An update as text.
pub fn prose(update: &UpdateView, names: &Names) -> String {
    let or = |value: &Option<String>, none: &str| value.clone().unwrap_or_else(|| none.to_owned());
    let mandatory = if update.mandatory { "yes" } else { "" };
    let size = HumanBytes(update.size.try_into().unwrap_or(0));
    let package = format!("{size}, {}", count_files(update.file_count));
    let mut rows = vec![
        ("Id", update.id.clone()),
        ("Status", update.status.to_string()),
        ("App", update.bundle_id.clone()),
        ("Platform", update.platform.to_string()),
        ("Version", format!("{} (build {})", update.version, update.build_number)),
        ("Configuration", or(&update.configuration, "all")),
        ("Fingerprint", or(&update.fingerprint, "any")),
        ("Rollout", format!("{} %", update.rollout)),
        ("Mandatory", mandatory.to_owned()),
        ("Package", package),
        ("SHA-256", update.sha256.clone()),
        ("Signed by", or(&update.trust_role, "")),
        ("Same bytes as", or(&update.source_update_id, "")),
        ("Build", or(&update.build_id, "")),
        (
            "Published",
            format!("{} by {}", update.created_at, names.label(&update.created_by)),
        ),
    ];
    rows.extend(release(update));
    rows.push(("Notes", update.release_notes.clone()));
    let mut text = fields(&rows);
    if let Some(reports) = &update.reports {
        text.push_str(&counted(reports));
    }
    text
}

/// What the update is to clients of other services; empty texts for one that is only for our own.
fn release(update: &UpdateView) -> [(&'static str, String); 5] {
    let ids = update.foreign_ids.as_deref().unwrap_or_default();
    let is_ours = update.format == Format::Archive && update.kind == UpdateKind::Update && ids.is_empty();
    let form = match update.kind == UpdateKind::Embedded {
        true => "none: a return to the built-in content".to_owned(),
        false => update.format.to_string(),
    };
    let names: Vec<String> = ids.iter().map(|id| format!("{} in {}", id.id, id.protocol)).collect();
    let place = update.sequence.map(|place| place.to_string()).unwrap_or_default();
    let unless_ours = |text: String| if is_ours { String::new() } else { text };
    [
        ("Format", unless_ours(form)),
        ("Sequence", unless_ours(place)),
        ("Runtime", update.runtime_version.clone().unwrap_or_default()),
        ("App versions", update.binary_range.clone().unwrap_or_default()),
        ("Known as", names.join(", ")),
    ]
}

fn counted(reports: &ReportCounts) -> String {
    let mut text = "\nReports of devices\n".to_owned();
    text.push_str(&fields(&[
        ("Downloaded", reports.downloaded.to_string()),
        ("Installed", reports.installed.to_string()),
        ("Confirmed", reports.confirmed.to_string()),
        ("Rolled back", reports.rolled_back.to_string()),
        ("Failed", reports.failed.to_string()),
    ]));
    for reason in &reports.reasons {
        text.push_str(&fields(&[(
            reason.kind.as_str(),
            format!("{}  {}", reason.at, reason.reason),
        )]));
    }
    text + &crashes(&reports.crashes)
}

/// The groups of crashes, each with the beginning of its stack.
fn crashes(groups: &[CrashGroup]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let devices: Vec<String> = groups.iter().map(|group| count_devices(group.devices)).collect();
    let rows: Vec<_> = devices
        .iter()
        .map(String::as_str)
        .zip(groups.iter().map(crash))
        .collect();
    format!("\nCrashes\n{}", fields(&rows))
}

/// When a crash was last reported, and the beginning of its stack.
fn crash(group: &CrashGroup) -> String {
    let mut lines = group.stack.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().map_or("no stack", str::trim);
    let mut text = format!("{}  {first}", group.last_seen_at);
    for line in lines.by_ref().take(STACK_LINES - 1) {
        text.push('\n');
        text.push_str(line);
    }
    match lines.count() {
        0 => {}
        1 => text.push_str("\n… 1 more line with --json"),
        more => text.push_str(&format!("\n… {more} more lines with --json")),
    }
    text
}

fn count_devices(devices: i64) -> String {
    match devices {
        1 => "1 device".to_owned(),
        MAX_GROUP_DEVICES.. => format!("{MAX_GROUP_DEVICES} devices or more"),
        _ => format!("{devices} devices"),
    }
}

/// The public check of an app that could receive this update.
fn check_url(update: &UpdateView, (version, build): (&str, &str), base: &BaseUrl) -> String {
    let Ok(mut url) = base.join("/update/check") else {
        return String::new();
    };
    if let Ok(mut path) = url.path_segments_mut() {
        path.push(&update.bundle_id);
    }
    let mut query = url.query_pairs_mut();
    query
        .append_pair("currentVersion", version)
        .append_pair("currentBuild", build)
        .append_pair("platform", update.platform.as_str());
    if let Some(configuration) = &update.configuration {
        query.append_pair("configuration", configuration);
    }
    if let Some(fingerprint) = &update.fingerprint {
        query.append_pair("fingerprint", fingerprint);
    }
    if update.rollout < 100 {
        query.append_pair("deviceId", "any-device");
    }
    drop(query);
    url.into()
}
