//! `init`: detects the project, writes a commented `launchway.toml`, and adds the SDK to the app.

mod diff;
mod ids;
pub mod sdk;
mod template;
mod update_clients;
mod workspace;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::str::FromStr;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::file::NAME;
use launchway_project::framework::{Framework, detect};
use launchway_project::native_version;
use launchway_project::packages::Packages;
use launchway_project::resolve::{app_location, app_profile, variant};
use launchway_project::source::Source;
use serde_json::json;

use self::ids::Ids;
use self::sdk::{Missing, Outcome};
use self::template::Answers;
use self::update_clients::{Moving, UpdateClients};
use self::workspace::Workspace;
use crate::args::project::InitArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::settings::Origin;

pub async fn run(arguments: InitArgs, context: &Context) -> Result<(), Failure> {
    let here = Path::new("");
    if here.join(NAME).exists() {
        return complete(here, &arguments, context).await;
    }
    let framework = framework(here, "");
    let mut answers = Answers {
        ids: match arguments.bundle_id {
            Some(id) => Ids::One(Some(id.to_string())),
            None => Ids::read(&absolute(here), framework),
        },
        url: server(context),
        dir: framework.and_then(|framework| built(framework, here)),
        framework,
    };
    let workspace = Workspace::of(here);
    match framework {
        Some(framework) => context
            .printer
            .note(&format!("Detected framework: {}", framework.title())),
        None => context.printer.warn("cannot detect the framework of this project"),
    }
    if let Some(workspace) = &workspace {
        context
            .printer
            .note(&format!("{}; {}", workspace.told(), workspace.consequence()));
    }
    if !arguments.yes && context.terminal.is_interactive() {
        ask(&mut answers, context).await?;
    }
    let moving = Moving::of(&answers.ids, answers.url.clone());
    let clients = UpdateClients::find(&absolute(here), "", framework, context, moving);
    let missing = match arguments.no_sdk || clients.excludes_sdk() {
        true => None,
        false => Missing::find(&absolute(here), "", framework, context)?,
    };
    write(&here.join(NAME), &template::write(&answers))?;
    let outcome = match &missing {
        Some(missing) => Some(add(missing, here, arguments.yes, context).await?),
        None => None,
    };
    clients.show(context);
    tell(&answers, workspace.as_ref(), &clients, outcome.as_ref(), context)?;
    if let Some((missing, outcome)) = missing.as_ref().zip(outcome.as_ref()) {
        missing.tell_next(outcome, context);
    }
    if outcome.is_some() && answers.url.is_none() {
        context
            .printer
            .warn("no server specified; set url under [server] in launchway.toml: apps with the SDK ask that server");
    }
    context
        .printer
        .note("Next: `launchway login` signs you in, `launchway doctor` checks the project");
    Ok(())
}

/// Adds what the app of a project with settings lacks of the SDK.
async fn complete(here: &Path, arguments: &InitArgs, context: &Context) -> Result<(), Failure> {
    let profiles = &context.settings.project.build;
    // Profiles that mean several apps leave the directory of the file.
    let place = app_location(profiles, None, Platform::Android).unwrap_or_default();
    let framework = place.framework.or_else(|| framework(here, &place.directory));
    let clients = UpdateClients::find(
        &absolute(here),
        &place.directory,
        framework,
        context,
        moving(here, context),
    );
    clients.show(context);
    let missing = match arguments.no_sdk || clients.excludes_sdk() {
        true => None,
        false => Missing::find(&absolute(here), &place.directory, framework, context)?,
    };
    let Some(missing) = missing else {
        if clients.is_empty() {
            return Err(exists_failure());
        }
        let summary = json!({ "path": NAME, "sdk": null, "updateClients": clients.json() });
        return context
            .printer
            .result(&summary.to_string(), || fields(&[("Update client", clients.line())]));
    };
    missing.show(context);
    if missing.has_changes() {
        let question = "Add the SDK to these files?";
        context.terminal.require_confirmation(question, arguments.yes).await?;
        missing.write(here)?;
    }
    let outcome = missing.outcome(true);
    let summary = json!({ "path": NAME, "sdk": outcome.json(), "updateClients": clients.json() });
    context
        .printer
        .result(&summary.to_string(), || match missing.is_nothing() {
            true => format!("Nothing to change: {NAME} exists, and the app contains the SDK\n"),
            false => fields(&[("SDK", outcome.line())]),
        })?;
    missing.tell_next(&outcome, context);
    Ok(())
}

