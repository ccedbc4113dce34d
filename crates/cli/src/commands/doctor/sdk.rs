//! Checks the SDK in the app: that it is called, asks the right server, carries its root, and that nothing keeps the app from
//! running updates (`docs/reference/command-line.md#doctor-and-the-sdk`).

use std::str::FromStr;

use launchway_client::BaseUrl;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_project::file::{NAME, Project};
use launchway_project::fingerprint::embed::{embedded_settings, without_trust};
use launchway_project::fingerprint::has_project;
use launchway_project::framework::Framework;
use launchway_project::native_version;
use launchway_project::packages::{Packages, join};
use launchway_project::resolve::{app_profile, variant};
use launchway_project::sdk::additions::{AppFolder, native_files};
use launchway_project::sdk::settings::{BuiltApp, SettingsError, server_url, settings};
use launchway_project::sdk::{entry, expo, is_used, nativescript, obstacles, package};
use launchway_project::source::Source;
use launchway_project::trust_file;
use launchway_project::workspace::ProjectSource;
use serde_json::Value;

use super::{Finding, server};
use crate::context::Context;
use crate::settings::Key;

const CHECK: &str = "sdk";

/// Nothing for an app without the SDK. `directory` is that of the app, from the root of the project; `version` that of the
/// server of the settings, if it responds.
pub async fn look(context: &Context, framework: Framework, directory: &str, version: Option<String>) -> Vec<Finding> {
    let (root, project) = (&context.settings.root, &context.settings.project);
    let app = AppFolder {
        root,
        directory,
        framework,
    };
    let source = Source::new(root);
    if !is_used(Packages::read(&source, directory).as_ref(), project) {
        return Vec::new();
    }
    let mut findings = in_code(app, &source);
    findings.extend(in_native_projects(app, &source, project));
    findings.extend(on_server(app, &source, context, version).await);
    if findings.is_empty() {
        let url = server_url(project).unwrap_or_default();
        findings.push(Finding::ok(
            CHECK,
            format!("the app contains the SDK, which asks {url}"),
        ));
    }
    findings
}

/// What is wrong in the sources of the app.
fn in_code(app: AppFolder<'_>, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !entry::calls_sync(&app.root.join(app.directory), app.framework) {
        let message = "no code of the app calls sync() of the SDK, so that it never looks for updates";
        let fix = "run `launchway init`, which adds the call or prints it";
        findings.push(Finding::problem(CHECK, message, fix));
    }
    for (path, file) in native_files(app) {
        let text = source.text(&path).unwrap_or_default();
        if !file.asks_sdk(&text) {
            let message = format!("{path} does not ask the SDK for the bundle, so that updates never run");
            let fix = "run `launchway init`, which adds the lines or prints them";
            findings.push(Finding::problem(CHECK, message, fix));
        }
    }
    let plugin = package(app.framework).filter(|_| app.framework == Framework::Expo);
    if let Some(config) = plugin.and_then(|plugin| expo::without_plugin(source, app.directory, plugin)) {
        let message = format!(
            "{} does not list the plugin of the SDK, so that updates never run",
            config.path
        );
        let fix = "run `launchway init`, which adds the plugin or prints it";
        findings.push(Finding::problem(CHECK, message, fix));
    }
    if app.framework == Framework::NativeScript
        && let Some(config) = nativescript::without_hook(source, app.directory, None)
    {
        let message = format!(
            "{} lacks the hook of the SDK, so that updates never run on iOS",
            config.path
        );
        let fix = "run `launchway init`, which adds the hook or prints it";
        findings.push(Finding::problem(CHECK, message, fix));
    }
    if app.framework == Framework::NativeScript
        && let Some(path) = obstacles::snapshot(source, app.directory)
    {
        let message = format!("{path} turns V8 snapshots on: updates do not replace the code in them");
        findings.push(Finding::problem(CHECK, message, "build the app without snapshots"));
    }
    if app.framework == Framework::Capacitor
        && let Some(path) = obstacles::disabled(source, app.directory)
    {
        let message = format!("{path} has the preference DisableDeploy, which switches the SDK off");
        findings.push(Finding::problem(CHECK, message, "remove the preference"));
    }
    if app.framework == Framework::Capacitor
        && let Some((path, url)) = obstacles::live_reload(source, app.directory)
    {
        let message = format!("{path} has server.url, so that the app loads {url} and never an update");
        let fix = "remove server.url before the app is built for users";
        findings.push(Finding::problem(CHECK, message, fix));
    }
    findings
}

/// What is wrong with what builds embed.
fn in_native_projects(app: AppFolder<'_>, source: &Source, project: &Project) -> Vec<Finding> {
    let root = app.root.join(app.directory);
    let platforms = Platform::ALL
        .into_iter()
        .filter(|platform| has_project(&root, *platform).unwrap_or_default());
    let mut findings = Vec::new();
    for platform in platforms {
        let wanted = every_settings(source, project, platform);
        // A native project that a build generates has nothing embedded yet.
        for (path, text) in embedded_settings(&root, app.framework, platform).unwrap_or_default() {
            if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted.trim_end() == text.trim_end()) {
                let message = format!("{path} has other settings of the SDK than {NAME}");
                let fix =
                    format!("run `launchway fingerprint embed {platform}`; presets of builds do so by themselves");
                findings.push(Finding::warning(CHECK, message, fix));
            }
        }
        if !trust_file::exists(source) {
            continue;
        }
        for path in without_trust(&root, app.framework, platform).unwrap_or_default() {
            let message = format!("no root of signed updates in {path}, so that the app would take unsigned updates");
            let fix = format!("run `launchway embed {platform}` before your build; presets do so by themselves");
            findings.push(Finding::warning(CHECK, message, fix));
        }
    }
    findings
}

