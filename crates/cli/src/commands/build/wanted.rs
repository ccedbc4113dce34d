//! Assembles the build request: from the flags, the profile of `launchway.toml`, the native project and git.

use launchway_api::builds::{BuildSource, CreateBuild, GitSource};
use launchway_api::open;
use launchway_api::updates::TextOrNumber;
use launchway_domain::platform::Platform;
use launchway_project::resolve::Resolved;
use launchway_project::workspace::ProjectSource;

use crate::args::start::StartArgs;
use crate::commands::app::App;
use crate::commands::build::{git_directory, git_facts, plan};
use crate::context::Context;
use crate::failure::Failure;

/// Assembles the request without the upload. `source` is that of the local project, with its plan; a git repository has
/// its own plan, which the runner reads. Fails when a required value is missing; nothing is sent before.
pub fn from(
    platform: Platform,
    arguments: &StartArgs,
    source: Option<&ProjectSource>,
    context: &Context,
) -> Result<CreateBuild, Failure> {
    let choice = &arguments.profile;
    let resolved = source
        .map(|source| plan::of_project(source, platform, choice))
        .transpose()?;
    let app = match source {
        Some(_) => App::read(platform, choice.profile.as_deref(), choice.build_type, context)?,
        // The profiles of the repository are not the local ones.
        None => App::without_profile(platform, context),
    };
    let git = match source {
        Some(source) => git_facts::read(&source.root, &context.environment)?,
        // The local git information is about another source.
        None => None,
    };
    let of_profile = |value: fn(&Resolved) -> Option<String>| resolved.as_ref().and_then(value);
    Ok(CreateBuild {
        bundle_id: app.bundle_id(choice.bundle_id.as_ref(), context)?,
        platform: platform.into(),
        source: git_source(arguments, context)?,
        profile: of_profile(|resolved| resolved.profile.clone()).or_else(|| choice.profile.clone()),
        configuration: choice
            .configuration
            .as_ref()
            .map(ToString::to_string)
            .or_else(|| of_profile(|resolved| resolved.configuration.clone())),
        version: choice.version.clone(),
        build_number: choice.build_number.clone().map(TextOrNumber::Text),
        build_type: resolved
            .as_ref()
            .map(|resolved| resolved.build_type)
            .or(choice.build_type)
            .map(open::BuildType::from),
        distribution: resolved
            .as_ref()
            .map(|resolved| resolved.distribution)
            .or(choice.distribution)
            .map(open::Distribution::from),
        fingerprint: None,
        git,
        plan: resolved.map(|resolved| resolved.plan),
        priority: arguments.priority,
    })
}

/// The git repository of the arguments, with the directory of the project in it; nothing without one.
fn git_source(arguments: &StartArgs, context: &Context) -> Result<BuildSource, Failure> {
    let (Some(url), Some(reference)) = (&arguments.git, &arguments.reference) else {
        return Ok(BuildSource::default());
    };
    let directory = git_directory::of(arguments.directory.as_deref(), url, &context.settings.root)?;
    if let Some(directory) = &directory {
        context.printer.note(&format!("Builds {directory} of the repository"));
    }
    Ok(BuildSource {
        upload_id: None,
        git: Some(GitSource {
            url: url.clone(),
            reference: reference.clone(),
            directory,
        }),
    })
}
