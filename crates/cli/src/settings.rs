//! Resolves settings: flags win over the environment, the environment over `launchway.toml`, and that over the saved login
//! (`docs/reference/command-line.md#precedence`).

pub mod environment;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use launchway_api::words::ServiceEnvironment;
use launchway_client::BaseUrl;
use launchway_domain::api_key::ApiKey;
use launchway_project::file::{self, Project, Update};

use crate::args::Global;
use crate::failure::{Exit, Failure};
use crate::login_file::{Login, LoginFile};
use crate::settings::environment::Environment;

/// Where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag.
    Flag(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// `launchway.toml`.
    Project,
    /// The saved login.
    Login,
    /// What was typed or piped in.
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

/// A value and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Where it was found.
    pub source: Origin,
}

/// Who calls.
#[derive(Debug, PartialEq)]
pub enum Key {
    /// This key.
    Known {
        /// The key.
        key: ApiKey,
        /// Where it was found.
        source: Origin,
    },
    /// Nobody has logged in.
    None,
    /// The text that was found there is not a key. It matters only once a key is needed.
    Unusable(Origin),
    /// Somebody has logged in, but to this other server, and the key must not go anywhere else: `launchway.toml` comes
    /// with a project, which may be anybody's.
    ForAnotherServer(BaseUrl),
    /// A key of the environment, and an address that only `launchway.toml` names. Whoever may change the source could have
    /// the key sent to a server of their own.
    AddressOfProject(Origin),
}

/// Which of the two environments (`docs/reference/service.md#environments`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// The one for users.
    Production,
    /// The one for trying things, `--dev`.
    Development,
}

impl Service {
    /// Its name on the wire and in the login file.
    pub const fn as_str(self) -> &'static str {
        self.environment().as_str()
    }

    /// What its server says it is.
    pub const fn environment(self) -> ServiceEnvironment {
        match self {
            Service::Production => ServiceEnvironment::Production,
            Service::Development => ServiceEnvironment::Development,
        }
    }
}

/// What holds.
#[derive(Debug)]
pub struct Settings {
    /// Which of the two services.
    pub service: Service,
    /// Where it is.
    pub url: Option<Found<BaseUrl>>,
    /// Who calls.
    pub key: Key,
    /// The organization to name in each call.
    pub org: Option<Found<String>>,
    /// Where the project is: the directory of `launchway.toml`, or empty for the current one.
    pub root: PathBuf,
    /// What `launchway.toml` says of updates and the app.
    pub project: Project,
    /// What people should know about where this was found.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads the files and decides. Fails when a value cannot be understood; the failure says where it stands.
    pub fn read(global: &Global, environment: &Environment, logins: &LoginFile) -> Result<Self, Failure> {
        let told = match &global.config {
            Some(path) => Some(path.clone()),
            None => environment.path("LAUNCHWAY_CONFIG"),
        };
        let here = std::env::current_dir()
            .map_err(|error| Failure::failed(format!("the current directory cannot be read: {error}")))?;
        let (root, project) =
            file::find(&here, told.as_deref()).map_err(|problem| Failure::usage(problem.to_string()))?;
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

    /// What `launchway.toml` says of updates.
    pub fn update(&self) -> &Update {
        &self.project.update
    }
}

/// Decides from what was read. Reads nothing itself.
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
    let flag = global.url.clone().map(|value| Found {
        value,
        source: Origin::Flag("--url"),
    });
    let url = match (flag, environment.text("LAUNCHWAY_URL")?, in_project) {
        (Some(flag), _, _) => Some(flag),
        (None, Some(text), _) => Some(address(&text, Origin::Variable("LAUNCHWAY_URL"))?),
        (None, None, Some(text)) => Some(address(text, Origin::Project)?),
        (None, None, None) => login.as_ref().map(|login| Found {
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
        .find_map(|(value, source)| Some(Found { value: value?, source }));
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

/// The key of the variable, else that of the login, unless it must not go to this address.
fn decide_key(variable: Option<&str>, login: Option<Login>, url: Option<&Found<BaseUrl>>) -> Key {
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

/// Whether the user named the address: by a flag, a variable, or a login to the very same one.
fn is_trusted(url: Option<&Found<BaseUrl>>, login: Option<&Login>) -> bool {
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

fn address(text: &str, source: Origin) -> Result<Found<BaseUrl>, Failure> {
    let value = BaseUrl::from_str(text).map_err(|why| Failure::usage(format!("the address in {source}: {why}")))?;
    Ok(Found { value, source })
}

/// The failure of a text that is no API key. It does not show the text, which may be a mistyped key.
pub fn not_a_key(source: Origin) -> Failure {
    Failure::new(Exit::Auth, format!("{source} is not an API key"))
        .hint("a key is lw_ and 46 letters and digits; copy all of it")
}

#[cfg(test)]
mod tests;
