//! Signs a command line in through a browser: anybody can begin a login, a user decides, and the result is one API key.
//!
//! The key is created only when it is fetched, so that it is never stored.

use launchway_api::device_logins::StartDeviceLogin;
use launchway_api::words::LoginOutcome;
use launchway_domain::actor::Actor;
use launchway_domain::api_key::ApiKey;
use launchway_domain::device_login::{DEVICE_LOGIN_LIFE, DeviceLogin, DeviceLoginStatus, UserCode};
use launchway_domain::id::UserId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_os::random::token_hash;
use serde_json::json;

use crate::api_error::ApiError;
use crate::api_keys::{self, KeyPlan};
use crate::app::App;
use crate::caller::{Caller, Origin, Who};
use crate::limits::calls::Tries;
use crate::write::{NOTHING, Write};

/// The maximum number of codes that one user may enter in a minute.
const CODES_PER_USER: u32 = 20;
const REASON: &str = "who asks is in no tenant yet";
const UNKNOWN_CODE: &str =
    "This code is unknown, already used, or older than 10 minutes. Start again on the command line.";

/// A login that a command has begun.
pub struct StartedLogin {
    /// The login.
    pub login: DeviceLogin,
    /// The secret with which the command polls.
    pub device_code: String,
    /// The code that the user confirms.
    pub user_code: UserCode,
}

/// The outcome of a login.
pub struct Outcome {
    /// The login.
    pub login: DeviceLogin,
    /// `pending`, `approved`, `denied` or `expired`.
    pub status: LoginOutcome,
    /// The key, if the login was approved.
    pub key: Option<ApiKey>,
}

/// A validated request for a login.
#[derive(Clone, Debug)]
pub struct LoginPlan {
    name: String,
    scopes: Vec<Scope>,
}

/// Validates a request for a login. It may ask for any scope, because an admin decides.
pub fn plan(request: &StartDeviceLogin) -> Result<LoginPlan, ApiError> {
    Ok(LoginPlan {
        name: api_keys::name(&request.name)?,
        scopes: api_keys::scopes(&request.scopes, &Scope::ALL)?,
    })
}

/// Begins a login.
pub async fn begin(app: &App, plan: LoginPlan, origin: &Origin) -> Result<StartedLogin, ApiError> {
    let now = app.clock.now();
    app.calls
        .count_address(Tries::DeviceLogins, origin.address, now)
        .await?;
    let mut random = [0; 8];
    app.random.fill(&mut random);
    let user_code = UserCode::new(random);
    let device_code = app.random.token();
    let login = DeviceLogin {
        id: app.random.id(now),
        status: DeviceLoginStatus::Pending,
        name: plan.name,
        scopes: plan.scopes,
        address: origin.address.to_string(),
        org_id: None,
        user_id: None,
        created_at: now,
        expires_at: now + DEVICE_LOGIN_LIFE,
    };
    let mut tx = app.db.write().await?;
    let hashes = (token_hash(&device_code), token_hash(&user_code.to_string()));
    tx.system(REASON)
        .create_device_login(&login, &hashes.0, &hashes.1)
        .await?;
    tx.commit().await?;
    Ok(StartedLogin {
        login,
        device_code,
        user_code,
    })
}

/// The login of a user's code, while a decision is possible. Counts the codes that a user tries.
pub async fn look(app: &App, user: UserId, code: &str) -> Result<DeviceLogin, ApiError> {
    let now = app.clock.now();
    let quota = app
        .calls
        .count(&format!("device-code:{user}"), CODES_PER_USER, now)
        .await?;
    if quota.exceeded {
        return Err(ApiError::RateLimited(quota.wait(now)));
    }
    let unknown = || ApiError::NotProven(UNKNOWN_CODE.to_owned());
    let code: UserCode = code
        .parse()
        .map_err(|_| ApiError::bad("The code must be eight letters, such as BCDF-GHJK"))?;
    let mut tx = app.db.read().await?;
    let login = tx
        .system(REASON)
        .device_login_by_user_code(&token_hash(&code.to_string()))
        .await?;
    login
        .filter(|login| login.status == DeviceLoginStatus::Pending && login.expires_at > app.clock.now())
        .ok_or_else(unknown)
}

/// Records a user's decision about a login. Only admins create keys of an organization.
pub async fn decide(app: &App, caller: &Caller, code: &str, approve: bool) -> Result<(), ApiError> {
    let Who::Session { user, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    let login = look(app, user.id, code).await?;
    if approve && caller.role < Some(Role::Admin) {
        return Err(ApiError::Forbidden(
            "This requires the role admin in the organization".to_owned(),
        ));
    }
    let (status, action) = match approve {
        true => (DeviceLoginStatus::Approved, "device_login.approve"),
        false => (DeviceLoginStatus::Denied, "device_login.deny"),
    };
    let mut write = Write::begin(app, caller).await?;
    let (org, now) = (write.org_id(), write.now());
    let decided = write
        .system("the user's code names the login")
        .decide_device_login(login.id, status, org, user.id, now)
        .await?;
    if !decided {
        return Err(ApiError::NotProven(UNKNOWN_CODE.to_owned()));
    }
    let details = json!({"name": login.name, "scopes": login.scopes, "address": login.address});
    write.audit(action, login.id, NOTHING, Some(&details)).await?;
    write.commit().await
}

/// The outcome of a login; after approval it includes the key, once.
pub async fn claim(app: &App, device_code: &str, origin: &Origin) -> Result<Outcome, ApiError> {
    app.calls
        .count_address(Tries::DeviceKeys, origin.address, app.clock.now())
        .await?;
    let unknown = || ApiError::NotProven("This login is unknown or already used. Start again.".to_owned());
    let mut tx = app.db.read().await?;
    let login = tx
        .system(REASON)
        .device_login_by_device_code(&token_hash(device_code))
        .await?;
    drop(tx);
    let login = login.ok_or_else(unknown)?;
    let without_key = |login, status| Outcome {
        login,
        status,
        key: None,
    };
    let (org, user) = match (login.status, login.org_id, login.user_id) {
        (DeviceLoginStatus::Used, ..) => return Err(unknown()),
        (DeviceLoginStatus::Denied, ..) => return Ok(without_key(login, LoginOutcome::Denied)),
        _ if login.expires_at <= app.clock.now() => return Ok(without_key(login, LoginOutcome::Expired)),
        (DeviceLoginStatus::Approved, Some(org), Some(user)) => (org, user),
        _ => return Ok(without_key(login, LoginOutcome::Pending)),
    };
    let mut write = Write::open(app, org, Actor::User(user), Some(origin)).await?;
    // Locked until the key exists: a concurrent removal of the user then sees the key.
    if write.org().hold_member(user).await? < Some(Role::Admin) {
        return Ok(without_key(login, LoginOutcome::Denied));
    }
    let now = write.now();
    if !write.system(REASON).use_device_login(login.id, now).await? {
        return Err(unknown());
    }
    let plan = KeyPlan {
        name: login.name.clone(),
        scopes: login.scopes.clone(),
        life: Some(login.key_life()),
    };
    let (key, _) = api_keys::create_for_login(&mut write, plan, login.id).await?;
    write.commit().await?;
    Ok(Outcome {
        login,
        status: LoginOutcome::Approved,
        key: Some(key),
    })
}
