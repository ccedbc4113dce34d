//! The directory that is a phone: the app from the store in `app.json`, and the client's own folder beside it.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use launchway_client::{BaseUrl, Environment, SystemEnvironment};
use launchway_device::boot::{Binary, Ending};
use launchway_device::folder::Folder;
use launchway_device::ports::{Clock, Random};
use launchway_device::settings::{EmbeddedTrust, Settings};
use launchway_device::{Device, Launch, Ports};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_trust::TrustFile;
use launchway_trust::client::Client;
use serde::{Deserialize, Serialize};

use crate::args::device::StoreApp;
use crate::commands::device::network::Http;
use crate::context::now;
use crate::failure::{Exit, Failure};

/// The clock of this machine.
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        u64::try_from(now()).unwrap_or(0)
    }

    fn pause(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}

/// The randomness of this machine.
struct SystemRandom;

impl Random for SystemRandom {
    fn bytes(&self) -> [u8; 16] {
        SystemEnvironment.random()
    }
}

/// The app from the store, as `app.json` describes it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct App {
    server_url: String,
    bundle_id: String,
    platform: String,
    version: String,
    build: String,
    configuration: Option<String>,
    fingerprint: Option<String>,
    entry_file: String,
    /// The text of its trust file.
    trust: Option<String>,
    /// When it was installed and, as far as signed updates are concerned, built: milliseconds since 1970.
    installed_at: u64,
}

impl App {
    /// The app that `arguments` describe, installed now.
    pub fn from_store(arguments: StoreApp, server: &BaseUrl) -> Result<Self, Failure> {
        let trust = arguments.trust.map(|path| {
            fs::read_to_string(&path)
                .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
        });
        let app = Self {
            server_url: server.to_string(),
            bundle_id: arguments.bundle_id.as_str().to_owned(),
            platform: arguments.platform.as_str().to_owned(),
            version: arguments.version,
            build: arguments.build,
            configuration: arguments.configuration.map(|name| name.as_str().to_owned()),
            fingerprint: arguments.fingerprint,
            entry_file: arguments.entry_file,
            trust: trust.transpose()?,
            installed_at: SystemClock.now(),
        };
        let settings = app.settings()?;
        if let Some(trust) = &settings.trust {
            let configuration = settings.configuration.as_ref();
            Client::open(&trust.file, &settings.bundle_id, configuration, None)
                .map_err(|error| Failure::failed(format!("the trust file is not valid for this app: {error}")))?;
        }
        Ok(app)
    }

    /// The address of its server.
    pub fn server(&self) -> Result<BaseUrl, Failure> {
        let base = self.server_url.parse::<BaseUrl>();
        base.map_err(|error| invalid("serverUrl", &error))
    }

    /// A start of the app after a process that ended in this way.
    pub fn launch(&self, ending: Ending) -> Launch {
        Launch {
            binary: Binary {
                code: self.build.clone(),
                name: self.version.clone(),
                installed_at: self.installed_at,
            },
            window: true,
            ending,
        }
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let configuration = self.configuration.as_deref().map(Configuration::parse).transpose();
        let trust = self.trust.as_deref().map(|text| TrustFile::parse(text.as_bytes()));
        let trust = trust.transpose().map_err(|error| invalid("trust", &error))?;
        Ok(Settings {
            server_url: self.server_url.clone(),
            bundle_id: BundleId::parse(&self.bundle_id).map_err(|error| invalid("bundleId", &error))?,
            platform: self
                .platform
                .parse()
                .map_err(|_| invalid("platform", &"is not a platform"))?,
            version: self.version.clone(),
            fingerprint: self.fingerprint.clone(),
            configuration: configuration.map_err(|error| invalid("configuration", &error))?,
            trust: trust.map(|file| EmbeddedTrust {
                file,
                built_at: self.installed_at,
            }),
            entry_file: self.entry_file.clone(),
            keep_slots: 2,
            wifi_only: false,
        })
    }
}

fn invalid(field: &str, problem: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("app.json is not valid: {field}: {problem}"))
}

/// A directory that is a phone.
pub struct Phone {
    /// The directory.
    pub dir: PathBuf,
}

impl Phone {
    /// The installed app.
    pub fn app(&self) -> Result<App, Failure> {
        let text = fs::read_to_string(self.app_file()).map_err(|_| {
            let hint = "run `launchway device init` to install an app, or name the directory of a phone with --dir";
            Failure::new(Exit::NotFound, format!("{} is not a phone", self.dir.display())).hint(hint)
        })?;
        let path = self.app_file();
        serde_json::from_str(&text)
            .map_err(|error| Failure::failed(format!("{} is not valid: {error}", path.display())))
    }

    /// Installs an app in place of the one before.
    pub fn install(&self, app: &App) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(app).map_err(|error| Failure::failed(error.to_string()))?;
        let written = fs::create_dir_all(&self.dir).and_then(|()| fs::write(self.app_file(), text + "\n"));
        written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", self.app_file().display())))
    }

    /// Runs a process of the app.
    pub fn run<T>(&self, app: &App, network: &Http, work: impl FnOnce(&Device<'_>) -> T) -> Result<T, Failure> {
        let failed = |error: io::Error| Failure::failed(format!("cannot use {}: {error}", self.dir.display()));
        let storage = Folder::open(&self.client_dir()).map_err(failed)?;
        let settings = app.settings()?;
        let ports = Ports {
            storage: &storage,
            network,
            clock: &SystemClock,
            random: &SystemRandom,
        };
        let device = Device::open(ports, &settings).map_err(failed)?;
        if !device.is_main() {
            return Err(Failure::failed("another command is using this phone").hint("wait until it ends"));
        }
        Ok(work(&device))
    }

    /// The directory of the client.
    pub fn client_dir(&self) -> PathBuf {
        self.dir.join("client")
    }

    fn app_file(&self) -> PathBuf {
        self.dir.join("app.json")
    }
}