/// The server and the app of a project with settings.
fn moving(here: &Path, context: &Context) -> Moving {
    let settings = &context.settings;
    let server = settings.url.as_ref().map(|url| without_api(&url.value.to_string()));
    let id = |platform| {
        let (name, profile) = app_profile(&settings.project.build, None, platform).ok()?;
        let stated = settings.project.bundle_id(name.as_deref(), platform);
        let root = absolute(here).join(profile.directory.as_deref().unwrap_or_default());
        let native = || native_version::read(&root, platform, &variant(&profile, None)).bundle_id;
        stated
            .map(|stated| stated.value)
            .or_else(|| native().map(|found| found.value))
    };
    Moving {
        server,
        android: id(Platform::Android),
        ios: id(Platform::Ios),
    }
}

/// Adds what the app lacks, if the user wants it.
async fn add(missing: &Missing, here: &Path, yes: bool, context: &Context) -> Result<Outcome, Failure> {
    missing.show(context);
    let is_wanted = match (missing.has_changes(), yes, context.terminal.is_interactive()) {
        (false, ..) | (_, true, _) => true,
        (_, _, true) => context.terminal.confirm("Add the SDK to these files?").await?,
        (_, _, false) => false,
    };
    match is_wanted {
        true => missing.write(here)?,
        false => context
            .printer
            .note("The SDK was not added; `launchway init --yes` adds it"),
    }
    Ok(missing.outcome(is_wanted))
}

/// Asks for the settings, with the detected values as defaults.
async fn ask(answers: &mut Answers, context: &Context) -> Result<(), Failure> {
    let terminal = context.terminal;
    match &mut answers.ids {
        Ids::One(id) => ask_for_id("Bundle identifier", id, context).await?,
        Ids::Several(ids) => {
            for (platform, id) in ids {
                ask_for_id(&format!("Bundle identifier on {platform}"), id, context).await?;
            }
        }
    }
    let given = terminal.ask("Server", answers.url.as_deref()).await?;
    if !given.is_empty() {
        launchway_client::BaseUrl::from_str(&given)
            .map_err(|why| Failure::usage(format!("the address of the server: {why}")))?;
        answers.url = Some(given);
    }
    let given = terminal
        .ask("Directory of the built web app or bundle", answers.dir.as_deref())
        .await?;
    answers.dir = Some(given).filter(|dir| !dir.is_empty());
    Ok(())
}

async fn ask_for_id(question: &str, id: &mut Option<String>, context: &Context) -> Result<(), Failure> {
    let given = context.terminal.ask(question, id.as_deref()).await?;
    if !given.is_empty() {
        BundleId::from_str(&given).map_err(|problem| Failure::usage(format!("the bundle identifier {problem}")))?;
        *id = Some(given);
    }
    Ok(())
}

