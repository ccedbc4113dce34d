//! `native-needed`: whether an update of this project runs in an app that is already released.

use launchway_api::updates::UpdateView;
use launchway_client::{Paging, UpdateFilter};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use serde_json::json;

use crate::args::fingerprint::NativeNeededArgs;
use crate::commands::app::App;
use crate::commands::fingerprint::side::{Side, changes, difference, fetch_side, side_from_view};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: Paging = Paging { limit: 100, offset: 0 };

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
    let client = context.client()?;
    if let Some(found) = client.latest_fingerprint(&bundle_id, platform.as_str(), None).await? {
        return Ok((found.value.id.clone(), side_from_view(&found.value)?));
    }
    let filter = UpdateFilter {
        bundle_id: Some(bundle_id.clone()),
        platform: Some(platform.to_string()),
        status: Some("published".to_owned()),
        ..UpdateFilter::default()
    };
    let updates = client.updates(&filter, PAGE).await?.value.items;
    let order = |update: &UpdateView| {
        (
            Version::parse(&update.version).ok(),
            BuildNumber::parse(&update.build_number).ok(),
        )
    };
    let newest = updates.iter().filter(|update| update.fingerprint.is_some());
    match newest.max_by(|this, that| order(this).cmp(&order(that))) {
        Some(UpdateView { id, .. }) => Ok((id.clone(), fetch_side(id, context).await?)),
        None => Err(Failure::new(
            Exit::NotFound,
            format!("{bundle_id} has no build or update for {platform} with a fingerprint"),
        )
        .hint("build the app, or publish an update from the project")),
    }
}
