//! The plan of an import, as text or JSON.

use std::fmt::Write as _;

use launchway_domain::release::UpdateKind;
use launchway_foreign::exports::plan::PlanStep;
use launchway_foreign::exports::{Export, ExportedRelease};
use serde_json::{Value, json};

use super::platform_plan::PlatformPlan;
use crate::args::import::ImportArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::clean;

/// Prints what is to be done, or was done.
pub fn print(
    arguments: &ImportArgs,
    plans: &[PlatformPlan<'_>],
    export: &Export,
    context: &Context,
) -> Result<(), Failure> {
    let json = as_json(arguments, plans, export).to_string();
    context.printer.result(&json, || as_text(arguments, plans, export))
}

fn as_text(arguments: &ImportArgs, plans: &[PlatformPlan<'_>], export: &Export) -> String {
    let mut text = String::new();
    let what = if arguments.dry_run { "to do" } else { "done" };
    for PlatformPlan { platform, plan } in plans {
        let _ = writeln!(text, "{} on {platform}:", arguments.bundle_id);
        for step_of_plan in &plan.steps {
            let _ = writeln!(text, "  {}", step(step_of_plan));
        }
        if plan.steps.is_empty() {
            let _ = writeln!(text, "  nothing {what}");
        }
        if plan.present > 0 {
            let _ = writeln!(text, "  {} on the server already", count(plan.present));
        }
        if plan.replaced > 0 {
            let _ = writeln!(
                text,
                "  {} replaced by newer ones for every device",
                count(plan.replaced)
            );
        }
    }
    if plans.is_empty() {
        let _ = writeln!(text, "The files have no releases: nothing {what}");
    }
    if !export.left_out.is_empty() {
        text.push_str("Left out:\n");
    }
    for left_out in &export.left_out {
        let _ = writeln!(text, "  {}: {}", left_out.what, left_out.why);
    }
    clean(&text)
}

fn count(releases: usize) -> String {
    match releases {
        1 => "1 release is".to_owned(),
        many => format!("{many} releases are"),
    }
}

/// What a step does.
pub fn step(step: &PlanStep<'_>) -> String {
    match step {
        PlanStep::CreateApp => "create the app".to_owned(),
        PlanStep::AddDeploymentKey(deployment) => format!("add the deployment key of {}", deployment.configuration),
        PlanStep::Publish(release) => publication(release),
    }
}

fn publication(release: &ExportedRelease) -> String {
    let mut facts = Vec::new();
    if release.kind == UpdateKind::Embedded {
        facts.push("the return to the built-in content".to_owned());
    }
    if release.rollout < 100 {
        facts.push(format!("{} percent", release.rollout));
    }
    if let Some(range) = &release.range {
        facts.push(format!("for {range}"));
    }
    if release.is_mandatory {
        facts.push("mandatory".to_owned());
    }
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!(" ({})", facts.join(", ")),
    };
    format!("publish {} for {}{facts}", release.name, release.configuration)
}

fn as_json(arguments: &ImportArgs, plans: &[PlatformPlan<'_>], export: &Export) -> Value {
    let of_platform = |plan: &PlatformPlan<'_>| {
        let steps: Vec<Value> = plan.plan.steps.iter().map(step_as_json).collect();
        json!({
            "platform": plan.platform.as_str(), "steps": steps, "present": plan.plan.present, "replaced": plan.plan.replaced,
        })
    };
    let left_out = export
        .left_out
        .iter()
        .map(|left_out| json!({"what": left_out.what, "why": left_out.why}));
    json!({
        "bundleId": arguments.bundle_id.to_string(),
        "dryRun": arguments.dry_run,
        "platforms": plans.iter().map(of_platform).collect::<Vec<_>>(),
        "leftOut": left_out.collect::<Vec<_>>(),
    })
}

fn step_as_json(step: &PlanStep<'_>) -> Value {
    match step {
        PlanStep::CreateApp => json!({"step": "create_app"}),
        PlanStep::AddDeploymentKey(deployment) => {
            json!({"step": "add_deployment_key", "configuration": deployment.configuration})
        }
        PlanStep::Publish(release) => json!({
            "step": "publish", "configuration": release.configuration, "name": release.name, "rollout": release.rollout,
            "kind": release.kind.as_str(), "mandatory": release.is_mandatory, "binaryRange": release.range,
        }),
    }
}
