//! `fingerprint`: what the project is natively (contract part 9).

mod diff;
mod embed;
pub mod native_needed;
mod side;

use launchway_domain::fingerprint::FingerprintDocument;
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::{self, CollectError};
use launchway_project::framework::Framework;
use serde_json::{Value, json};

use crate::args::fingerprint::{FingerprintArgs, FingerprintCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::table::Table;

pub async fn run(arguments: FingerprintArgs, context: &Context) -> Result<(), Failure> {
    match (arguments.command, arguments.platform) {
        (Some(FingerprintCommand::Diff(arguments)), _) => diff::run(arguments, context).await,
        (Some(FingerprintCommand::Embed { platform }), _) => embed::run(platform, context).await,
        (None, Some(platform)) => one(platform, arguments.document, context).await,
        (None, None) => all(context).await,
    }
}

async fn one(platform: Platform, document: bool, context: &Context) -> Result<(), Failure> {
    let found = collect(platform, context).await?;
    if document {
        return context.printer.raw(found.document.canonical().as_bytes());
    }
    context
        .printer
        .result(&found.json().to_string(), || format!("{}\n", found.document.hash()))
}

async fn all(context: &Context) -> Result<(), Failure> {
    let mut found = Vec::new();
    for platform in platforms(context)? {
        found.push(collect(platform, context).await?);
    }
    let items: Vec<Value> = found.iter().map(Collected::json).collect();
    context.printer.result(&json!({ "items": items }).to_string(), || {
        let mut table = Table::new(&["platform", "framework", "fingerprint"]);
        for one in &found {
            let hash = one.document.hash().to_string();
            table.row(vec![one.platform().to_string(), one.framework.title().to_owned(), hash]);
        }
        context.printer.table(&table)
    })
}

/// What a project is natively on a platform.
struct Collected {
    framework: Framework,
    document: FingerprintDocument,
}

impl Collected {
    fn platform(&self) -> Platform {
        self.document.platform()
    }

    fn json(&self) -> Value {
        json!({
            "platform": self.platform(),
            "framework": self.framework,
            "fingerprint": self.document.hash().as_str(),
            "document": document_json(&self.document),
        })
    }
}

/// A document as the API takes it.
fn document_json(document: &FingerprintDocument) -> Value {
    serde_json::from_str(&document.canonical()).unwrap_or_default()
}

/// Looks at the project. Reading many files takes its time, so it is done beside what waits for an interruption.
async fn collect(platform: Platform, context: &Context) -> Result<Collected, Failure> {
    let root = context.settings.root.clone();
    let rules = context.settings.project.fingerprint.clone();
    let work = move || {
        let framework = fingerprint::framework(&root, platform)?;
        let document = fingerprint::collect(&root, framework, platform, &rules)?;
        Ok(Collected { framework, document })
    };
    let found = tokio::task::spawn_blocking(work).await;
    let found = found.map_err(|error| Failure::failed(format!("the project could not be read: {error}")))?;
    found.map_err(|error: CollectError| Failure::failed(error.to_string()))
}

/// The platforms of the project. Fails when it has none.
fn platforms(context: &Context) -> Result<Vec<Platform>, Failure> {
    let found = fingerprint::platforms(&context.settings.root);
    let found = found.map_err(|error| Failure::failed(error.to_string()))?;
    if found.is_empty() {
        let message = "no app is found here: no configuration of a framework, and no native project";
        return Err(Failure::failed(message).hint("run this in the folder of the app, or name it with --config"));
    }
    Ok(found)
}
