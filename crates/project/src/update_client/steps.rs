//! What an app changes so that its update client asks a server of ours: the files, and the lines in them.

use launchway_domain::platform::Platform;

use super::UpdateClient;
use super::settings::{FoundSetting, Setting, SettingValue, on_platform};
use crate::framework::Framework;
use crate::packages::join;
use crate::sdk::additions::{AppFolder, ManualStep};
use crate::source::Source;

/// Where an app will ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHome {
    /// The address of the server, without a slash at its end.
    pub server: String,
    /// The bundle identifier on Android.
    pub android: String,
    /// The bundle identifier on iOS.
    pub ios: String,
}

impl NewHome {
    /// The bundle identifier on a platform.
    pub fn bundle_id(&self, platform: Platform) -> &str {
        match platform {
            Platform::Android => &self.android,
            Platform::Ios | Platform::Visionos => &self.ios,
        }
    }

    /// The address that a client asks on a platform.
    pub fn address(&self, client: UpdateClient, platform: Platform) -> String {
        let (server, id) = (&self.server, self.bundle_id(platform));
        match client {
            UpdateClient::Codepush => format!("{server}/codepush/{id}/"),
            UpdateClient::Expo => format!("{server}/expo/{id}"),
            UpdateClient::Capgo => format!("{server}/capgo/updates"),
            UpdateClient::HotUpdater => format!("{server}/hot-updater/{id}"),
        }
    }
}

/// The platforms that these clients run on.
pub const PLATFORMS: [Platform; 2] = [Platform::Android, Platform::Ios];

/// What the app changes for a client; empty if everything is as it should be. `found` are the settings of the client.
pub fn steps(client: UpdateClient, app: AppFolder<'_>, found: &[FoundSetting], home: &NewHome) -> Vec<ManualStep> {
    match client {
        UpdateClient::Codepush => codepush(app, found, home),
        UpdateClient::Expo => expo(app, found, home),
        UpdateClient::Capgo => capgo(app, found, home),
        UpdateClient::HotUpdater => hot_updater(app, found, home),
    }
}

/// Whether a setting already has this value on a platform.
fn is_set(found: &[FoundSetting], setting: Setting, platform: Platform, value: &str) -> bool {
    let values = on_platform(found, setting, platform);
    let is_it = |found: &&FoundSetting| {
        let text = found.value.text().unwrap_or_default();
        text.trim_end_matches('/') == value.trim_end_matches('/')
    };
    !values.is_empty() && values.iter().all(is_it)
}

/// The files that have a setting, or else where it belongs.
fn places(found: &[FoundSetting], setting: Setting, platform: Platform, usual: String) -> String {
    let mut paths: Vec<&str> = on_platform(found, setting, platform)
        .iter()
        .map(|found| found.path.as_str())
        .collect();
    paths.dedup();
    if paths.is_empty() { usual } else { paths.join(" and ") }
}

fn codepush(app: AppFolder<'_>, found: &[FoundSetting], home: &NewHome) -> Vec<ManualStep> {
    let source = Source::new(app.root);
    let mut steps = Vec::new();
    for platform in PLATFORMS {
        let folder = join(
            app.directory,
            if platform == Platform::Android {
                "android"
            } else {
                "ios"
            },
        );
        let address = home.address(UpdateClient::Codepush, platform);
        if !source.has_directory(&folder) || is_set(found, Setting::Address, platform, &address) {
            continue;
        }
        let (usual, lines) = match platform {
            Platform::Android => (
                format!("{folder}/app/src/main/res/values/strings.xml"),
                vec![format!(
                    "<string moduleConfig=\"true\" name=\"CodePushServerUrl\">{address}</string>"
                )],
            ),
            Platform::Ios | Platform::Visionos => (
                plist_beside_key(found).unwrap_or_else(|| format!("the Info.plist of the app in {folder}")),
                vec![
                    "<key>CodePushServerURL</key>".to_owned(),
                    format!("<string>{address}</string>"),
                ],
            ),
        };
        let place = places(found, Setting::Address, platform, usual);
        steps.push(step(format!("set the address of the server in {place}"), lines));
    }
    let keys: Vec<&FoundSetting> = found
        .iter()
        .filter(|found| found.setting == Setting::DeploymentKey)
        .collect();
    if !steps.is_empty() && !keys.is_empty() {
        let lines = keys.iter().map(|key| format!("{}: {}", key.path, shown(&key.value)));
        let what = "keep the deployment keys, which apps that users have contain; the server takes them as they are";
        steps.push(step(what.to_owned(), lines.collect()));
    }
    steps
}

/// The property list that has the deployment key, in which the address belongs.
fn plist_beside_key(found: &[FoundSetting]) -> Option<String> {
    let is_it =
        |found: &&FoundSetting| found.setting == Setting::DeploymentKey && found.platform == Some(Platform::Ios);
    found.iter().find(is_it).map(|found| found.path.clone())
}

