//! `doctor`: finds problems with settings, server, key, project and tools, and how to solve them.

mod app;
mod fingerprint;
mod project;
#[cfg(unix)]
mod sandbox;
mod sdk;
mod server;
pub mod stores;
mod tools;
mod trust;
mod update_clients;

use std::fmt::Write as _;
use std::path::Path;

use launchway_project::file::profile::Profile;
use serde::Serialize;
use serde_json::json;

use crate::args::Global;
use crate::args::project::DoctorArgs;
use crate::context::Context;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::{Printer, clean};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// Possibly intended, or relevant only on this machine.
    Warning,
    /// Commands will fail because of this.
    Problem,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    status: Status,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            message: message.into(),
            fix: None,
        }
    }

    fn warning(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            status: Status::Warning,
            fix: Some(fix.into()),
            ..Self::ok(check, message)
        }
    }

    fn problem(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            status: Status::Problem,
            fix: Some(fix.into()),
            ..Self::ok(check, message)
        }
    }

    /// The failure of a command as a finding.
    fn failure(check: &'static str, failure: Failure) -> Self {
        Self {
            status: Status::Problem,
            fix: failure.hint,
            ..Self::ok(check, failure.message)
        }
    }
}

/// Runs all checks. Unreadable settings are a finding, so that the other checks still run.
pub async fn run(
    arguments: &DoctorArgs,
    global: &Global,
    printer: Printer,
    environment: Environment,
) -> Result<(), Failure> {
    let mut findings = Vec::new();
    let config_path = global.config.clone().or_else(|| environment.path("LAUNCHWAY_CONFIG"));
    let framework = match Context::new(global, printer.clone(), environment.clone()) {
        Ok(context) => {
            findings.push(project::settings(&context, config_path.as_deref()));
            let (found, version) = server::look(&context).await;
            findings.extend(found);
            findings.extend(trust::look(&context).await);
            let profile = project::usual_profile(&context.settings.project);
            let framework = project::look(&context.settings.root, &profile, &mut findings);
            let text = std::fs::read_to_string(project::place(&context, config_path.as_deref())).unwrap_or_default();
            let platforms = fingerprint::project_platforms(&context);
            let settings = &context.settings;
            app::look(&settings.root, &settings.project, &text, &platforms, &mut findings);
            if !has_problem(&findings, &["packages", "native"]) {
                findings.extend(fingerprint::look(&context).await);
            }
            if let Some(framework) = framework {
                let directory = profile.directory.as_deref().unwrap_or_default();
                findings.extend(sdk::look(&context, framework, directory, version).await);
                findings.extend(update_clients::look(&context, framework, directory).await);
            }
            framework
        }
        Err(failure) => {
            findings.push(Finding::failure("settings", failure));
            project::look(Path::new(""), &Profile::default(), &mut findings)
        }
    };
    if let Some(framework) = framework {
        tools::look(framework, &environment, &mut findings);
    }
    if arguments.runner {
        #[cfg(unix)]
        findings.extend(sandbox::look().await);
        #[cfg(not(unix))]
        findings.push(Finding::problem(
            "sandbox",
            "runners work only on Linux and macOS",
            "use a Linux or macOS machine",
        ));
    }
    let problems = findings
        .iter()
        .filter(|finding| finding.status == Status::Problem)
        .count();
    let status = if problems == 0 { Status::Ok } else { Status::Problem };
    let summary = json!({ "status": status, "findings": findings });
    printer.result(&summary.to_string(), || prose(&findings))?;
    match problems {
        0 => Ok(()),
        1 => Err(Failure::failed("1 problem found")),
        many => Err(Failure::failed(format!("{many} problems found"))),
    }
}

/// Whether one of these checks found a problem, of which others would only report the consequences.
fn has_problem(findings: &[Finding], checks: &[&str]) -> bool {
    let is_problem = |finding: &Finding| finding.status == Status::Problem && checks.contains(&finding.check);
    findings.iter().any(is_problem)
}

fn prose(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let status = match finding.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Problem => "problem",
        };
        let _ = writeln!(text, "{status:7}  {}", clean(&finding.message));
        for line in finding.fix.iter().flat_map(|fix| fix.lines()) {
            let _ = writeln!(text, "         → {}", clean(line));
        }
    }
    text
}
