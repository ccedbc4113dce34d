//! `submit <platform>`: finds or uploads the app, requests its submission and waits for it.

use std::path::Path;

use launchway_api::builds::BuildView;
use launchway_api::submissions::{CreateSubmission, SubmissionView, SymbolFile};
use launchway_client::{Answer, BuildFilter, Client, Paging, Source};
use launchway_domain::build::{BuildStatus, Distribution};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SymbolKind;

use crate::args::submit::{AppArgs, TargetArgs, WaitArgs};
use crate::commands::app::App;
use crate::commands::run_blocking;
use crate::commands::submit::{target, wait};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::interrupts::unless_interrupted;
use crate::sealing::seal;

/// How many builds are searched for one that is built for a store.
const LOOKED_THROUGH: Paging = Paging { limit: 100, offset: 0 };

pub async fn run(
    platform: Platform,
    arguments: &AppArgs,
    target: &TargetArgs,
    waiting: &WaitArgs,
    context: &Context,
) -> Result<(), Failure> {
    let client = context.client()?;
    let asked = unless_interrupted(ask(platform, arguments, target, &client, context)).await?;
    wait::follow(asked, waiting, &client, context).await
}

/// Requests the submission. Problems that can be found locally are reported before anything is sent.
async fn ask(
    platform: Platform,
    arguments: &AppArgs,
    target: &TargetArgs,
    client: &Client,
    context: &Context,
) -> Result<Answer<SubmissionView>, Failure> {
    let mut create = target::from(platform, target, &context.settings.project)?;
    if let Some(path) = &arguments.path {
        fits(path, platform)?;
        create.upload_id = Some(upload(path, client, context).await?);
    } else {
        let build = match (&arguments.id, arguments.latest) {
            (Some(id), _) => client.build(id).await?.value,
            (None, true) => latest(platform, arguments, client, context).await?,
            (None, false) => {
                return Err(Failure::usage("no app to submit specified")
                    .hint("give --latest for the latest build, --id BUILD, or --path FILE"));
            }
        };
        if build.platform != platform {
            let message = format!("{} is a build for {}, not for {platform}", build.id, build.platform);
            return Err(Failure::usage(message));
        }
        create.build_id = Some(build.id);
    }
    let symbols = symbols(arguments, client, context).await?;
    if !symbols.is_empty() {
        let mut options = create.options.unwrap_or_default();
        options.symbols = Some(symbols);
        create.options = Some(options);
    }
    let create: CreateSubmission = create;
    Ok(client.create_submission(&create).await?)
}

/// The latest successful build of the app for a store.
async fn latest(
    platform: Platform,
    arguments: &AppArgs,
    client: &Client,
    context: &Context,
) -> Result<BuildView, Failure> {
    let bundle_id = match &arguments.bundle_id {
        Some(requested) => requested.to_string(),
        None => App::read(platform, None, None, context)?.bundle_id(None, context)?,
    };
    let filter = BuildFilter {
        status: Some(BuildStatus::Success.to_string()),
        platform: Some(platform.to_string()),
        bundle_id: Some(bundle_id.clone()),
        ..BuildFilter::default()
    };
    let page = client.builds(&filter, LOOKED_THROUGH).await?.value;
    let found = page
        .items
        .into_iter()
        .find(|build| build.distribution == Distribution::Store);
    let Some(build) = found else {
        let message = format!("{bundle_id} has no successful build for {platform} with distribution store");
        return Err(Failure::new(Exit::NotFound, message).hint(format!(
            "create one: launchway build {platform} --distribution store; or choose another build with --id"
        )));
    };
    let version = [
        build.version.clone(),
        build.build_number.clone().map(|number| format!("build {number}")),
    ];
    let version: Vec<String> = version.into_iter().flatten().collect();
    context
        .printer
        .note(&format!("The latest build is {} ({})", build.id, version.join(", ")));
    Ok(build)
}

/// Whether the file name is that of an app for the platform.
fn fits(path: &Path, platform: Platform) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let wanted: &[&str] = match platform {
        Platform::Android => &["aab", "apk"],
        Platform::Ios | Platform::Visionos => &["ipa"],
    };
    if wanted.contains(&ending.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    let wanted: Vec<String> = wanted.iter().map(|ending| format!(".{ending}")).collect();
    let message = format!(
        "{} is not an app for {platform}: its name must end with {}",
        path.display(),
        wanted.join(" or ")
    );
    Err(Failure::usage(message))
}

/// Uploads the files that symbolicate crash reports.
async fn symbols(arguments: &AppArgs, client: &Client, context: &Context) -> Result<Vec<SymbolFile>, Failure> {
    let mut symbols = Vec::new();
    for (kind, path) in [
        (SymbolKind::Mapping, &arguments.mapping),
        (SymbolKind::Native, &arguments.native_symbols),
    ] {
        if let Some(path) = path {
            symbols.push(SymbolFile {
                kind: kind.into(),
                artifact_id: None,
                upload_id: Some(upload(path, client, context).await?),
            });
        }
    }
    Ok(symbols)
}

/// Uploads a file; returns the id of the upload.
async fn upload(path: &Path, client: &Client, context: &Context) -> Result<String, Failure> {
    let unreadable = |error| Failure::failed(format!("cannot read {}: {error}", path.display()));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    let sealed = {
        let progress = context.printer.progress("Reading", size);
        let (file, mover) = (path.to_owned(), progress.callback());
        run_blocking(move || seal(&file, &*mover)).await?.map_err(unreadable)?
    };
    if sealed.size == 0 {
        return Err(Failure::failed(format!("{} is empty", path.display())));
    }
    let progress = context.printer.progress("Uploading", sealed.size);
    let source = Source {
        path,
        file_name: path.file_name().and_then(|name| name.to_str()).unwrap_or("app"),
        size: sealed.size,
        sha256: &sealed.sha256,
    };
    Ok(client.upload(source, progress.callback()).await?.id)
}
