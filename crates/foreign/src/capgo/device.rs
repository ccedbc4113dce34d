//! What each request says about the device and its app (`docs/reference/capgo.md#requests`).

use std::borrow::Cow;

use launchway_domain::platform::Platform;
use launchway_domain::version::Version;

use super::fields::{Field, Fields};
use super::name::BUILT_IN;

/// The longest text that is considered, in bytes; a longer one counts as absent.
const MAX_TEXT_BYTES: usize = 255;

/// The platform of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevicePlatform {
    /// A phone.
    Mobile(Platform),
    /// A desktop app, which shows the web content of any platform.
    Electron,
}

/// A device and its app. Every field is the client's own word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device<'b> {
    /// The platform.
    pub platform: Option<DevicePlatform>,
    /// The app's bundle id.
    pub app_id: Option<Cow<'b, str>>,
    /// The device's own name.
    pub device_id: Option<Cow<'b, str>>,
    /// The version of the installed app.
    pub version_build: Option<Cow<'b, str>>,
    /// What the app runs.
    pub version_name: Option<Cow<'b, str>>,
    /// The version of the plugin.
    pub plugin_version: Option<Cow<'b, str>>,
    /// The channel that the app or its user chose, which is our configuration.
    pub default_channel: Option<Cow<'b, str>>,
    /// Whether the app takes only updates that are encrypted for its key.
    pub wants_encryption: bool,
}

impl<'b> Device<'b> {
    /// Takes the device out of the fields of a request. What is malformed counts as absent.
    pub(super) fn read(fields: &mut Fields<'b>) -> Device<'b> {
        Device::of(|field| fields.take(field))
    }

    /// Reads the device from fields.
    pub(super) fn of(mut field: impl FnMut(Field) -> Option<Cow<'b, str>>) -> Device<'b> {
        let mut text = |name: Field| {
            let text = trimmed(field(name)?);
            let is_plain = text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control);
            (!text.is_empty() && is_plain).then_some(text)
        };
        let platform = match text(Field::Platform).as_deref() {
            Some("ios") => Some(DevicePlatform::Mobile(Platform::Ios)),
            Some("android") => Some(DevicePlatform::Mobile(Platform::Android)),
            Some("electron") => Some(DevicePlatform::Electron),
            _ => None,
        };
        Device {
            platform,
            app_id: text(Field::AppId),
            device_id: text(Field::DeviceId),
            version_build: text(Field::VersionBuild),
            version_name: text(Field::VersionName),
            plugin_version: text(Field::PluginVersion),
            default_channel: text(Field::DefaultChannel),
            wants_encryption: text(Field::KeyId).is_some(),
        }
    }

    /// The version of the installed app as far as it is one.
    pub fn binary_version(&self) -> Option<Version> {
        Version::parse(self.version_build.as_deref()?).ok()
    }

    /// What the app runs, if that may be an update: its name.
    pub fn update_name(&self) -> Option<&str> {
        self.version_name.as_deref().filter(|name| *name != BUILT_IN)
    }

    /// Whether the name of what the app runs may be that of its built-in content: the word for it, or the app's own version.
    pub fn may_run_built_in(&self) -> bool {
        let name = self.version_name.as_deref();
        name == Some(BUILT_IN) || (name.is_some() && name == self.version_build.as_deref())
    }

    /// Whether the plugin installs updates file by file: from 5.10.0, 6.25.0 and 7.0.35 on, and all later versions.
    pub fn installs_files(&self) -> bool {
        let Some(plugin) = self
            .plugin_version
            .as_deref()
            .and_then(|version| Version::parse(version).ok())
        else {
            return false;
        };
        let from_to = [
            ("5.10.0", "6.0.0-0"),
            ("6.25.0", "7.0.0-0"),
            ("7.0.35", "18446744073709551615.0.0"),
        ];
        from_to.iter().any(|(from, to)| {
            let version = |text| Version::parse(text).ok();
            version(from).is_some_and(|from| plugin >= from) && version(to).is_some_and(|to| plugin < to)
        })
    }
}

/// A text without the spaces around it.
fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(json: &Value) -> Device<'static> {
        let json: &'static str = json.to_string().leak();
        Device::read(&mut Fields::read(json.as_bytes()).unwrap())
    }

    #[test]
    fn what_a_client_says_is_read() {
        let device = read(&json!({
            "platform": "android", "app_id": "com.example.app", "device_id": "d", "version_build": "1.2.0", "version_code": "7",
            "version_name": "1.2.3", "plugin_version": "8.51.23", "defaultChannel": "beta", "key_id": "MIIBCgKCAQEA", "other": []
        }));
        let expected = Device {
            platform: Some(DevicePlatform::Mobile(Platform::Android)),
            app_id: Some("com.example.app".into()),
            device_id: Some("d".into()),
            version_build: Some("1.2.0".into()),
            version_name: Some("1.2.3".into()),
            plugin_version: Some("8.51.23".into()),
            default_channel: Some("beta".into()),
            wants_encryption: true,
        };
        assert_eq!(device, expected);
        assert_eq!(device.binary_version(), Version::parse("1.2").ok());
        let strange = json!({
            "platform": "web", "app_id": " ", "device_id": "a".repeat(256), "version_build": [], "version_name": 5, "key_id": null
        });
        let expected = Device {
            version_name: Some("5".into()),
            ..Device::default()
        };
        assert_eq!(read(&strange), expected);
        let spaced = json!({"app_id": " com.example.app\n", "version_name": "\u{a0}1.0.1\t", "device_id": "a\tb"});
        let device = read(&spaced);
        assert_eq!(
            (
                device.app_id.as_deref(),
                device.version_name.as_deref(),
                device.device_id
            ),
            (Some("com.example.app"), Some("1.0.1"), None)
        );
    }

    #[test]
    fn built_in_content_is_called_by_the_app_or_a_word() {
        for (name, build, may, update) in [
            ("builtin", "1.0.0", true, None),
            ("1.0.0", "1.0.0", true, Some("1.0.0")),
            ("1.0.1", "1.0.0", false, Some("1.0.1")),
        ] {
            let device = read(&json!({"version_name": name, "version_build": build}));
            assert_eq!(
                (device.may_run_built_in(), device.update_name()),
                (may, update),
                "{name}"
            );
        }
        assert!(!Device::default().may_run_built_in());
    }

    #[test]
    fn files_need_a_plugin_that_installs_them() {
        for (version, expected) in [
            ("5.9.9", false),
            ("5.10.0", true),
            ("6.0.0", false),
            ("6.24.9", false),
            ("6.25.0", true),
            ("7.0.34", false),
            ("7.0.35", true),
            ("7.1.0", true),
            ("8.51.23", true),
            ("8.0.0-beta.1", true),
            ("0.0.1", false),
            ("latest", false),
        ] {
            let device = Device {
                plugin_version: Some(version.into()),
                ..Device::default()
            };
            assert_eq!(device.installs_files(), expected, "{version}");
        }
        assert!(!Device::default().installs_files());
    }
}
