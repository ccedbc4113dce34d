//! `native-needed`: whether an update of this project runs in an app that is already released.

use launchway_domain::platform::Platform;
use serde_json::json;

use crate::args::fingerprint::NativeNeededArgs;
use crate::commands::app::App;
use crate::commands::fingerprint::newest::{Kind, NO_BUILD, ReleasedApp};
use crate::commands::fingerprint::side::{Side, changes, difference};
use crate::context::Context;
use crate::failure::{Exit, Failure};

pub async fn run(arguments: NativeNeededArgs, context: &Context) -> Result<(), Failure> {
    let (name, there, here) = if arguments.against == "latest" {
        let here = Side::local(arguments.platform, &arguments.app, context).await?;
        let (name, there) = latest(&arguments, here.platform, context).await?;
        (name, there, here)
    } else {
        let there = Side::read(&arguments.against, context).await?;
        let platform = arguments.platform.unwrap_or(there.platform);
        let here = Side::local(Some(platform), &arguments.app, context).await?;
        (arguments.against.clone(), there, here)
    };
    let reason = difference(&there, &here);
    let json = json!({
        "needed": reason.is_some(),
        "reason": reason,
        "against": name,
        "platform": here.platform,
        "there": there.hash.as_str(),
        "here": here.hash.as_str(),
    });
    context.printer.result(&json.to_string(), || match &reason {
        None => format!("No store build is needed: {name} can run updates of this project\n"),
        Some(_) => String::new(),
    })?;
    match reason {
        None => Ok(()),
        Some(reason) => {
            // Without both documents, the reason adds nothing to the sentence.
            let named = if changes(&there, &here).is_some() {
                format!(": {reason}")
            } else {
                String::new()
            };
            let message = format!("a store build is needed because the native code of {name} differs{named}");
            Err(Failure::new(Exit::StoreBuildNeeded, message))
        }
    }
}

/// The newest successful build with a fingerprint, or else the newest such update, and its id.
async fn latest(
    arguments: &NativeNeededArgs,
    platform: Platform,
    context: &Context,
) -> Result<(String, Side), Failure> {
    let bundle_id = match &arguments.bundle_id {
        Some(told) => told.to_string(),
        None => App::read(platform, arguments.app.profile.as_deref(), None, context)?.bundle_id(None, context)?,
    };
    let configuration = match &arguments.configuration {
        Some(told) => Some(told.to_string()),
        None => context.settings.update().configuration.clone(),
    };
    let app = ReleasedApp {
        bundle_id: &bundle_id,
        platform: platform.as_str(),
        configuration: configuration.as_deref(),
    };
    match app.newest(context).await? {
        Some(newest) => {
            if newest.kind == Kind::Update {
                let id = &newest.id;
                let note = format!("{NO_BUILD}; the newest update, {id}, is compared instead");
                context.printer.note(&note);
            }
            Ok((newest.id, newest.side))
        }
        None => Err(Failure::new(
            Exit::NotFound,
            format!("{bundle_id} has no build or update for {platform} with a fingerprint"),
        )
        .hint("build the app, or publish an update from the project")),
    }
}
