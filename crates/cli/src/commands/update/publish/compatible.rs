//! Checks that released apps can run the update: compares its fingerprint with that of the newest build
//! (`docs/reference/command-line.md#incompatible-updates`).

use launchway_api::updates::{CreateUpdate, FingerprintInput};
use launchway_client::Client;
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument};
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::CollectError;
use serde_json::{Value, json};

use crate::args::publish::PublishArgs;
use crate::commands::fingerprint::side::{Side, changes, difference, side_from_view};
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
    arguments: &PublishArgs,
    context: &Context,
) -> Result<Option<UpdateFingerprint>, Failure> {
    let platform = arguments.platform;
    if let Some(told) = &arguments.fingerprint {
        return parse_fingerprint(told.clone(), platform).map(Some);
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

/// Rejects an update that the newest successful build of its app cannot run, unless a flag allows it.
pub async fn check(
    here: Option<&UpdateFingerprint>,
    arguments: &PublishArgs,
    create: &CreateUpdate,
    client: &Client,
    context: &Context,
) -> Result<(), Failure> {
    let Some(UpdateFingerprint { side: here, .. }) = here else {
        return Ok(());
    };
    let configuration = create.configuration.as_deref();
    let newest = client.latest_fingerprint(&create.bundle_id, create.platform.as_str(), configuration);
    let Some(newest) = newest.await? else {
        let note = "No successful build of this app has a fingerprint yet, so compatibility is not checked";
        context.printer.note(note);
        return Ok(());
    };
    let (id, there) = (&newest.value.id, side_from_view(&newest.value)?);
    let Some(reason) = difference(&there, here) else {
        return Ok(());
    };
    // Without both documents, the reason adds nothing to the sentence.
    let named = match changes(&there, here) {
        Some(_) => format!(": {reason}"),
        None => String::new(),
    };
    let message = format!("the newest build, {id}, cannot run this update because the native code differs{named}");
    if arguments.allow_incompatible {
        context.printer.warn(&message);
        return Ok(());
    }
    let mut json = diff::json(&there, here);
    json["against"] = json!(id);
    context
        .printer
        .result(&json.to_string(), || diff::prose(&there, here, context))?;
    Err(Failure::new(Exit::Incompatible, message).hint(
        "submit a new build to the store first; with --allow-incompatible, apps of that build ask for a store update",
    ))
}
