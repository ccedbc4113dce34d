//! Signing in a command line through a browser, modeled on RFC 8628 (device authorization).

use launchway_domain::device_login::{DeviceLogin, POLL_INTERVAL, UserCode};
use launchway_domain::time::{SECOND, iso};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;
use crate::secret::SecretText;

/// `POST /auth/device`: starts a login.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartDeviceLogin {
    /// The name of the key to create, 1 to 100 characters. The confirmation page shows it.
    #[schema(min_length = 1, max_length = 100, example = "launchway on my-laptop")]
    pub name: String,
    /// The key's scopes: one or more of `build`, `submit`, `update`, `admin`. A key with `admin` has the rights of the role of
    /// the user who confirms it, and works for 8 hours instead of 90 days.
    #[schema(min_items = 1, example = json!(["build", "submit", "update"]))]
    pub scopes: Vec<open::Scope>,
}

/// The response to `POST /auth/device`.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceLogin)]
pub struct DeviceLoginView {
    /// `login_…`.
    pub id: String,
    /// `pending`.
    pub status: open::DeviceLoginStatus,
    /// The secret with which the command polls for its key. The command never displays it.
    pub device_code: String,
    /// The code that the command displays and the user confirms.
    #[schema(example = "BCDF-GHJK")]
    pub user_code: String,
    /// The page where a signed-in user enters the code.
    pub verification_url: String,
    /// The same page with the code filled in.
    pub verification_url_complete: String,
    /// The polling interval in seconds.
    pub interval: i64,
    /// When the login expires.
    pub expires_at: String,
}

/// `POST /auth/device/key`: polls a login.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimDeviceLogin {
    /// The `deviceCode` of the login.
    #[schema(value_type = String)]
    pub device_code: SecretText,
}

/// The response to `POST /auth/device/key`.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceLoginOutcome)]
pub struct DeviceLoginOutcome {
    /// `login_…`.
    pub id: String,
    /// `pending`, `approved`, `denied` or `expired`.
    pub status: open::LoginOutcome,
    /// The API key, in the first response after a user approved; no later response carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl DeviceLoginView {
    /// A newly started login. `public_url` is the server's, without a trailing slash.
    pub fn of(login: &DeviceLogin, device_code: String, user_code: UserCode, public_url: &str) -> Self {
        let verification_url = format!("{public_url}/device");
        Self {
            id: login.id.to_string(),
            status: login.status.into(),
            device_code,
            user_code: user_code.to_string(),
            verification_url_complete: format!("{verification_url}?code={user_code}"),
            verification_url,
            interval: POLL_INTERVAL / SECOND,
            expires_at: iso(login.expires_at),
        }
    }
}
