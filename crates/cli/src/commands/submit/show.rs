//! `submit show`: all details of one submission. The other commands print a submission in the same form.

use launchway_api::open::Open;
use launchway_api::submissions::{SubmissionOptions, SubmissionView};
use launchway_client::{Answer, Client};
use launchway_domain::submission::Store;

use crate::api_words::in_commands;
use crate::context::Context;
use crate::failure::Failure;
use crate::names::Names;
use crate::printer::fields::{fields, format_minute};

pub async fn run(id: &str, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.submission(id).await?;
    print(&answer, &client, context).await
}

/// Prints a submission.
pub async fn print(answer: &Answer<SubmissionView>, client: &Client, context: &Context) -> Result<(), Failure> {
    let submission = &answer.value;
    let ids = [Some(&submission.created_by), submission.credential_id.as_ref()];
    let names = Names::read(ids.into_iter().flatten().map(String::as_str), client, context).await;
    context.printer.result(&answer.body, || prose(submission, &names))
}

/// A submission as text.
fn prose(submission: &SubmissionView, names: &Names) -> String {
    let mut text = facts(submission, names);
    if !submission.release_notes.is_empty() {
        text.push_str("\nRelease notes\n");
        let notes = submission.release_notes.iter();
        let rows: Vec<_> = notes.map(|note| (note.locale.as_str(), note.text.clone())).collect();
        text.push_str(&fields(&rows));
    }
    if !submission.events.is_empty() {
        text.push_str("\nEvents\n");
        for event in &submission.events {
            let at = format_minute(&event.at);
            text.push_str(&fields(&[(
                at.as_str(),
                format!("{}: {}", event.status, event.message),
            )]));
        }
    }
    text
}

fn facts(submission: &SubmissionView, names: &Names) -> String {
    let or = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut status = submission.status.to_string();
    if submission.cancel_requested {
        status.push_str(", cancel requested");
    }
    if let Some(at) = &submission.retry_at {
        status.push_str(&format!(", tries again at {}", format_minute(at)));
    }
    let version = match (&submission.version, &submission.build_number) {
        (Some(version), Some(number)) => format!("{version} (build {number})"),
        (Some(version), None) => version.clone(),
        (None, Some(number)) => format!("build {number}"),
        (None, None) => String::new(),
    };
    let error = submission.error.as_ref();
    let store = match &submission.store {
        Open::Known(Store::AppStore) => "App Store",
        Open::Known(Store::GooglePlay) => "Google Play",
        Open::Unknown(other) => other,
    };
    let credential = submission.credential_id.as_deref();
    let external = submission.external.iter();
    let external: Vec<_> = external.map(|(name, id)| format!("{name} {id}")).collect();
    fields(&[
        ("Id", submission.id.clone()),
        ("Status", status),
        (
            "Error",
            error
                .map(|error| format!("{}: {}", error.code, error.message))
                .unwrap_or_default(),
        ),
        (
            "What to do",
            error.map(|error| in_commands(&error.fix)).unwrap_or_default(),
        ),
        ("App", submission.bundle_id.clone()),
        ("Platform", submission.platform.to_string()),
        ("Version", version),
        ("Store", store.to_owned()),
        ("Destination", submission.destination.to_string()),
        ("Rollout", format!("{} %", submission.rollout)),
        ("Options", options(&submission.options).join("\n")),
        ("Build", or(&submission.build_id)),
        ("Credential", credential.map(|id| names.label(id)).unwrap_or_default()),
        ("In the store", external.join("\n")),
        (
            "Created",
            format!("{} by {}", submission.created_at, names.label(&submission.created_by)),
        ),
        ("Finished", or(&submission.finished_at)),
    ])
}

/// The other options of the request, one per line.
fn options(options: &SubmissionOptions) -> Vec<String> {
    let yes = |value: Option<bool>, text: &str| value.unwrap_or(false).then(|| text.to_owned());
    let list = |values: &Option<Vec<String>>, text: &str| {
        let values = values.as_ref().filter(|values| !values.is_empty())?;
        Some(format!("{text} {}", values.join(", ")))
    };
    let symbols = options.symbols.iter().flatten();
    let symbols: Vec<&str> = symbols.map(|file| file.kind.as_str()).collect();
    let encryption = options.uses_non_exempt_encryption.map(|uses| match uses {
        true => "uses non-exempt encryption",
        false => "uses no non-exempt encryption",
    });
    [
        list(&options.groups, "for the groups"),
        encryption.map(str::to_owned),
        yes(options.manual_release, "released manually"),
        yes(options.draft, "draft only"),
        options.priority.map(|priority| format!("priority {priority}")),
        list(&options.countries, "in the countries"),
        options.release_name.as_ref().map(|name| format!("named {name}")),
        yes(options.changes_not_sent_for_review, "sent for review manually"),
        (!symbols.is_empty()).then(|| format!("with symbols: {}", symbols.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}
