//! Resolves settings: flags win over the environment, the environment over `launchway.toml`, and that over the saved
//! login (`docs/reference/command-line.md#precedence`).

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use launchway_client::BaseUrl;
use launchway_domain::api_key::ApiKey;
use launchway_project::file::{self, Project, Update};

use crate::args::Global;
use crate::environment::Environment;
use crate::failure::{Exit, Failure};
use crate::login_file::{Login, LoginFile};
use crate::service::Service;

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    Project,
    Login,
    /// Typed or piped input.
    Input,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(name) | Origin::Variable(name) => f.write_str(name),
            Origin::Project => f.write_str("launchway.toml"),
            Origin::Login => f.write_str("saved login"),
            Origin::Input => f.write_str("the input"),
        }
    }
}

/// A value and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    pub value: T,
    pub source: Origin,
}

/// The caller.
#[derive(Debug, PartialEq)]
pub enum Key {
    Known {
        key: ApiKey,
        source: Origin,
    },
    /// No user has logged in.
    None,
    /// The text from this source is not a key, which matters only when a key is needed.
    Unusable(Origin),
    /// There is a login, but for this other server. The key must not go anywhere else: `launchway.toml` belongs to the
    /// project, which is untrusted.
    ForAnotherServer(BaseUrl),
    /// There is a key in the environment, and an address that only `launchway.toml` names. Anyone who can change the
    /// source could have the key sent to their own server.
    AddressOfProject(Origin),
}

/// The resolved settings.
#[derive(Debug)]
pub struct Settings {
    pub service: Service,
    pub url: Option<Sourced<BaseUrl>>,
    pub key: Key,
    /// The organization to send with each request.
    pub org: Option<Sourced<String>>,
    /// The directory of the project: that of `launchway.toml`, or empty for the current one.
    pub root: PathBuf,
    /// The content of `launchway.toml`.
    pub project: Project,
    /// Warnings about the sources of these values.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads the files and resolves the settings. Fails when a value is invalid; the failure names its source.
    pub fn read(global: &Global, environment: &Environment, logins: &LoginFile) -> Result<Self, Failure> {
        let config_path = match &global.config {
            Some(path) => Some(path.clone()),
            None => environment.path("LAUNCHWAY_CONFIG"),
        };
        let here = std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot read the current directory: {error}")))?;
        let (root, project) =
            file::find(&here, config_path.as_deref()).map_err(|problem| Failure::usage(problem.to_string()))?;
        let service = if global.dev {
            Service::Development
        } else {
            Service::Production
        };
        let (login, warning) = logins.load(service)?;
        let mut settings = decide(global, environment, project, login)?;
        settings.root = root;
        settings.warnings.extend(warning);
        Ok(settings)
    }

    /// The `[update]` table of `launchway.toml`.
    pub fn update(&self) -> &Update {
        &self.project.update
    }
}

/// Resolves the settings. Performs no I/O.
fn decide(
    global: &Global,
    environment: &Environment,
    project: Project,
    login: Option<Login>,
) -> Result<Settings, Failure> {
    let service = if global.dev {
        Service::Development
    } else {
        Service::Production
    };
    let in_project = if global.dev {
        &project.server.dev_url
    } else {
        &project.server.url
    };
    let flag = global.url.clone().map(|value| Sourced {
        value,
        source: Origin::Flag("--url"),
    });
    let url = match (flag, environment.text("LAUNCHWAY_URL")?, in_project) {
        (Some(flag), _, _) => Some(flag),
        (None, Some(text), _) => Some(address(&text, Origin::Variable("LAUNCHWAY_URL"))?),
        (None, None, Some(text)) => Some(address(text, Origin::Project)?),
        (None, None, None) => login.as_ref().map(|login| Sourced {
            value: login.url.clone(),
            source: Origin::Login,
        }),
    };
    let chosen = login.as_ref().and_then(|login| login.org.clone());
    let key = decide_key(environment.text("LAUNCHWAY_API_KEY")?.as_deref(), login, url.as_ref());
    let flag = global.org.clone().filter(|org| !org.is_empty());
    let known = [
        (flag, Origin::Flag("--org")),
        (environment.text("LAUNCHWAY_ORG")?, Origin::Variable("LAUNCHWAY_ORG")),
        (project.server.org.clone(), Origin::Project),
        (chosen.filter(|_| is_from_login(&key)), Origin::Login),
    ];
    let org = known
        .into_iter()
        .find_map(|(value, source)| Some(Sourced { value: value?, source }));
    Ok(Settings {
        service,
        url,
        key,
        org,
        root: PathBuf::new(),
        project,
        warnings: Vec::new(),
    })
}

/// The key of the variable, or else that of the login, unless it must not go to this address.
fn decide_key(variable: Option<&str>, login: Option<Login>, url: Option<&Sourced<BaseUrl>>) -> Key {
    match (variable, login) {
        (Some(text), login) => {
            let source = Origin::Variable("LAUNCHWAY_API_KEY");
            match ApiKey::parse(text.trim()) {
                Some(_) if !is_trusted(url, login.as_ref()) => Key::AddressOfProject(source),
                Some(key) => Key::Known { key, source },
                None => Key::Unusable(source),
            }
        }
        (None, None) => Key::None,
        (None, Some(login)) => match url {
            Some(url) if url.value != login.url => Key::ForAnotherServer(login.url),
            _ => Key::Known {
                key: login.key,
                source: Origin::Login,
            },
        },
    }
}

/// Whether the user named the address: by a flag, a variable, or a login to the same one.
fn is_trusted(url: Option<&Sourced<BaseUrl>>, login: Option<&Login>) -> bool {
    url.is_none_or(|url| url.source != Origin::Project || login.is_some_and(|login| login.url == url.value))
}

fn is_from_login(key: &Key) -> bool {
    matches!(
        key,
        Key::Known {
            source: Origin::Login,
            ..
        }
    )
}

fn address(text: &str, source: Origin) -> Result<Sourced<BaseUrl>, Failure> {
    let value = BaseUrl::from_str(text).map_err(|why| Failure::usage(format!("the address in {source}: {why}")))?;
    Ok(Sourced { value, source })
}

/// The failure for a text that is not an API key. It does not contain the text, which may be a mistyped key.
pub fn invalid_key(source: Origin) -> Failure {
    Failure::new(Exit::Auth, format!("{source} is not an API key"))
        .hint("a key is lw_ followed by 46 letters and digits; copy all of it")
}

#[cfg(test)]
mod tests;
