//! `fingerprint`: the fingerprint of the project (`docs/reference/fingerprints.md`).

pub mod diff;
pub mod native_needed;
pub mod newest;
pub mod side;

use launchway_api::updates::FingerprintInput;
use launchway_domain::fingerprint::FingerprintDocument;
use launchway_domain::platform::Platform;
use launchway_project::fingerprint::{self, CollectError, Documents, without_native_project};
use launchway_project::framework::Framework;
use serde_json::{Value, json};

use crate::args::fingerprint::{AppArgs, FingerprintArgs, FingerprintCommand};
use crate::commands::{app, embed, run_blocking};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::table::Table;

pub async fn run(arguments: FingerprintArgs, context: &Context) -> Result<(), Failure> {
    match (arguments.command, arguments.platform) {
        (Some(FingerprintCommand::Diff(arguments)), _) => diff::run(arguments, context).await,
        (Some(FingerprintCommand::Embed(arguments)), _) => embed::run_if_trusted(arguments, context).await,
        (None, Some(platform)) => one(platform, &arguments.app, arguments.document, context).await,
        (None, None) => all(&arguments.app, context).await,
    }
}

async fn one(platform: Platform, app: &AppArgs, document: bool, context: &Context) -> Result<(), Failure> {
    let found = collect(platform, app, context).await?;
    if document {
        return context.printer.line(found.documents.first.canonical().as_bytes());
    }
    context
        .printer
        .result(&found.json().to_string(), || format!("{}\n", found.documents.hash()))
}

async fn all(app: &AppArgs, context: &Context) -> Result<(), Failure> {
    let mut found = Vec::new();
    let mut problem = None;
    for platform in platforms(app, context)? {
        match look(platform, app.profile.as_deref(), false, context).await? {
            Ok(one) => found.push(one),
            Err(error) => {
                context.printer.warn(&format!("{platform}: {error}"));
                problem = problem.or(Some(error));
            }
        }
    }
    if let Some(problem) = problem.filter(|_| found.is_empty()) {
        return Err(Failure::failed(problem.to_string()));
    }
    let items: Vec<Value> = found.iter().map(Collected::json).collect();
    context.printer.result(&json!({ "items": items }).to_string(), || {
        let mut table = Table::new(&["platform", "framework", "fingerprint"]);
        for one in &found {
            let hash = one.documents.hash().to_string();
            table.row(vec![one.platform().to_string(), one.framework.title().to_owned(), hash]);
        }
        context.printer.table(&table)
    })
}

/// The native parts of a project on a platform.
pub struct Collected {
    /// Its framework.
    pub framework: Framework,
    /// Its documents.
    pub documents: Documents,
}

/// The fingerprint as requests to the server contain it.
pub struct FingerprintFields {
    /// The `lwfp-1` document.
    pub input: FingerprintInput,
    /// The `lwfp-2` hash.
    pub lwfp2: String,
}

impl Collected {
    fn platform(&self) -> Platform {
        self.documents.first.platform()
    }

    /// As the API accepts it.
    pub fn request_fields(&self) -> Option<FingerprintFields> {
        Some(FingerprintFields {
            input: serde_json::from_value(document_json(&self.documents.first)).ok()?,
            lwfp2: self.documents.second.hash().to_string(),
        })
    }

    fn json(&self) -> Value {
        json!({
            "platform": self.platform(),
            "framework": self.framework,
            "fingerprint": self.documents.hash().as_str(),
            "lwfp2": self.documents.second.hash().as_str(),
            "document": document_json(&self.documents.first),
        })
    }
}

/// A document as the API accepts it.
fn document_json(document: &FingerprintDocument) -> Value {
    serde_json::from_str(&document.canonical()).unwrap_or_default()
}

/// The fingerprint of a build of the local project; `None` when it cannot be computed, with a warning if it should be.
pub async fn build_fingerprint(
    platform: Platform,
    profile: &Option<String>,
    context: &Context,
) -> Result<Option<FingerprintFields>, Failure> {
    match look(platform, profile.as_deref(), false, context).await? {
        Ok(found) => Ok(found.request_fields()),
        Err(CollectError::NoApp(_)) => Ok(None),
        Err(problem) => {
            let message = format!("The fingerprint is not known yet: {problem}. The runner determines it.");
            context.printer.note(&message);
            Ok(None)
        }
    }
}

async fn collect(platform: Platform, app: &AppArgs, context: &Context) -> Result<Collected, Failure> {
    let found = look(platform, app.profile.as_deref(), false, context).await?;
    found.map_err(|error| Failure::failed(error.to_string()))
}

/// Computes the fingerprint. Reading many files takes time, so it runs on a separate thread.
pub async fn look(
    platform: Platform,
    profile: Option<&str>,
    generated: bool,
    context: &Context,
) -> Result<Result<Collected, CollectError>, Failure> {
    let place = app::place(platform, profile, context)?;
    let root = context.settings.root.clone();
    let rules = context.settings.project.fingerprint.clone();
    let work = move || {
        let rules = match generated {
            true => without_native_project(&rules, platform),
            false => rules,
        };
        let (framework, documents) = fingerprint::app_documents(&root, &place, platform, &rules)?;
        Ok(Collected { framework, documents })
    };
    run_blocking(work).await
}

/// The platforms of the project. Fails when it has none.
pub fn platforms(app: &AppArgs, context: &Context) -> Result<Vec<Platform>, Failure> {
    let found = find_platforms(app, context)?;
    if found.is_empty() {
        let message = "no app found here: no framework configuration and no native project";
        return Err(
            Failure::failed(message).hint("run this in the app's directory, or give its settings file with --config")
        );
    }
    Ok(found)
}

/// The platforms of the project; empty when it has none.
pub fn find_platforms(app: &AppArgs, context: &Context) -> Result<Vec<Platform>, Failure> {
    let mut found = Vec::new();
    for platform in Platform::ALL {
        let place = app::place(platform, app.profile.as_deref(), context)?;
        let root = context.settings.root.join(place.directory);
        match fingerprint::has_project(&root, platform) {
            Ok(true) => found.push(platform),
            Ok(false) => {}
            Err(error) => return Err(Failure::failed(error.to_string())),
        }
    }
    Ok(found)
}
