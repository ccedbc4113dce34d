//! `build show`: all details of one build. The other commands print a build in the same form.

use indicatif::HumanBytes;
use launchway_api::builds::{BuildView, GitView, PhaseView};
use launchway_client::{Answer, Client};
use launchway_domain::build::BuildStatus;

use crate::context::Context;
use crate::failure::Failure;
use crate::names::Names;
use crate::printer::fields::fields;

pub async fn run(id: &str, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.build(id).await?;
    print(&answer, &client, context).await
}

/// Prints a build.
pub async fn print(answer: &Answer<BuildView>, client: &Client, context: &Context) -> Result<(), Failure> {
    let build = &answer.value;
    let names = Names::read([build.created_by.as_str()], client, context).await;
    context.printer.result(&answer.body, || prose(build, &names))
}

/// A build as text.
fn prose(build: &BuildView, names: &Names) -> String {
    let mut text = facts(build, names);
    if !build.phases.is_empty() {
        text.push_str("\nPhases\n");
        let rows: Vec<_> = build
            .phases
            .iter()
            .map(|phase| (phase.name.as_str(), ended(phase)))
            .collect();
        text.push_str(&fields(&rows));
    }
    if !build.artifacts.is_empty() {
        text.push_str("\nArtifacts\n");
        for artifact in &build.artifacts {
            let size = HumanBytes(artifact.size.try_into().unwrap_or(0));
            text.push_str(&fields(&[
                (artifact.name.as_str(), format!("{}, {size}", artifact.kind)),
                ("", artifact.sha256.clone()),
            ]));
        }
    }
    text
}

fn facts(build: &BuildView, names: &Names) -> String {
    let or = |value: &Option<String>| value.clone().unwrap_or_default();
    let status = match (&build.phase, build.cancel_requested) {
        (_, true) => format!("{}, cancel requested", build.status),
        (Some(phase), false) if build.status == BuildStatus::Running => format!("{} ({phase})", build.status),
        _ => build.status.to_string(),
    };
    let version = match (&build.version, &build.build_number) {
        (Some(version), Some(number)) => format!("{version} (build {number})"),
        (Some(version), None) => version.clone(),
        (None, Some(number)) => format!("build {number}"),
        (None, None) => String::new(),
    };
    let attempt = if build.attempt > 1 {
        build.attempt.to_string()
    } else {
        String::new()
    };
    let priority = if build.priority == 0 {
        String::new()
    } else {
        build.priority.to_string()
    };
    let install = build.install.as_ref();
    fields(&[
        ("Id", build.id.clone()),
        ("Status", status),
        ("Waiting for", or(&build.waiting_for)),
        (
            "Error",
            build
                .error
                .as_ref()
                .map(|error| error.message.clone())
                .unwrap_or_default(),
        ),
        ("App", build.bundle_id.clone()),
        ("Platform", build.platform.to_string()),
        ("Version", version),
        ("Kind", format!("{}, {}", build.build_type, build.distribution)),
        ("Profile", or(&build.profile)),
        ("Configuration", or(&build.configuration)),
        ("Fingerprint", or(&build.fingerprint)),
        ("Source", build.git.as_ref().map(source).unwrap_or_default()),
        ("Priority", priority),
        ("Attempt", attempt),
        ("Runner", or(&build.runner)),
        ("Retry of", or(&build.parent_id)),
        (
            "Created",
            format!("{} by {}", build.created_at, names.label(&build.created_by)),
        ),
        ("Started", or(&build.started_at)),
        ("Finished", or(&build.finished_at)),
        ("Warnings", build.warnings.join("\n")),
        ("Install", install.map(|link| link.url.clone()).unwrap_or_default()),
    ])
}

fn source(git: &GitView) -> String {
    let commit = git.commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit));
    let first_line = git.message.as_deref().and_then(|message| message.lines().next());
    let dirty = git.dirty.unwrap_or(false).then_some("with uncommitted changes");
    let parts = [git.branch.as_deref(), commit, dirty, first_line];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn ended(phase: &PhaseView) -> String {
    let took = match phase.seconds {
        Some(seconds) => format!("{seconds:.1} s"),
        None => "runs".to_owned(),
    };
    match phase.exit_code {
        Some(code) if code != 0 => format!("{took}, exit code {code}"),
        _ => took,
    }
}
