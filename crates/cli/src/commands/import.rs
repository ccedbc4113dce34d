//! `import`: takes over the live releases of an app from another service (`docs/reference/foreign-clients.md#imports`).

mod expo;
mod files;
mod packages;
mod perform;
mod platform_plan;
mod server;
mod show;

use std::collections::BTreeSet;

use launchway_domain::platform::Platform;
use launchway_domain::release::Protocol;
use launchway_foreign::exports::Export;

use self::expo::ExpoKeys;
use self::packages::Packages;
use self::perform::Import;
use self::platform_plan::PlatformPlan;
use crate::args::import::ImportArgs;
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(arguments: ImportArgs, context: &Context) -> Result<(), Failure> {
    let export = files::read(arguments.service, &arguments.files)?;
    let platforms = platforms(&arguments, &export)?;
    let client = context.client()?;
    let bundle_id = arguments.bundle_id.to_string();
    let mut has_app = server::has_app(&client, &bundle_id).await?;
    let mut plans = Vec::new();
    for platform in platforms {
        let known = server::known(&client, &bundle_id, platform, &export, has_app).await?;
        let plan = export.plan(platform, &known);
        has_app |= !plan.steps.is_empty();
        plans.push(PlatformPlan { platform, plan });
    }
    let expo_keys = ExpoKeys::read(&arguments, &plans, context)?;
    if arguments.dry_run {
        return show::print(&arguments, &plans, &export, context);
    }
    // Nothing is sent unless the packages of all releases are there.
    let packages = Packages::find(&arguments, &plans, &client, context).await?;
    let import = Import {
        client: &client,
        context,
        bundle_id: &bundle_id,
        expo_keys: &expo_keys,
    };
    context
        .printer
        .set_interrupt_note("what was imported stays; run the command again to continue");
    import.perform(&plans, &packages).await?;
    context.printer.set_interrupt_note("");
    show::print(&arguments, &plans, &export, context)
}

/// The platforms that the arguments or the releases name.
fn platforms(arguments: &ImportArgs, export: &Export) -> Result<BTreeSet<Platform>, Failure> {
    let given: BTreeSet<Platform> = arguments.platforms.iter().copied().collect();
    let named = export.releases.iter().filter_map(|release| release.platform).collect();
    let needs_one = matches!(arguments.service, Protocol::Codepush | Protocol::Capgo);
    match (arguments.service, given.len()) {
        (Protocol::Codepush, 2..) => {
            let failure = Failure::usage("a deployment of CodePush has the releases of one platform");
            Err(failure.hint("import each platform by itself"))
        }
        (_, 0) if needs_one => Err(Failure::usage(
            "--platform is missing: the files do not name the platform",
        )),
        (_, 0) => Ok(named),
        (_, _) => Ok(given),
    }
}
