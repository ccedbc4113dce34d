//! `[sdk]`: how the SDK in the app looks for updates and applies them (`docs/reference/sdk.md#settings`).

use std::ops::RangeInclusive;

use launchway_domain::env_var::is_path;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// `[sdk]`: how the SDK in the app works. The SDK has a default for what is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sdk {
    /// Address of the server that apps ask; that of `[server]` when absent.
    pub server_url: Option<String>,
    /// When the app looks for updates by itself.
    pub check_on: Option<CheckOn>,
    /// When the app switches to an update that it installed.
    pub apply: Option<Apply>,
    /// What confirms that an update works.
    pub ready_mode: Option<ReadyMode>,
    /// Milliseconds in the foreground after which an update that is not confirmed counts as hung; 20000 when absent.
    #[serde(deserialize_with = "ready_timeout")]
    #[schemars(range(min = 1000, max = 600000))]
    pub ready_timeout_ms: Option<u32>,
    /// Whether downloads wait for a connection that is not metered.
    pub wifi_only: Option<bool>,
    /// Installed packages to keep; 2 when absent.
    #[serde(deserialize_with = "keep_slots")]
    #[schemars(range(min = 1, max = 10))]
    pub keep_slots: Option<u32>,
    /// Native apps: the file that every package must contain; `index.html` when absent.
    #[serde(deserialize_with = "entry_file")]
    pub entry_file: Option<String>,
}

/// When the app looks for updates by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckOn {
    /// Once, after the first frame.
    Launch,
    /// Then, and when it comes back to the foreground.
    Resume,
    /// Only when its code asks.
    Manual,
}

/// When the app switches to an update that it installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Apply {
    /// At its next start.
    NextLaunch,
    /// When it leaves the foreground.
    OnBackground,
    /// At once.
    Immediate,
}

/// What confirms that an update works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadyMode {
    /// The call of `sync()` and the first frame.
    Auto,
    /// The call of `notifyAppReady()`.
    Manual,
}

fn ready_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    number(deserializer, 1000..=600_000)
}

fn keep_slots<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    number(deserializer, 1..=10)
}

/// Parses a whole number in a range.
fn number<'de, D: Deserializer<'de>>(deserializer: D, range: RangeInclusive<u32>) -> Result<Option<u32>, D::Error> {
    let written = i64::deserialize(deserializer)?;
    let number = u32::try_from(written).ok().filter(|number| range.contains(number));
    let (least, most) = (range.start(), range.end());
    number
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("{written} must be a number from {least} to {most}")))
}

fn entry_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let path = String::deserialize(deserializer)?;
    match is_path(&path) {
        true => Ok(Some(path)),
        false => Err(D::Error::custom(format!(
            "`{path}` must be a path in the package, with `/`, without `..`"
        ))),
    }
}
