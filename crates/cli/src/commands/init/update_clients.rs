//! Another service's update client in the app: what changes so that it asks the server
//! (`docs/reference/command-line.md#init-and-other-update-clients`).

use std::path::Path;

use launchway_domain::platform::Platform;
use launchway_project::framework::Framework;
use launchway_project::packages::Packages;
use launchway_project::sdk::additions::{AppFolder, ManualStep};
use launchway_project::sdk::is_used;
use launchway_project::source::Source;
use launchway_project::update_client::settings::settings;
use launchway_project::update_client::steps::{NewHome, steps};
use launchway_project::update_client::{UpdateClient, clients_in};
use serde_json::{Value, json};

use super::ids::Ids;
use crate::context::Context;

/// Stands for the address of the server where it is not known.
const UNKNOWN_SERVER: &str = "https://launchway.example.com";
/// Stands for the bundle identifier where it is not known.
const UNKNOWN_ID: &str = "BUNDLE_ID";

/// A client of the app.
#[derive(Debug)]
struct FoundClient {
    client: UpdateClient,
    package: &'static str,
    steps: Vec<ManualStep>,
}

/// The clients of the app.
#[derive(Debug, Default)]
pub struct UpdateClients {
    found: Vec<FoundClient>,
    has_sdk: bool,
}

impl UpdateClients {
    /// Looks what the app in `directory` of the project in `root` contains.
    pub fn find(root: &Path, directory: &str, framework: Option<Framework>, context: &Context, moving: Moving) -> Self {
        let source = Source::new(root);
        let packages = Packages::read(&source, directory);
        let (Some(packages), Some(framework)) = (packages, framework) else {
            return Self::default();
        };
        let app = AppFolder {
            root,
            directory,
            framework,
        };
        let home = moving.home();
        let of = |(client, package)| FoundClient {
            client,
            package,
            steps: steps(client, app, &settings(client, app), &home),
        };
        Self {
            found: clients_in(&packages).into_iter().map(of).collect(),
            has_sdk: is_used(Some(&packages), &context.settings.project),
        }
    }

    /// Whether the app contains none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether adding the SDK would put a second client beside one of these.
    pub fn excludes_sdk(&self) -> bool {
        !self.found.is_empty() && !self.has_sdk
    }

    /// Shows what to change.
    pub fn show(&self, context: &Context) {
        let names: Vec<&str> = self.found.iter().map(|found| found.client.title()).collect();
        if self.has_sdk && !names.is_empty() || names.len() > 1 {
            let sdk = self.has_sdk.then_some("the SDK");
            let names: Vec<&str> = names.iter().copied().chain(sdk).collect();
            context.printer.warn(&format!(
                "the app contains {}; only one update client may run in an app, so remove all but one",
                names.join(" and ")
            ));
        }
        for FoundClient { client, package, steps } in &self.found {
            let title = client.title();
            if self.excludes_sdk() {
                context.printer.note(&format!(
                    "The app contains {title} ({package}). It can stay and ask this server; the SDK is not added beside it."
                ));
            }
            for ManualStep { what, lines } in steps {
                let lines = lines.iter().map(|line| format!("\n    {line}"));
                let text = format!("{title}: {what}:{}", lines.collect::<String>());
                context.printer.warn(&text);
            }
        }
    }

    /// As the command prints it.
    pub fn json(&self) -> Value {
        let one = |found: &FoundClient| {
            let steps = found.steps.iter();
            let steps: Vec<Value> = steps
                .map(|step| json!({ "what": step.what, "lines": step.lines }))
                .collect();
            json!({ "client": found.client.as_str(), "package": found.package, "steps": steps })
        };
        self.found.iter().map(one).collect()
    }

    /// The same for people.
    pub fn line(&self) -> String {
        let one = |found: &FoundClient| {
            let steps = match found.steps.len() {
                0 => "set up for this server".to_owned(),
                1 => "1 step is left to you".to_owned(),
                many => format!("{many} steps are left to you"),
            };
            format!("{}: {steps}", found.client.title())
        };
        self.found.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

/// The server and the app that a client will ask for.
#[derive(Debug, Default)]
pub struct Moving {
    /// The address of the server, without `/api`.
    pub server: Option<String>,
    /// The bundle identifier on Android.
    pub android: Option<String>,
    /// The bundle identifier on iOS.
    pub ios: Option<String>,
}

impl Moving {
    /// The same with the identifiers of a new project.
    pub fn of(ids: &Ids, server: Option<String>) -> Self {
        let id = |platform: Platform| match ids {
            Ids::One(id) => id.clone(),
            Ids::Several(ids) => ids
                .iter()
                .find(|(of, _)| *of == platform)
                .and_then(|(_, id)| id.clone()),
        };
        Self {
            server,
            android: id(Platform::Android),
            ios: id(Platform::Ios),
        }
    }

    fn home(self) -> NewHome {
        // An app of one platform has only its own identifier.
        let android = self.android.clone().or_else(|| self.ios.clone());
        let ios = self.ios.or(self.android);
        let server = self.server.unwrap_or_else(|| UNKNOWN_SERVER.to_owned());
        NewHome {
            server: server.trim_end_matches('/').to_owned(),
            android: android.unwrap_or_else(|| UNKNOWN_ID.to_owned()),
            ios: ios.unwrap_or_else(|| UNKNOWN_ID.to_owned()),
        }
    }
}
