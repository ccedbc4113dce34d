//! Checks another service's update client in the app: that it is the only one, asks the right server, and that the server
//! answers it (`docs/reference/command-line.md#doctor-and-other-update-clients`).

mod asking;
mod certificate;
mod expo_files;

use launchway_client::BaseUrl;
use launchway_domain::platform::Platform;
use launchway_domain::time::EpochMs;
use launchway_project::framework::Framework;
use launchway_project::native_version;
use launchway_project::packages::Packages;
use launchway_project::resolve::{app_profile, variant};
use launchway_project::sdk::additions::AppFolder;
use launchway_project::sdk::is_used;
use launchway_project::source::Source;
use launchway_project::update_client::settings::{FoundSetting, Setting, SettingValue, on_platform, settings};
use launchway_project::update_client::steps::{NewHome, PLATFORMS};
use launchway_project::update_client::{UpdateClient, clients_in};

use self::asking::{Asking, Question};
use super::{Finding, Status};
use crate::context::Context;

const CHECK: &str = "update client";
/// The fix of everything that `init` prints lines for.
const PRINTED: &str = "run `launchway init`, which prints the lines to change";

/// The app on one platform.
struct PlatformApp {
    platform: Platform,
    bundle_id: String,
    version: Option<String>,
}

/// Nothing for an app without such a client. `directory` is that of the app, from the root of the project.
pub async fn look(context: &Context, framework: Framework, directory: &str) -> Vec<Finding> {
    let root = &context.settings.root;
    let Some(packages) = Packages::read(&Source::new(root), directory) else {
        return Vec::new();
    };
    let clients = clients_in(&packages);
    let mut findings = Vec::new();
    findings.extend(several(&clients, is_used(Some(&packages), &context.settings.project)));
    let app = AppFolder {
        root,
        directory,
        framework,
    };
    let apps = platform_apps(app, context);
    for (client, package) in clients {
        let found = settings(client, app);
        // A project without server or identifier has that as a finding already.
        let Some(of_client) = of_client(client, &found, &apps, app, context).await else {
            continue;
        };
        if of_client.iter().all(|finding| finding.status == Status::Ok) {
            let message = format!("{} ({package}) is set up for this server", client.title());
            findings.push(Finding::ok(CHECK, message));
        }
        findings.extend(of_client);
    }
    findings
}

/// More than one client in an app.
fn several(clients: &[(UpdateClient, &str)], has_sdk: bool) -> Option<Finding> {
    let sdk = (has_sdk && !clients.is_empty()).then_some("the SDK");
    let names: Vec<&str> = clients.iter().map(|(client, _)| client.title()).chain(sdk).collect();
    if names.len() < 2 {
        return None;
    }
    let message = format!(
        "the app contains {}; each would replace what the other installed",
        names.join(" and ")
    );
    Some(Finding::problem(CHECK, message, "remove all update clients but one"))
}

/// The app on each platform where its identifier is known.
fn platform_apps(app: AppFolder<'_>, context: &Context) -> Vec<PlatformApp> {
    let project = &context.settings.project;
    let root = app.root.join(app.directory);
    let of = |platform| {
        let (name, profile) = app_profile(&project.build, None, platform).ok()?;
        let native = native_version::read(&root, platform, &variant(&profile, None));
        let stated = project.bundle_id(name.as_deref(), platform).map(|stated| stated.value);
        Some(PlatformApp {
            platform,
            bundle_id: stated.or(native.bundle_id.map(|found| found.value))?,
            version: native.version.map(|found| found.value),
        })
    };
    PLATFORMS.into_iter().filter_map(of).collect()
}