fn expo(app: AppFolder<'_>, found: &[FoundSetting], home: &NewHome) -> Vec<ManualStep> {
    let groups = Framework::Expo.configs(&Source::new(app.root), app.directory);
    let config = groups.iter().flatten().next().copied().unwrap_or("app.json");
    let config = join(app.directory, config);
    let mut steps = Vec::new();
    // A value of a native project counts in place of this, but is written from it.
    let stated: Vec<FoundSetting> = found.iter().filter(|found| found.platform.is_none()).cloned().collect();
    let is_right = |of: &[FoundSetting], platform: Platform| {
        is_set(
            of,
            Setting::Address,
            platform,
            &home.address(UpdateClient::Expo, platform),
        )
    };
    let is_stated = PLATFORMS.iter().all(|platform| is_right(&stated, *platform));
    if !is_stated {
        let mut lines: Vec<String> = match home.android == home.ios {
            true => vec![format!(
                "\"url\": \"{}\",",
                home.address(UpdateClient::Expo, Platform::Android)
            )],
            // One file for both platforms, so the build chooses.
            false => PLATFORMS
                .iter()
                .map(|platform| {
                    format!(
                        "{platform}: \"url\": \"{}\",",
                        home.address(UpdateClient::Expo, *platform)
                    )
                })
                .collect(),
        };
        if !stated.iter().any(|found| found.setting == Setting::Channel) {
            lines.push("\"requestHeaders\": { \"expo-channel-name\": \"production\" }".to_owned());
        }
        steps.push(step(
            format!("set the address and the channel under updates in {config}"),
            lines,
        ));
    }
    let native: Vec<&FoundSetting> = found
        .iter()
        .filter(|found| found.setting == Setting::Address && found.platform.is_some())
        .collect();
    if !native.is_empty() && !PLATFORMS.iter().all(|platform| is_right(found, *platform)) {
        let paths: Vec<&str> = native.iter().map(|found| found.path.as_str()).collect();
        let what = format!(
            "write the same into {}, unless you maintain these yourself",
            paths.join(" and ")
        );
        steps.push(step(what, vec!["npx expo prebuild".to_owned()]));
    }
    if !found.iter().any(|found| found.setting == Setting::RuntimeVersion) {
        let lines = vec!["\"runtimeVersion\": { \"policy\": \"appVersion\" }".to_owned()];
        steps.push(step(format!("set the runtime version in {config}"), lines));
    }
    steps
}

fn capgo(app: AppFolder<'_>, found: &[FoundSetting], home: &NewHome) -> Vec<ManualStep> {
    let groups = Framework::Capacitor.configs(&Source::new(app.root), app.directory);
    let config = groups
        .iter()
        .flatten()
        .next()
        .copied()
        .unwrap_or("capacitor.config.json");
    let addresses = [
        (Setting::Address, "updateUrl", "updates"),
        (Setting::StatsAddress, "statsUrl", "stats"),
        (Setting::ChannelAddress, "channelUrl", "channel_self"),
    ];
    let missing = addresses.into_iter().filter_map(|(setting, key, path)| {
        let address = format!("{}/capgo/{path}", home.server);
        (!is_set(found, setting, Platform::Android, &address)).then(|| format!("{key}: \"{address}\","))
    });
    let mut lines: Vec<String> = missing.collect();
    let mut steps = Vec::new();
    let is_channel_set = found.iter().any(|found| found.setting == Setting::Channel);
    if !lines.is_empty() && !is_channel_set {
        lines.push("defaultChannel: \"production\",".to_owned());
    }
    let place = places(found, Setting::Address, Platform::Android, join(app.directory, config));
    if !lines.is_empty() {
        steps.push(step(
            format!("set the addresses under plugins.CapacitorUpdater in {place}"),
            lines,
        ));
    }
    for key in found.iter().filter(|found| found.setting == Setting::PublicKey) {
        let what = format!(
            "remove the key of encrypted bundles in {}: there are none on this server",
            key.path
        );
        steps.push(step(what, vec!["publicKey".to_owned()]));
    }
    let is_other = |found: &&FoundSetting| {
        let id = found.value.text();
        found.setting == Setting::AppId && id.is_some_and(|id| id != home.android && id != home.ios)
    };
    for id in found.iter().filter(is_other) {
        let what = format!("name the app in {} by its bundle identifier", id.path);
        steps.push(step(what, vec![format!("appId: \"{}\",", home.android)]));
    }
    steps
}

fn hot_updater(app: AppFolder<'_>, found: &[FoundSetting], home: &NewHome) -> Vec<ManualStep> {
    let (android, ios) = (
        home.address(UpdateClient::HotUpdater, Platform::Android),
        home.address(UpdateClient::HotUpdater, Platform::Ios),
    );
    let value = match android == ios {
        true => format!("\"{android}\""),
        false => format!("Platform.OS === \"ios\" ? \"{ios}\" : \"{android}\""),
    };
    if android == ios && is_set(found, Setting::Address, Platform::Android, &android) {
        return Vec::new();
    }
    let usual = format!(
        "the argument of HotUpdater.wrap() or HotUpdater.init() in {}",
        folder_of(app)
    );
    let place = places(found, Setting::Address, Platform::Android, usual);
    vec![step(
        format!("set the address of the server in {place}"),
        vec![format!("baseURL: {value},")],
    )]
}

fn folder_of(app: AppFolder<'_>) -> String {
    match app.directory {
        "" => "the code of the app".to_owned(),
        directory => directory.to_owned(),
    }
}

fn shown(value: &SettingValue) -> String {
    match value {
        SettingValue::Text(text) => text.clone(),
        SettingValue::Computed => "set when the app is built".to_owned(),
    }
}

fn step(what: String, lines: Vec<String>) -> ManualStep {
    ManualStep { what, lines }
}
