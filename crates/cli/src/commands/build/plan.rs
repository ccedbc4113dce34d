//! `build plan`: the steps of a build, or those that the local project would have.

use std::fmt::Write as _;

use launchway_domain::build::plan::Plan;
use launchway_domain::platform::Platform;
use launchway_project::resolve::{BuildRequest, Resolved, resolve_in};
use launchway_project::workspace::ProjectSource;
use serde_json::json;

use crate::args::build::PlanArgs;
use crate::args::start::ProfileArgs;
use crate::commands::app;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;

pub async fn run(arguments: PlanArgs, context: &Context) -> Result<(), Failure> {
    match (&arguments.id, arguments.local) {
        (_, Some(platform)) => print_local(platform, &arguments.profile, context),
        (Some(id), None) => of_build(id, context).await,
        (None, None) => Err(Failure::usage("no build specified, and --local not given")),
    }
}

/// Prints the plan of the local project for a platform.
pub fn print_local(platform: Platform, choice: &ProfileArgs, context: &Context) -> Result<(), Failure> {
    let source = app::source(platform, choice.profile.as_deref(), context);
    print(&of_project(&source, platform, choice)?, context)
}

/// The plan of the local project for a platform. Fails when the project has none, or an invalid one.
pub fn of_project(source: &ProjectSource, platform: Platform, choice: &ProfileArgs) -> Result<Resolved, Failure> {
    let request = BuildRequest {
        platform,
        profile: choice.profile.clone(),
        build_type: choice.build_type,
        distribution: choice.distribution,
    };
    resolve_in(source, &request).map_err(|error| {
        // Failures of the command line have no full stop.
        Failure::usage(error.to_string().trim_end_matches('.'))
    })
}

fn print(resolved: &Resolved, context: &Context) -> Result<(), Failure> {
    let json = json!({
        "origin": resolved.origin,
        "profile": resolved.profile,
        "configuration": resolved.configuration,
        "buildType": resolved.build_type.as_str(),
        "distribution": resolved.distribution.as_str(),
        "plan": resolved.plan,
    });
    context.printer.result(&json.to_string(), || {
        let mut text = fields(&[
            ("From", resolved.origin.clone()),
            ("Profile", resolved.profile.clone().unwrap_or_default()),
            ("Kind", format!("{}, {}", resolved.build_type, resolved.distribution)),
            ("Configuration", resolved.configuration.clone().unwrap_or_default()),
        ]);
        text.push_str(&prose(&resolved.plan));
        text
    })
}

async fn of_build(id: &str, context: &Context) -> Result<(), Failure> {
    let answer = context.client()?.build_plan(id).await?;
    let view = &answer.value;
    context.printer.result(&answer.body, || {
        let mut text = fields(&[
            ("Build", format!("{}, {}", view.id, view.status)),
            (
                "From",
                view.origin.as_ref().map(ToString::to_string).unwrap_or_default(),
            ),
        ]);
        text.push_str(&view.plan.as_ref().map(prose).unwrap_or_default());
        text
    })?;
    if view.plan.is_none() {
        context
            .printer
            .note("The plan comes from the source, which no runner has read yet");
    }
    Ok(())
}

/// A plan as text.
fn prose(plan: &Plan) -> String {
    let environment: Vec<_> = plan.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut text = fields(&[
        ("Runner", plan.labels.join(", ")),
        ("Time", format!("{} s", plan.timeout())),
        ("Environment", environment.join("\n")),
    ]);
    for (number, step) in plan.steps.iter().enumerate() {
        let limit = step
            .timeout_seconds
            .map(|seconds| format!(" (at most {seconds} s)"))
            .unwrap_or_default();
        let _ = writeln!(text, "\n{}. {}{limit}", number + 1, step.name);
        for line in step.run.trim_end().lines() {
            let _ = writeln!(text, "{}", format!("   {line}").trim_end());
        }
    }
    let blocks = [
        (
            "Artifacts",
            plan.artifacts
                .iter()
                .map(|rule| (rule.kind.as_str(), rule.path.clone()))
                .collect::<Vec<_>>(),
        ),
        (
            "Caches",
            plan.cache
                .iter()
                .map(|rule| (rule.key.as_str(), rule.paths.join(", ")))
                .collect(),
        ),
    ];
    for (title, rows) in blocks.iter().filter(|(_, rows)| !rows.is_empty()) {
        let _ = write!(text, "\n{title}\n{}", fields(rows));
    }
    text
}
