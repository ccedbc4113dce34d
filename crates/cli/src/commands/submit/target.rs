//! The destination of a submission, its testers and release notes: from the flags, or else from
//! `[submit.<profile>.<platform>]` of `launchway.toml`.

use launchway_api::open;
use launchway_api::submissions::{CreateSubmission, ReleaseNote, SubmissionOptions};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::{Destination, KnownDestination};
use launchway_domain::submission::locale;
use launchway_project::file::{Project, StoreTarget};

use crate::args::submit::TargetArgs;
use crate::commands::text_or_file;
use crate::failure::Failure;

/// The profile that is used when none is named and there are several.
const USUAL: &str = "production";

/// Assembles the request without the app. Fails when a value is missing or invalid.
pub fn from(platform: Platform, arguments: &TargetArgs, project: &Project) -> Result<CreateSubmission, Failure> {
    let (profile, written) = profile(platform, arguments, project)?;
    let written = written.unwrap_or_default();
    let Some(destination) = arguments.destination.clone().or(written.destination) else {
        let message = match &profile {
            Some(name) => format!("[submit.{name}.{platform}] in launchway.toml has no destination"),
            None => "no destination specified".to_owned(),
        };
        let example = match platform {
            Platform::Android => KnownDestination::Internal,
            Platform::Ios | Platform::Visionos => KnownDestination::TestFlight,
        };
        return Err(Failure::usage(message).hint(format!(
            "give --destination, such as {example}, or set destination under [submit.production.{platform}] in launchway.toml"
        )));
    };
    let store = Destination::parse(platform, &destination)
        .map_err(|problem| Failure::usage(format!("the destination {problem}, not {destination}")))?
        .store();
    let release_notes = match &arguments.release_notes {
        Some(text) => vec![ReleaseNote {
            locale: arguments.locale.clone(),
            text: text_or_file(text.clone())?,
        }],
        None => {
            let notes = written.release_notes.into_iter();
            notes.map(|(locale, text)| ReleaseNote { locale, text }).collect()
        }
    };
    for note in &release_notes {
        // The server says so, too, but only after the upload.
        locale::check(store, &note.locale).map_err(|unknown| Failure::usage(format!("release notes: {unknown}")))?;
    }
    let options = SubmissionOptions {
        groups: some(&arguments.groups, written.groups),
        uses_non_exempt_encryption: arguments
            .uses_non_exempt_encryption
            .or(written.uses_non_exempt_encryption),
        manual_release: arguments.manual_release.then_some(true).or(written.manual_release),
        draft: arguments.draft.then_some(true).or(written.draft),
        priority: arguments.priority.or(written.priority).map(i64::from),
        countries: some(&arguments.countries, written.countries),
        release_name: arguments.release_name.clone(),
        changes_not_sent_for_review: arguments
            .changes_not_sent_for_review
            .then_some(true)
            .or(written.changes_not_sent_for_review),
        symbols: None,
    };
    Ok(CreateSubmission {
        destination: open::KnownDestination::of(destination),
        rollout: arguments.rollout.or(written.rollout).map(i64::from),
        release_notes: Some(release_notes).filter(|notes| !notes.is_empty()),
        credential_id: arguments.credential.clone().or(written.credential_id),
        options: Some(options).filter(|options| *options != SubmissionOptions::default()),
        ..CreateSubmission::default()
    })
}

/// The name of the profile and its settings for the platform; `None` when none is named and `launchway.toml` has none.
fn profile(
    platform: Platform,
    arguments: &TargetArgs,
    project: &Project,
) -> Result<(Option<String>, Option<StoreTarget>), Failure> {
    let profiles = &project.submit;
    let name = match (&arguments.profile, profiles.len()) {
        (Some(name), _) => name.clone(),
        (None, 0) => return Ok((None, None)),
        (None, 1) => profiles.keys().next().cloned().unwrap_or_default(),
        (None, _) if profiles.contains_key(USUAL) => USUAL.to_owned(),
        (None, _) => {
            let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
            let message = format!("launchway.toml has several submit profiles: {}", names.join(", "));
            return Err(Failure::usage(message).hint("choose one with --profile NAME"));
        }
    };
    let Some(found) = profiles.get(&name) else {
        let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
        let message = match names.is_empty() {
            true => format!("launchway.toml has no [submit.{name}] and no other submit profile"),
            false => format!("launchway.toml has no [submit.{name}]; it has {}", names.join(", ")),
        };
        return Err(Failure::usage(message));
    };
    let target = match platform {
        Platform::Android => &found.android,
        Platform::Ios => &found.ios,
        Platform::Visionos => &found.visionos,
    };
    Ok((target.is_some().then_some(name), target.clone()))
}

/// The values of the flag, or those of the file; `None` when both are empty.
fn some(requested: &[String], written: Vec<String>) -> Option<Vec<String>> {
    let values = if requested.is_empty() {
        written
    } else {
        requested.to_vec()
    };
    Some(values).filter(|values| !values.is_empty())
}
