//! `login`: accepts a server and a key, which a browser may provide, checks that they match, and saves them.

mod browser;

use launchway_api::auth::CallerView;
use launchway_client::{Answer, BaseUrl, Error};
use launchway_domain::api_key::ApiKey;
use launchway_domain::scope::Scope;

use crate::args::LoginArgs;
use crate::commands::whoami;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::login_file::Login;
use crate::service::Service;
use crate::settings::{Key, Origin, invalid_key};
use crate::terminal::read_input;

/// A key has 49 characters; longer input is not a key.
const LONGEST_INPUT: u64 = 4096;
const QUESTION: &str = "Press Enter to sign in with a browser, or paste an API key";

pub async fn run(arguments: LoginArgs, context: &Context) -> Result<(), Failure> {
    let wants_browser = arguments.browser || arguments.admin;
    let piped = !wants_browser && (arguments.with_key || context.terminal.is_piped());
    if !piped && !wants_browser && !context.terminal.is_interactive() {
        return Err(Failure::usage("no terminal to prompt for the key")
            .hint("pipe the key in: launchway login --url URL < key.txt; or give --browser"));
    }
    let url = server(context, !context.terminal.is_interactive() || piped).await?;
    if url.is_open_to_eavesdroppers() {
        context.printer.warn(&format!(
            "{url} is not encrypted: others on the network can read the key"
        ));
    }
    let text = match (wants_browser, piped) {
        (true, _) => String::new(),
        (false, true) => read_input(LONGEST_INPUT).await?,
        (false, false) => context.terminal.ask_hidden(QUESTION).await?,
    };
    let key = match text.trim() {
        "" if piped => {
            return Err(Failure::usage("no API key given")
                .hint("pipe the key in: launchway login --url URL < key.txt; or give --browser"));
        }
        "" => browser::key(&url, scopes(arguments), context).await?,
        text => ApiKey::parse(text).ok_or_else(|| invalid_key(Origin::Input))?,
    };

    let client = context.client_for(url.clone(), key.clone())?;
    let answer: Answer<CallerView> = client.session().await.map_err(refused)?;
    right_service(context.settings.service, &url, &answer.value)?;
    let place = context.login_file.save(
        context.settings.service,
        &Login {
            url: url.clone(),
            key,
            org: None,
        },
    )?;
    context
        .printer
        .note(&format!("Logged in; the key is saved in {}", place.display()));
    if let Key::Known {
        source: source @ Origin::Variable(_),
        ..
    } = context.settings.key
    {
        context
            .printer
            .warn(&format!("{source} is set and overrides this login"));
    }
    context
        .printer
        .result(&answer.body, || whoami::prose(&answer.value, &url, Origin::Login))
}

/// The scopes of the key that a browser creates.
fn scopes(arguments: LoginArgs) -> Vec<String> {
    let mut scopes = arguments.scopes;
    if arguments.admin {
        scopes.push(Scope::Admin.as_str().to_owned());
    }
    scopes
}

/// The named server, or else the answer to a prompt. The addresses of the previous login and of `launchway.toml`, which
/// is untrusted, are only proposed; without a prompt, a key is never sent to the latter.
async fn server(context: &Context, unasked: bool) -> Result<BaseUrl, Failure> {
    let known = context.settings.url.as_ref();
    match known {
        Some(url) if unasked && url.source == Origin::Project => {
            return Err(Failure::usage(format!(
                "not logging in to {}: only launchway.toml specifies this address",
                url.value
            ))
            .hint(format!("give --url {}, or set LAUNCHWAY_URL", url.value)));
        }
        Some(url) if unasked || !matches!(url.source, Origin::Login | Origin::Project) => return Ok(url.value.clone()),
        None if unasked => {
            return Err(Failure::usage("no server specified").hint("give --url, or set LAUNCHWAY_URL"));
        }
        _ => {}
    }
    let proposed = known.map(|url| url.value.to_string());
    let text = context.terminal.ask("Server", proposed.as_deref()).await?;
    text.parse()
        .map_err(|why| Failure::usage(format!("the address of the server: {why}")))
}

/// The usual hint, to log in, does not help here.
fn refused(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Auth => failure.hint("check that the key belongs to this server and is not revoked"),
        _ => failure,
    }
}

/// The keys of one service are unknown to the other, so that a login at the wrong one would be useless.
fn right_service(wanted: Service, url: &BaseUrl, caller: &CallerView) -> Result<(), Failure> {
    if caller.environment == wanted.environment() {
        return Ok(());
    }
    let hint = match wanted {
        Service::Production => "log in with --dev, and give --dev to later commands as well",
        Service::Development => "log in without --dev",
    };
    let message = format!(
        "{url} is the {} server, not the {} server",
        caller.environment,
        wanted.as_str()
    );
    Err(Failure::new(Exit::Usage, message).hint(hint))
}
