//! What each request says about the device and its app (`docs/reference/capgo.md#requests`).

use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use serde_json::Value;

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
pub struct Device {
    /// The platform.
    pub platform: Option<DevicePlatform>,
    /// The app's bundle id.
    pub app_id: Option<String>,
    /// The device's own name.
    pub device_id: Option<String>,
    /// The version of the installed app.
    pub version_build: Option<String>,
    /// What the app runs.
    pub version_name: Option<String>,
    /// The version of the plugin.
    pub plugin_version: Option<String>,
    /// The channel that the app or its user chose, which is our configuration.
    pub default_channel: Option<String>,
    /// Whether the app takes only updates that are encrypted for its key.
    pub wants_encryption: bool,
}

impl Device {
    /// Reads the device of a request, a JSON object. What is malformed counts as absent.
    pub(super) fn read(json: &Value) -> Device {
        Device::of(|name| match json.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Reads the device from fields by their names.
    pub(super) fn of(field: impl Fn(&str) -> Option<String>) -> Device {
        let text = |name: &str| {
            let value = field(name)?;
            let text = value.trim();
            let is_plain = text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control);
            (!text.is_empty() && is_plain).then(|| text.to_owned())
        };
        let platform = match text("platform").as_deref() {
            Some("ios") => Some(DevicePlatform::Mobile(Platform::Ios)),
            Some("android") => Some(DevicePlatform::Mobile(Platform::Android)),
            Some("electron") => Some(DevicePlatform::Electron),
            _ => None,
        };
        Device {
            platform,
            app_id: text("app_id"),
            device_id: text("device_id"),
            version_build: text("version_build"),
            version_name: text("version_name"),
            plugin_version: text("plugin_version"),
            default_channel: text("defaultChannel"),
            wants_encryption: text("key_id").is_some(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_says_is_read() {
        let device = Device::read(&json!({
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
        assert_eq!(Device::read(&strange), expected);
    }

    #[test]
    fn built_in_content_is_called_by_the_app_or_a_word() {
        for (name, build, may, update) in [
            ("builtin", "1.0.0", true, None),
            ("1.0.0", "1.0.0", true, Some("1.0.0")),
            ("1.0.1", "1.0.0", false, Some("1.0.1")),
        ] {
            let device = Device::read(&json!({"version_name": name, "version_build": build}));
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
