//! `embed`: writes the fingerprint, the root of signed updates and the settings of the SDK to where the app reads them
//! from its native binary. It reads committed files only, never the server.

use std::str::FromStr;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::embed::{EmbedError, Embedded, embed, embed_settings, embed_trust};
use launchway_project::sdk::settings::{BuiltApp, SdkSettings, settings};
use launchway_project::source::Source;
use launchway_project::trust_file::{self, AppTrust};
use serde_json::{Value, json};

use crate::args::fingerprint::EmbedArgs;
use crate::commands::app::{self, App};
use crate::commands::fingerprint::{Collected, look, platforms};
use crate::context::Context;
use crate::failure::Failure;

/// Embeds everything. Without a trust file it fails.
pub async fn run(arguments: EmbedArgs, context: &Context) -> Result<(), Failure> {
    write(arguments, true, context).await
}

/// The same for a project that may have no trust file.
pub async fn run_if_trusted(arguments: EmbedArgs, context: &Context) -> Result<(), Failure> {
    write(arguments, false, context).await
}

/// What the app on a platform gets besides the fingerprint.
struct Parts {
    platform: Platform,
    trust: Option<AppTrust>,
    sdk: Option<SdkSettings>,
}

async fn write(arguments: EmbedArgs, needs_trust: bool, context: &Context) -> Result<(), Failure> {
    let platforms = match arguments.platform {
        Some(platform) => vec![platform],
        None => platforms(&arguments.app, context)?,
    };
    let profile = arguments.app.profile.as_deref();
    // Nothing is written for one platform when another one lacks something.
    let parts = platforms.into_iter().map(|platform| {
        let trust = trust(platform, profile, context)?;
        let sdk = sdk(platform, profile, context)?;
        Ok(Parts { platform, trust, sdk })
    });
    let parts = parts.collect::<Result<Vec<_>, Failure>>()?;
    if needs_trust && parts.iter().any(|part| part.trust.is_none()) {
        let message = format!(
            "{} does not exist, so the app would take unsigned updates",
            trust_file::NAME
        );
        return Err(Failure::failed(message)
            .hint("`launchway trust init` creates it; `launchway fingerprint embed` does not need it"));
    }
    let (mut items, mut prose) = (Vec::new(), String::new());
    let mut problem = None;
    for part in parts {
        let platform = part.platform;
        match look(platform, profile, arguments.generated, context).await? {
            Ok(found) => {
                let (lines, item) = write_one(&part, &found, profile, context)?;
                prose.push_str(&lines);
                items.push(item);
            }
            Err(error) if arguments.platform.is_none() => {
                context.printer.warn(&format!("{platform}: {error}"));
                problem = problem.or(Some(error));
            }
            Err(error) => return Err(Failure::failed(error.to_string())),
        }
    }
    if let Some(problem) = problem.filter(|_| items.is_empty()) {
        return Err(Failure::failed(problem.to_string()));
    }
    context.printer.result(&json!({ "items": items }).to_string(), || prose)
}

/// Writes for one platform. Returns the lines and the object that report it.
fn write_one(
    part: &Parts,
    found: &Collected,
    profile: Option<&str>,
    context: &Context,
) -> Result<(String, Value), Failure> {
    let platform = part.platform;
    let hash = found.documents.hash();
    let place = app::place(platform, profile, context)?;
    let root = context.settings.root.join(place.directory);
    let mut files = embed(&root, found.framework, platform, &hash).map_err(|error| failed(&error))?;
    let mut lines = describe(platform, hash.as_str(), &files);
    if let Some(trust) = &part.trust {
        let trusted = embed_trust(&root, found.framework, platform, trust).map_err(|error| failed(&error))?;
        let what = format!("root {} of {}", trust.root_version, trust.path);
        lines.push_str(&describe(platform, &what, &trusted));
        files.extend(trusted);
    }
    if let Some(sdk) = &part.sdk {
        let written = embed_settings(&root, found.framework, platform, sdk).map_err(|error| failed(&error))?;
        lines.push_str(&describe(platform, &settings_line(sdk), &written));
        files.extend(written);
    }
    Ok((lines, item(part, hash.as_str(), &files)))
}

/// The settings of the SDK for the app on a platform; `None` if it does not contain the SDK.
fn sdk(platform: Platform, profile: Option<&str>, context: &Context) -> Result<Option<SdkSettings>, Failure> {
    let source = Source::new(&context.settings.root);
    let app = BuiltApp {
        platform,
        profile,
        configuration: None,
    };
    settings(&source, &context.settings.project, app).map_err(|error| Failure::failed(error.to_string()))
}

fn settings_line(sdk: &SdkSettings) -> String {
    let of = sdk.configuration.as_deref().unwrap_or("no configuration");
    format!("settings of the SDK for {of} on {}", sdk.server_url)
}

/// The trust file of the app on a platform, with a warning if its root is another app's.
fn trust(platform: Platform, profile: Option<&str>, context: &Context) -> Result<Option<AppTrust>, Failure> {
    let mut app = None;
    let bundle_id = || {
        let project = App::read(platform, profile, None, context).ok()?;
        let id = project.bundle_id(None, context).ok()?;
        app = BundleId::from_str(&id).ok();
        app.clone()
    };
    let found = trust_file::find(&context.settings.root, bundle_id);
    let found = found.map_err(|error| Failure::failed(error.to_string()))?;
    if let Some((trust, app)) = found.as_ref().zip(app).filter(|(trust, app)| trust.owner != *app) {
        let (path, owner) = (&trust.path, &trust.owner);
        context
            .printer
            .warn(&format!("{path} is for {owner}: {app} will take no updates"));
    }
    Ok(found)
}

fn describe(platform: Platform, what: &str, files: &[Embedded]) -> String {
    let lines = files.iter().map(|file| {
        let outcome = if file.changed { "written" } else { "unchanged" };
        format!("{platform}  {what}  {} {outcome}\n", file.path)
    });
    lines.collect()
}

fn item(part: &Parts, hash: &str, files: &[Embedded]) -> Value {
    let files = files
        .iter()
        .map(|file| json!({ "path": file.path, "changed": file.changed }));
    let mut item = json!({ "platform": part.platform, "fingerprint": hash, "files": files.collect::<Vec<_>>() });
    if let Some(trust) = &part.trust {
        item["trust"] = json!({ "path": trust.path, "root": trust.root_version });
    }
    if let Some(sdk) = &part.sdk {
        item["sdk"] = json!(sdk);
    }
    item
}

fn failed(error: &EmbedError) -> Failure {
    Failure::failed(error.to_string())
}