fn tell(
    answers: &Answers,
    workspace: Option<&Workspace>,
    clients: &UpdateClients,
    sdk: Option<&Outcome>,
    context: &Context,
) -> Result<(), Failure> {
    let name = |framework: Framework| framework.as_str();
    let (one, several) = match &answers.ids {
        Ids::One(id) => (id.clone(), None),
        Ids::Several(ids) => {
            let ids: BTreeMap<&str, &Option<String>> =
                ids.iter().map(|(platform, id)| (platform.as_str(), id)).collect();
            (None, Some(ids))
        }
    };
    let summary = json!({
        "path": NAME,
        "framework": answers.framework.map(name),
        "bundleId": one,
        "bundleIds": several,
        "url": answers.url,
        "dir": answers.dir,
        "workspace": workspace.map(Workspace::json),
        "sdk": sdk.map(Outcome::json),
        "updateClients": clients.json(),
    });
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set; see the file".to_owned());
    let app = match &several {
        None => or_none(&one),
        Some(ids) => {
            let lines = ids
                .iter()
                .map(|(platform, id)| format!("{} on {platform}", or_none(id)));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    context.printer.result(&summary.to_string(), || {
        let mut rows = vec![
            ("Written", NAME.to_owned()),
            ("Framework", answers.framework.map(name).unwrap_or("none").to_owned()),
            ("App", app),
            ("Server", or_none(&answers.url)),
            ("Publishes from", or_none(&answers.dir)),
        ];
        rows.extend(workspace.map(|workspace| ("Workspace", workspace.line())));
        rows.extend(sdk.map(|sdk| ("SDK", sdk.line())));
        if !clients.is_empty() {
            rows.push(("Update client", clients.line()));
        }
        fields(&rows)
    })
}

/// The framework of the app in a directory. A framework for both platforms is detected by either.
fn framework(here: &Path, directory: &str) -> Option<Framework> {
    let source = Source::new(&absolute(here));
    let packages = Packages::read(&source, directory);
    detect(&source, directory, packages.as_ref(), Platform::Android)
}

/// The server that this command names, or that of the saved login, without the `/api` that every address has.
fn server(context: &Context) -> Option<String> {
    let found = context
        .settings
        .url
        .as_ref()
        .filter(|url| url.source != Origin::Project)?;
    Some(without_api(&found.value.to_string()))
}

fn without_api(address: &str) -> String {
    address.strip_suffix("/api").unwrap_or(address).to_owned()
}

/// Where the framework writes the content of an update.
fn built(framework: Framework, here: &Path) -> Option<String> {
    match framework {
        Framework::Capacitor => {
            let source = Source::new(&absolute(here));
            let config = framework.configs(&source, "").into_iter().flatten().next();
            let config = config.and_then(|config| source.text(config));
            Some(config.as_deref().and_then(web_dir).unwrap_or("dist").to_owned())
        }
        // `launchway update` runs the bundler of the first three.
        Framework::NativeScript
        | Framework::Expo
        | Framework::ReactNative
        | Framework::Flutter
        | Framework::Gradle
        | Framework::Xcode => None,
    }
}

/// The quoted text after `webDir`.
fn web_dir(config: &str) -> Option<&str> {
    let behind = config.split_once("webDir")?.1;
    let value = behind.split_once(':')?.1.trim_start();
    let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    value[1..].split_once(quote).map(|(dir, _)| dir)
}

fn absolute(here: &Path) -> std::path::PathBuf {
    // A directory without a name that can be shown has no files that can be found.
    std::path::absolute(if here.as_os_str().is_empty() {
        Path::new(".")
    } else {
        here
    })
    .unwrap_or_default()
}

/// Creates a file that does not exist yet.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => exists_failure(),
            _ => Failure::failed(format!("cannot write {}: {error}", path.display())),
        })
}

fn exists_failure() -> Failure {
    Failure::failed(format!("{NAME} already exists; nothing was changed"))
        .hint("run `launchway doctor` to check it, or delete it to start over")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_capacitor_is_the_one_it_names() {
        let rows = [
            (r#"{"appId": "a.b", "webDir": "www"}"#, Some("www")),
            ("const config = { webDir: 'build/web' };", Some("build/web")),
            ("webDir: dir()", None),
            ("{}", None),
        ];
        for (config, expected) in rows {
            assert_eq!(web_dir(config), expected, "{config}");
        }
    }
}
