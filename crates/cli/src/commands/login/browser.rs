//! Obtains a key through a browser: displays a code and where to confirm it, and waits until a signed-in user has done
//! so.

use std::process::{Command, Stdio};
use std::time::Duration;

use launchway_api::device_logins::{ClaimDeviceLogin, StartDeviceLogin};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_api::words::LoginOutcome;
use launchway_client::{BaseUrl, Error};
use launchway_domain::api_key::ApiKey;

use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Longest pause that a server can request; the login expires after 10 minutes.
const LONGEST_PAUSE: u64 = 30;

/// The key that a user confirms.
pub async fn key(url: &BaseUrl, scopes: Vec<String>, context: &Context) -> Result<ApiKey, Failure> {
    let client = context.client_without_key(url.clone())?;
    let wanted = StartDeviceLogin {
        name: name(context),
        scopes: scopes.into_iter().map(open::Scope::of).collect(),
    };
    let login = client.start_device_login(&wanted).await.map_err(unknown)?.value;
    context.terminal.instruct(&format!(
        "Open {}\nand confirm the code {}",
        login.verification_url_complete, login.user_code
    ));
    if context.terminal.is_interactive() {
        open(&login.verification_url_complete, context);
    }
    let claim = ClaimDeviceLogin {
        device_code: SecretText::new(login.device_code),
    };
    let seconds = u64::try_from(login.interval).unwrap_or(0).min(LONGEST_PAUSE);
    loop {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let outcome = client.claim_device_login(&claim).await.map_err(lost)?.value;
        let key = outcome.key.as_deref().and_then(ApiKey::parse);
        match (outcome.status.known(), key) {
            (Some(LoginOutcome::Pending), _) => {}
            (Some(LoginOutcome::Approved), Some(key)) => return Ok(key),
            (Some(LoginOutcome::Denied), _) => {
                return Err(Failure::new(Exit::Auth, "the sign-in was refused in the browser"));
            }
            (Some(LoginOutcome::Expired), _) => {
                return Err(
                    Failure::new(Exit::Auth, "the code was not confirmed in time").hint("run `launchway login` again")
                );
            }
            _ => {
                return Err(Failure::new(
                    Exit::Server,
                    format!("{url} confirmed the sign-in without a key"),
                ));
            }
        }
    }
}

/// The name of the key, which identifies this machine.
fn name(context: &Context) -> String {
    let machine = machine(context);
    let machine: String = machine.chars().filter(|letter| !letter.is_control()).take(60).collect();
    match machine.is_empty() {
        true => "launchway".to_owned(),
        false => format!("launchway on {machine}"),
    }
}

#[cfg(unix)]
fn machine(_context: &Context) -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine(context: &Context) -> String {
    let name = context.environment.text("COMPUTERNAME").ok().flatten();
    name.unwrap_or_default()
}

/// Older servers do not support this login.
fn unknown(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::NotFound => Failure::new(Exit::Server, "the server does not support sign-in with a browser")
            .hint("paste an API key, or pipe it in: launchway login --with-key < key.txt"),
        _ => failure,
    }
}

/// The code was used: a response with the key was lost.
fn lost(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Auth => failure.hint("run `launchway login` again"),
        _ => failure,
    }
}

/// Opens the page if this user has a browser. A browser that does not open is not a failure, because the address is
/// displayed.
fn open(address: &str, context: &Context) {
    let web = address.starts_with("https://") || address.starts_with("http://");
    let far = context.environment.has("SSH_CONNECTION");
    let screen = context.environment.has("DISPLAY") || context.environment.has("WAYLAND_DISPLAY");
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if screen {
        ("xdg-open", &[])
    } else {
        return;
    };
    if !web || far {
        return;
    }
    let mut command = Command::new(program);
    command.args(arguments).arg(address);
    // The browser runs independently, and its output does not belong on this terminal.
    let _ = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
