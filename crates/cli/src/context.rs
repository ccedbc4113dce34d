//! The context of every command: printer, terminal, settings and the client for the server.

use std::sync::Arc;
use std::time::Duration;

use launchway_client::{
    BaseUrl, Client, Environment as ClientEnvironment, Options, Pause, Reason, SystemEnvironment, Timeouts,
};
use launchway_domain::api_key::ApiKey;
use launchway_domain::time::EpochMs;

use crate::args::Global;
use crate::environment::Environment;
use crate::failure::{Exit, Failure};
use crate::login_file::LoginFile;
use crate::printer::Printer;
use crate::service::Service;
use crate::settings::{Key, Origin, Settings, invalid_key};
use crate::terminal::Terminal;

/// The context of every command.
pub struct Context {
    pub printer: Printer,
    pub terminal: Terminal,
    /// Resolved from flags, environment, project and login.
    pub settings: Settings,
    pub login_file: LoginFile,
    /// The environment variables.
    pub environment: Environment,
}

impl Context {
    /// Reads settings and login. Fails when one of them is invalid.
    pub fn new(global: &Global, printer: Printer, environment: Environment) -> Result<Self, Failure> {
        let login_file = LoginFile::of(&environment)?;
        let settings = Settings::read(global, &environment, &login_file)?;
        for warning in &settings.warnings {
            printer.warn(warning);
        }
        let terminal = Terminal::new(&environment);
        Ok(Self {
            printer,
            terminal,
            settings,
            login_file,
            environment,
        })
    }

    /// The time on this machine's clock.
    pub fn now(&self) -> EpochMs {
        now()
    }

    /// The client with the server, caller and organization of the settings. Fails when server or caller is unknown.
    pub fn client(&self) -> Result<Client, Failure> {
        self.client_in(self.settings.org.as_ref().map(|org| org.value.clone()))
    }

    /// The same client in another organization, or in the caller's own.
    pub fn client_in(&self, org: Option<String>) -> Result<Client, Failure> {
        let Some(url) = &self.settings.url else {
            return Err(self.nowhere());
        };
        let key = match &self.settings.key {
            Key::Known { key, .. } => key,
            Key::Unusable(source) => return Err(invalid_key(*source)),
            Key::None => {
                let variables = match url.source {
                    Origin::Project => "LAUNCHWAY_URL and LAUNCHWAY_API_KEY",
                    _ => "LAUNCHWAY_API_KEY",
                };
                return Err(Failure::new(Exit::Auth, format!("not logged in to {}", url.value))
                    .hint(format!("run `launchway login`, or set {variables}")));
            }
            Key::AddressOfProject(source) => return Err(address_of_project(*source, &url.value)),
            Key::ForAnotherServer(other) => {
                let message = format!(
                    "not logged in to {} ({}); the saved login is for {other}",
                    url.value, url.source
                );
                return Err(Failure::new(Exit::Auth, message).hint(format!(
                    "run `launchway login --url {}`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY",
                    url.value
                )));
            }
        };
        self.client_of(url.value.clone(), Some(key.clone()), org)
    }

    /// Prints the address of the dashboard's page of a build, a submission or an update, also beside JSON.
    pub fn note_page(&self, base: &BaseUrl, id: &str) {
        if let Some(page) = base.page_of(id) {
            self.printer.note(&format!("Page: {page}"));
        }
    }

    /// The failure of a command without a known server.
    fn nowhere(&self) -> Failure {
        let (login, key) = match self.settings.service {
            Service::Production => ("launchway login", "url"),
            Service::Development => ("launchway login --dev", "dev_url"),
        };
        match self.settings.key {
            Key::None => Failure::new(
                Exit::Auth,
                format!("not logged in to {}", self.settings.service.as_str()),
            )
            .hint(format!("run `{login}`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY")),
            _ => Failure::usage("no server specified").hint(format!(
                "give --url, set LAUNCHWAY_URL, or set {key} under [server] in launchway.toml"
            )),
        }
    }

    /// A client for this server with a key that is not the saved one, and with the organization that the user named.
    pub fn client_for(&self, base: BaseUrl, key: ApiKey) -> Result<Client, Failure> {
        // The organization that was chosen for the saved key does not apply to this key.
        let chosen = self.settings.org.as_ref().filter(|org| org.source != Origin::Login);
        self.client_of(base, Some(key), chosen.map(|org| org.value.clone()))
    }

    /// A client for requests to this server that need no key.
    pub fn client_without_key(&self, base: BaseUrl) -> Result<Client, Failure> {
        self.client_of(base, None, None)
    }

    fn client_of(&self, base: BaseUrl, key: Option<ApiKey>, org: Option<String>) -> Result<Client, Failure> {
        let environment = Arc::new(AnnouncingEnvironment(self.printer.clone()));
        Ok(Client::new(Options {
            base,
            key,
            org,
            timeouts: Timeouts::default(),
            environment,
        })?)
    }
}

/// The failure of a key whose destination only a file of the source names.
fn address_of_project(key: Origin, url: &BaseUrl) -> Failure {
    let message = format!("not sending {key} to {url}: only launchway.toml specifies this address");
    Failure::new(Exit::Auth, message).hint(
        "a change to the source, such as a pull request, could redirect the key to another server: set LAUNCHWAY_URL to the server of the key, or give --url",
    )
}

/// The system environment, which also prints what it waits for.
struct AnnouncingEnvironment(Printer);

impl ClientEnvironment for AnnouncingEnvironment {
    fn pause(&self, delay: Duration, reason: Reason) -> Pause<'_> {
        if delay >= Duration::from_secs(1) && reason != Reason::Unchanged {
            self.0.note(&format!("Retrying in {} s: {reason}", delay.as_secs()));
        }
        SystemEnvironment.pause(delay, reason)
    }

    fn random(&self) -> [u8; 16] {
        SystemEnvironment.random()
    }
}

/// The time on this machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the command line reads the clock"
)]
pub fn now() -> EpochMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| EpochMs::try_from(since.as_millis()).unwrap_or(EpochMs::MAX))
}