/// The settings that builds of the profiles embed.
fn every_settings(source: &Source, project: &Project, platform: Platform) -> Vec<String> {
    let profiles = project.build.keys().map(|name| Some(name.as_str()));
    let found = std::iter::once(None).chain(profiles).filter_map(|profile| {
        let app = BuiltApp {
            platform,
            profile,
            configuration: None,
        };
        settings(source, project, app).ok().flatten()
    });
    found.map(|settings| settings.to_json()).collect()
}

/// What is wrong with the server that apps ask.
async fn on_server(app: AppFolder<'_>, source: &Source, context: &Context, known: Option<String>) -> Vec<Finding> {
    let project = &context.settings.project;
    let url = match server_url(project) {
        Ok(url) => url,
        Err(SettingsError::NoServer) => {
            let message = format!("the app contains the SDK, but {NAME} does not name its server");
            let fix = "set url under [server], or server_url under [sdk], such as https://launchway.example.com";
            return vec![Finding::problem(CHECK, message, fix)];
        }
        Err(error) => return vec![Finding::problem(CHECK, error.to_string(), "correct the address")],
    };
    let Ok(base) = BaseUrl::from_str(&url) else {
        let message = format!("apps ask {url}, which is not the address of a server");
        return vec![Finding::problem(CHECK, message, "correct the address")];
    };
    let mut findings = address(&url, &base, project);
    // The server of the settings was asked before, and reported if it does not respond.
    let is_known = context.settings.url.as_ref().is_some_and(|url| url.value == base);
    let version = match is_known {
        true => known,
        false => match server::version(&base, context).await {
            Ok(version) => Some(version),
            Err(failure) => {
                let message = format!("apps ask {url}, which does not respond: {}", failure.message);
                let fix = failure.hint.unwrap_or_else(|| "check the address".to_owned());
                findings.push(Finding::problem(CHECK, message, fix));
                None
            }
        },
    };
    findings.extend(version.and_then(|version| package_version(app, &version)));
    findings.extend(root_of_server(app, source, context).await);
    findings
}

fn address(url: &str, base: &BaseUrl, project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    if base.is_open_to_eavesdroppers() {
        let message = format!("apps ask {url}, which is not encrypted: phones refuse that");
        findings.push(Finding::problem(CHECK, message, "use the https address of the server"));
    } else if url.starts_with("http://") {
        let message = format!("apps ask {url}, which only this machine reaches");
        let fix = "use the https address of the server before the app is built for users";
        findings.push(Finding::warning(CHECK, message, fix));
    }
    let of_server = Project {
        sdk: None,
        ..project.clone()
    };
    match server_url(&of_server) {
        Ok(other) if other != url => {
            let message = format!("apps ask {url} ([sdk]), but updates are published on {other} ([server])");
            let fix = "remove server_url under [sdk], unless both are the same server";
            findings.push(Finding::warning(CHECK, message, fix));
        }
        _ => {}
    }
    findings
}

/// An SDK that is newer than the server may ask for what the server does not have.
fn package_version(app: AppFolder<'_>, server: &str) -> Option<Finding> {
    let name = package(app.framework)?;
    let place = ProjectSource::find(app.root, app.directory);
    let (source, directory) = (Source::new(&place.root), place.place(app.directory));
    let packages = Packages::read(&source, &directory)?;
    let mut places = [directory.as_str(), packages.place.as_str()].into_iter();
    let text = places.find_map(|place| source.text(&join(place, &format!("node_modules/{name}/package.json"))))?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    let installed = manifest.get("version")?.as_str()?;
    if Version::parse(installed).ok()? <= Version::parse(server).ok()? {
        return None;
    }
    let message = format!("{name} {installed} is newer than the server, which is {server}");
    Some(Finding::warning(CHECK, message, "upgrade the server first"))
}

/// An app that the server knows with signed updates must be built with its trust file.
async fn root_of_server(app: AppFolder<'_>, source: &Source, context: &Context) -> Option<Finding> {
    if trust_file::exists(source) || !matches!(context.settings.key, Key::Known { .. }) {
        return None;
    }
    let client = context.client().ok()?;
    for id in bundle_ids(app, &context.settings.project) {
        // A caller that may not read it, or a server that does not know the app, says nothing about a root.
        let Ok(trust) = client.trust(&id).await else { continue };
        if trust.value.repository.is_some() {
            let message = format!("{id} has signed updates, but the project has no {}", trust_file::NAME);
            let fix = "get the file from the source repository of the app, so that the app takes no unsigned updates";
            return Some(Finding::problem(CHECK, message, fix));
        }
    }
    None
}

/// The identifiers of the app on its platforms.
fn bundle_ids(app: AppFolder<'_>, project: &Project) -> Vec<String> {
    let root = app.root.join(app.directory);
    let of = |platform| {
        let (name, profile) = app_profile(&project.build, None, platform).ok()?;
        let stated = project.bundle_id(name.as_deref(), platform).map(|stated| stated.value);
        let native = || native_version::read(&root, platform, &variant(&profile, None)).bundle_id;
        stated.or_else(|| native().map(|found| found.value))
    };
    let mut ids: Vec<String> = [Platform::Android, Platform::Ios].into_iter().filter_map(of).collect();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests;