/// What is wrong with a client; `None` if the server or the app is not known.
async fn of_client(
    client: UpdateClient,
    found: &[FoundSetting],
    apps: &[PlatformApp],
    app: AppFolder<'_>,
    context: &Context,
) -> Option<Vec<Finding>> {
    let url = &context.settings.url.as_ref()?.value;
    let (first, last) = (apps.first()?, apps.last()?);
    let address = url.to_string();
    let home = NewHome {
        server: address.strip_suffix("/api").unwrap_or(&address).to_owned(),
        android: first.bundle_id.clone(),
        ios: last.bundle_id.clone(),
    };
    let mut findings = of_settings(client, found, &home, app, context.now());
    for platform_app in apps {
        let wrong = address_findings(client, found, &home, platform_app);
        let can_ask = wrong.is_empty();
        let is_new = |wrong: &Finding| !findings.iter().any(|known| known.message == wrong.message);
        let new: Vec<Finding> = wrong.into_iter().filter(is_new).collect();
        findings.extend(new);
        if let Some(question) = question(client, found, platform_app).filter(|_| can_ask) {
            findings.extend(ask(client, url, &home, &question).await);
        }
    }
    Some(findings)
}

async fn ask(client: UpdateClient, url: &BaseUrl, home: &NewHome, question: &Question<'_>) -> Option<Finding> {
    let address = home.address(client, question.platform);
    let asking = match Asking::new(url) {
        Ok(asking) => asking,
        Err(failure) => return Some(Finding::failure(CHECK, failure)),
    };
    let problem = match asking.ask(client, &address, question).await {
        Ok(()) if client == UpdateClient::Expo => {
            return expo_files::look(&asking, &home.server, &address, question).await;
        }
        Ok(()) => return None,
        Err(problem) => problem,
    };
    let message = format!(
        "{} on {} asks {address}, but {}",
        client.title(),
        question.platform,
        problem.message
    );
    Some(Finding::problem(CHECK, message, problem.fix))
}

/// What is wrong with the address on a platform.
fn address_findings(client: UpdateClient, found: &[FoundSetting], home: &NewHome, app: &PlatformApp) -> Vec<Finding> {
    let title = client.title();
    let expected = home.address(client, app.platform);
    let values = on_platform(found, Setting::Address, app.platform);
    if values.is_empty() {
        let message = match client {
            UpdateClient::Capgo => format!("no updateUrl is set, so that {title} asks its own service"),
            UpdateClient::Codepush => format!(
                "no address is set on {}, so that {title} asks its own service",
                app.platform
            ),
            UpdateClient::Expo => format!("no updates.url is set, so that {title} asks no server"),
            UpdateClient::HotUpdater => format!("no code of the app sets baseURL of {title}"),
        };
        return vec![Finding::problem(CHECK, message, PRINTED)];
    }
    let mut findings = Vec::new();
    for FoundSetting { path, value, .. } in values {
        match value {
            SettingValue::Computed => {
                let message = format!("{path} computes the address of {title} on {}", app.platform);
                let fix = format!("make sure that it is {expected}");
                findings.push(Finding::warning(CHECK, message, fix));
            }
            SettingValue::Text(text) if text.trim_end_matches('/') != expected.trim_end_matches('/') => {
                let message = format!("{path}: {title} asks {text} on {}", app.platform);
                findings.push(Finding::problem(
                    CHECK,
                    message,
                    format!("set the address to {expected}"),
                ));
            }
            SettingValue::Text(_) => {}
        }
    }
    findings
}

/// What is wrong with the other settings, which do not depend on the platform.
fn of_settings(
    client: UpdateClient,
    found: &[FoundSetting],
    home: &NewHome,
    app: AppFolder<'_>,
    now: EpochMs,
) -> Vec<Finding> {
    match client {
        UpdateClient::Codepush => deployment_keys(found),
        UpdateClient::Expo => expo(found, app, now),
        UpdateClient::Capgo => capgo(found, home),
        UpdateClient::HotUpdater => Vec::new(),
    }
}

