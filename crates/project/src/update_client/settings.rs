//! How an update client is set up: its settings, and the files of the project that contain them.

use launchway_domain::platform::Platform;

use super::{UpdateClient, native, scripts};
use crate::sdk::additions::AppFolder;
use crate::source::Source;

/// A setting of an update client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// The address of the server.
    Address,
    /// Where Capgo sends its statistics.
    StatsAddress,
    /// Where Capgo chooses its channel.
    ChannelAddress,
    /// The deployment key of CodePush.
    DeploymentKey,
    /// The name of the app, where a client sends another one than the bundle identifier.
    AppId,
    /// The channel, which is the configuration here.
    Channel,
    /// The runtime version of Expo.
    RuntimeVersion,
    /// The public key that verifies or decrypts packages.
    PublicKey,
    /// The file of the certificate that verifies Expo's manifests.
    Certificate,
    /// The name of that key.
    CertificateKeyId,
    /// `true` where the app may change its address itself.
    ChangeableAddress,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// This text.
    Text(String),
    /// Only executing the project would show it.
    Computed,
}

/// The longest value that is kept, in bytes: keys are longer than addresses.
const MAX_VALUE_BYTES: usize = 8192;

impl SettingValue {
    /// A plain value; one that is too long counts as computed.
    pub fn of(text: &str) -> Self {
        match text.len() <= MAX_VALUE_BYTES {
            true => SettingValue::Text(text.to_owned()),
            false => SettingValue::Computed,
        }
    }

    /// The text, unless it is computed or empty.
    pub fn text(&self) -> Option<&str> {
        match self {
            SettingValue::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            SettingValue::Computed => None,
        }
    }
}

/// A setting in a file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSetting {
    /// Which one.
    pub setting: Setting,
    /// The only platform that it is for; `None` for all.
    pub platform: Option<Platform>,
    /// The file, from the root of the project, with forward slashes.
    pub path: String,
    /// Its value.
    pub value: SettingValue,
}

/// The settings of a client in an app, in the order of their files. A setting that is not here has its default, or is set
/// where nothing is read.
pub fn settings(client: UpdateClient, app: AppFolder<'_>) -> Vec<FoundSetting> {
    let source = Source::new(app.root);
    let mut found = scripts::settings(client, app, &source);
    found.extend(native::settings(client, &source, app.directory));
    // Capgo sends nothing where one of these is empty; elsewhere an empty value is none.
    let may_be_empty = |setting| matches!(setting, Setting::StatsAddress | Setting::ChannelAddress);
    found.retain(|found| may_be_empty(found.setting) || found.value != SettingValue::of(""));
    found
}

/// The values of a setting that count for a platform: those of its native project if there are any, else those for all
/// platforms.
pub fn on_platform(all: &[FoundSetting], setting: Setting, platform: Platform) -> Vec<&FoundSetting> {
    let of = |wanted: Option<Platform>| {
        let fits = move |found: &&FoundSetting| found.setting == setting && found.platform == wanted;
        all.iter().filter(fits).collect::<Vec<_>>()
    };
    let own = of(Some(platform));
    if own.is_empty() { of(None) } else { own }
}
