//! Checks that released apps can run the update: compares its fingerprint with that of the newest build
//! (`docs/reference/command-line.md#incompatible-updates`).

use launchway_api::updates::{CreateUpdate, FingerprintInput};
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument};
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::CollectError;
use serde_json::{Value, json};

use crate::args::publish::PublishArgs;
use crate::commands::fingerprint::newest::{Kind, NO_BUILD, Newest, ReleasedApp};
use crate::commands::fingerprint::side::{Side, are_same, changes, difference};
use crate::commands::fingerprint::{diff, look};
use crate::commands::text_or_file;
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// The fingerprint of an update.
pub struct UpdateFingerprint {
    /// As the API accepts it.
    pub input: FingerprintInput,
    /// The `lwfp-2` hash, if the project is known.
    pub lwfp2: Option<String>,
    side: Side,
}

impl UpdateFingerprint {
    /// The hash, which an app's own must equal.
    pub fn hash(&self) -> String {
        self.side.hash.to_string()
    }
}

/// The fingerprint of the flag, or that of the project; `None` when there is no project, which is reported.
pub async fn update_fingerprint(
    platform: Platform,
    arguments: &PublishArgs,
    context: &Context,
) -> Result<Option<UpdateFingerprint>, Failure> {
    if let Some(told) = &arguments.fingerprint {
        let told = parse_fingerprint(told.clone(), platform)?;
        warn_of_another(&told, platform, arguments, context).await?;
        return Ok(Some(told));
    }
    match look(platform, arguments.profile.as_deref(), false, context).await? {
        Ok(found) => Ok(found.request_fields().map(|sent| UpdateFingerprint {
            input: sent.input,
            lwfp2: Some(sent.lwfp2),
            side: Side::of_project(found.documents),
        })),
        Err(CollectError::NoApp(_)) => {
            let note =
                "No app project found here, so the update has no fingerprint: apps get it whatever their native code";
            context.printer.note(note);
            Ok(None)
        }
        Err(problem) if arguments.allow_incompatible => {
            context
                .printer
                .warn(&format!("the update has no fingerprint: {problem}"));
            Ok(None)
        }
        Err(problem) => Err(
            Failure::failed(format!("cannot compute the fingerprint of the project: {problem}")).hint(
                "fix the problem, give --fingerprint HASH, or publish without a fingerprint with --allow-incompatible",
            ),
        ),
    }
}

/// Points out that the fingerprint of the flag is not that of the project. A project without one is not the caller's
/// concern: the flag replaces it.
async fn warn_of_another(
    told: &UpdateFingerprint,
    platform: Platform,
    arguments: &PublishArgs,
    context: &Context,
) -> Result<(), Failure> {
    let Ok(found) = look(platform, arguments.profile.as_deref(), false, context).await? else {
        return Ok(());
    };
    let project = Side::of_project(found.documents);
    if !are_same(&told.side, &project) {
        let hash = &project.hash;
        context.printer.warn(&format!(
            "--fingerprint is not the fingerprint of this project, {hash}: apps built from it are not offered the update"
        ));
    }
    Ok(())
}

/// Parses a hash, or with `@FILE` a document (`docs/reference/fingerprints.md#the-document`).
fn parse_fingerprint(argument: String, platform: Platform) -> Result<UpdateFingerprint, Failure> {
    let is_file = argument.starts_with('@');
    let text = text_or_file(argument)?;
    if !is_file {
        let hash = Fingerprint::parse(&text).map_err(|error| Failure::usage(format!("--fingerprint {error}")))?;
        let side = Side {
            hash,
            lwfp2: None,
            document: None,
            platform,
        };
        return Ok(UpdateFingerprint {
            input: FingerprintInput::Hash(text),
            lwfp2: None,
            side,
        });
    }
    let hint = "to give a hash, omit the @: --fingerprint HASH";
    let document = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("the fingerprint document is not a JSON object: {error}")).hint(hint)
    })?;
    let read = FingerprintDocument::from_value(Value::Object(document))
        .map_err(|error| Failure::usage(format!("the fingerprint document: {error}")).hint(hint))?;
    Ok(UpdateFingerprint {
        input: FingerprintInput::Document(serde_json::from_str(&text).unwrap_or_default()),
        lwfp2: None,
        side: Side::of(read),
    })
}

/// Rejects an update that the newest successful build of its app cannot run, unless a flag allows it. Without such a
/// build, the newest update counts.
pub async fn check(
    here: Option<&UpdateFingerprint>,
    arguments: &PublishArgs,
    create: &CreateUpdate,
    context: &Context,
) -> Result<(), Failure> {
    let Some(UpdateFingerprint { side: here, .. }) = here else {
        return Ok(());
    };
    let app = ReleasedApp {
        bundle_id: &create.bundle_id,
        platform: create.platform.as_str(),
        configuration: create.configuration.as_deref(),
    };
    let Some(newest) = app.newest(context).await? else {
        context
            .printer
            .note(&format!("{NO_BUILD}, so compatibility is not checked"));
        return Ok(());
    };
    let (id, there) = (&newest.id, &newest.side);
    let Some(reason) = difference(there, here) else {
        if newest.kind == Kind::Update {
            let note = format!("{NO_BUILD}; the newest update, {id}, is for the same native code");
            context.printer.note(&note);
        }
        return Ok(());
    };
    // Without both documents, the reason adds nothing to the sentence.
    let named = match changes(there, here) {
        Some(_) => format!(": {reason}"),
        None => String::new(),
    };
    let (message, hint) = refusal(&newest, &named);
    if arguments.allow_incompatible {
        context.printer.warn(&message);
        return Ok(());
    }
    let mut json = diff::json(there, here);
    json["against"] = json!(id);
    context
        .printer
        .result(&json.to_string(), || diff::prose(there, here, context))?;
    Err(Failure::new(Exit::Incompatible, message).hint(hint))
}

/// Why the update is refused, and what to do. `named` is the difference, after a colon.
fn refusal(newest: &Newest, named: &str) -> (String, &'static str) {
    let id = &newest.id;
    match newest.kind {
        Kind::Build => (
            format!("the newest build, {id}, cannot run this update because the native code differs{named}"),
            "submit a new build to the store first; with --allow-incompatible, apps of that build ask for a store update",
        ),
        Kind::Update => (
            format!(
                "the newest update, {id}, is for other native code{named}; no successful build of this app has a fingerprint yet"
            ),
            "submit a build with this native code to the store first, then publish with --allow-incompatible",
        ),
    }
}