fn deployment_keys(found: &[FoundSetting]) -> Vec<Finding> {
    let keys: Vec<_> = found
        .iter()
        .filter(|found| found.setting == Setting::DeploymentKey)
        .collect();
    if keys.is_empty() {
        let message = "no CodePushDeploymentKey found, without which CodePush asks nothing";
        let fix = "set it in strings.xml and Info.plist, or make sure that the code of the app passes deploymentKey";
        return vec![Finding::warning(CHECK, message, fix)];
    }
    let is_key = |text: &str| {
        (10..=100).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let wrong = keys
        .iter()
        .filter(|key| key.value.text().is_some_and(|text| !is_key(text)));
    let finding = |key: &&FoundSetting| {
        let message = format!("{}: CodePushDeploymentKey is not a deployment key", key.path);
        Finding::problem(CHECK, message, "use 10 to 100 letters, digits, - and _")
    };
    wrong.map(finding).collect()
}

fn expo(found: &[FoundSetting], app: AppFolder<'_>, now: EpochMs) -> Vec<Finding> {
    let has = |setting| found.iter().any(|found| found.setting == setting);
    let mut findings = Vec::new();
    if !has(Setting::RuntimeVersion) {
        let message = "no runtimeVersion is set, without which Expo Updates asks nothing";
        findings.push(Finding::problem(CHECK, message, PRINTED));
    }
    if !has(Setting::Channel) {
        let message = "no expo-channel-name under updates.requestHeaders, so that the app gets only updates without configuration";
        findings.push(Finding::warning(CHECK, message, PRINTED));
    }
    findings.extend(certificate::look(found, app, now));
    findings
}

fn capgo(found: &[FoundSetting], home: &NewHome) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (setting, key, path) in [
        (Setting::StatsAddress, "statsUrl", "stats"),
        (Setting::ChannelAddress, "channelUrl", "channel_self"),
    ] {
        let expected = format!("{}/capgo/{path}", home.server);
        let values = on_platform(found, setting, Platform::Android);
        if values.is_empty() {
            let message = format!("no {key} is set, so that Capgo sends that to its own service");
            findings.push(Finding::problem(CHECK, message, PRINTED));
        }
        for found in values {
            if found
                .value
                .text()
                .is_some_and(|text| text.trim_end_matches('/') != expected)
            {
                let message = format!("{}: {key} is not an address of this server", found.path);
                findings.push(Finding::problem(CHECK, message, format!("set it to {expected}")));
            }
        }
    }
    for key in found.iter().filter(|found| found.setting == Setting::PublicKey) {
        let message = format!(
            "{}: publicKey makes the app take encrypted bundles only, which this server does not have",
            key.path
        );
        findings.push(Finding::problem(CHECK, message, "remove publicKey"));
    }
    let ids = [home.android.as_str(), home.ios.as_str()];
    for id in found.iter().filter(|found| found.setting == Setting::AppId) {
        if id.value.text().is_some_and(|text| !ids.contains(&text)) {
            let message = format!(
                "{}: appId is not the bundle identifier, by which the server knows the app",
                id.path
            );
            findings.push(Finding::problem(CHECK, message, format!("set it to {}", home.android)));
        }
    }
    findings
}

/// What the app would ask on a platform; `None` if a part is not known here.
fn question<'a>(client: UpdateClient, found: &'a [FoundSetting], app: &'a PlatformApp) -> Option<Question<'a>> {
    let plain = |setting| {
        on_platform(found, setting, app.platform)
            .first()
            .and_then(|found| found.value.text())
    };
    let question = Question {
        platform: app.platform,
        bundle_id: &app.bundle_id,
        version: app.version.as_deref(),
        deployment_key: plain(Setting::DeploymentKey),
        runtime_version: plain(Setting::RuntimeVersion),
        channel: plain(Setting::Channel),
    };
    let is_known = match client {
        UpdateClient::Codepush => question.version.is_some() && question.deployment_key.is_some(),
        UpdateClient::Expo => question
            .runtime_version
            .is_some_and(|version| !version.starts_with("file:")),
        UpdateClient::Capgo | UpdateClient::HotUpdater => question.version.is_some(),
    };
    is_known.then_some(question)
}

#[cfg(test)]
mod tests;
