//! Known devices: a browser that has signed a user in keeps a signed cookie that proves this. It proves nothing else,
//! but it gives the device a separate budget of wrong passwords and codes, so that strangers cannot lock the user out.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::id::UserId;
use launchway_domain::mac::MacKey;
use launchway_domain::org::User;
use launchway_domain::time::{DAY, EpochMs};
use launchway_store::System;
use launchway_vault::Purpose;
use subtle::ConstantTimeEq;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Browser;

/// How long a device is known after its last sign-in.
pub const LIFE: EpochMs = 365 * DAY;

/// The cookie value for a device that has just signed a user in.
pub async fn mark(app: &App, system: &mut System<'_>, user: &User) -> Result<String, ApiError> {
    let known = system.user_by_email(&user.email).await?;
    let (_, hash) = known.ok_or_else(|| ApiError::Internal("the user who signs in is gone".to_owned()))?;
    let until = app.clock.now() + LIFE;
    Ok(format!("{until}.{}", signature(app, user.id, &hash, until)))
}

/// Whether a browser has signed this user in before, with the password that is still current.
pub fn is_known(app: &App, user: UserId, password_hash: &str, browser: &Browser) -> bool {
    let name = user.to_string();
    let marks = browser.devices.iter().filter(|(of, _)| *of == name);
    marks
        .filter_map(|(_, mark)| mark.split_once('.'))
        .filter_map(|(until, given)| Some((until.parse::<EpochMs>().ok()?, given)))
        .filter(|(until, _)| *until > app.clock.now())
        .any(|(until, given)| {
            let signature = signature(app, user, password_hash, until);
            bool::from(signature.as_bytes().ct_eq(given.as_bytes()))
        })
}

/// Covers the password's hash, so that a new password invalidates it.
fn signature(app: &App, user: UserId, password_hash: &str, until: EpochMs) -> String {
    let key = MacKey::new(&app.vault.derive(Purpose::KnownDevices));
    let text = format!("{user}\n{until}\n{password_hash}");
    BASE64_URL_SAFE_NO_PAD.encode(key.of(&[text.as_bytes()]))
}
