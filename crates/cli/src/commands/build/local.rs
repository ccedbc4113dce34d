//! `build <platform> --local`: executes the plan on this machine, without a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::HumanBytes;
use launchway_api::runner::{BuildError, Lease, LeasedVariable, Source, Undecided};
use launchway_api::secret::SecretText;
use launchway_domain::build::plan::Plan;
use launchway_domain::build::{BuildErrorCode, BuildResult};
use launchway_domain::env_var::is_name;
use launchway_domain::platform::Platform;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::labels;
use launchway_runner::local::{self, LocalBuild, LocalResult};
use launchway_runner::sandbox::{BuildUser, SandboxSettings};
use launchway_runner::settings::Settings;
use serde_json::json;

use crate::args::start::StartArgs;
use crate::commands::app::{self, App};
use crate::commands::build::plan;
use crate::commands::build::start::{PackedSource, pack};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::interrupts::{stopped, unless_interrupted};
use crate::printer::log_lines::LogLines;

const ID: &str = "local";
/// Variables that locate toolchains. On a runner, they come from the environment of the organization.
const TOOLCHAINS: [&str; 7] = [
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ANDROID_NDK_HOME",
    "DEVELOPER_DIR",
    "FLUTTER_ROOT",
    "JAVA_HOME",
    "GEM_HOME",
];

/// Variables by which tools reach the network through a proxy, in capitals; tools read them in either case.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"];
/// Variables by which tools find the certificates that this machine trusts. Java reads its proxy and its trust store from
/// the last one.
const CERTIFICATES: [&str; 7] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "JAVA_TOOL_OPTIONS",
];

pub async fn run(platform: Platform, arguments: &StartArgs, context: &Context) -> Result<(), Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("cannot read the current directory: {error}")))?;
    let source = app::source(platform, arguments.profile.profile.as_deref(), context);
    let resolved = plan::of_project(&source, platform, &arguments.profile)?;
    let plan = resolved.plan.clone();
    let lease = lease(platform, arguments, resolved, context)?;
    let settings = settings(&plan, &here, context).await?;
    let executor = ProcessExecutor::new().map_err(|error| Failure::failed(format!("cannot run builds: {error}")))?;
    let PackedSource { path, .. } = unless_interrupted(pack(&source, None, context)).await?;
    let build = LocalBuild {
        lease,
        archive: path.to_path_buf(),
        output: here.join(&arguments.out),
    };
    let (printer, mut lines) = (context.printer.clone(), LogLines::default());
    let show = move |part: &[u8]| lines.push(part, |line| printer.log_line(line));
    let end = local::run(settings, Arc::new(executor), build, show, stopped()).await;
    conclude(
        end.map_err(|error| Failure::failed(error.to_string()))?,
        arguments,
        context,
    )
}

/// Prints the result.
fn conclude(end: LocalResult, arguments: &StartArgs, context: &Context) -> Result<(), Failure> {
    let artifacts: Vec<_> = end
        .artifacts
        .iter()
        .map(|file| json!({"kind": file.kind, "path": file.path, "size": file.size, "sha256": file.sha256}))
        .collect();
    let json = json!({"status": end.status, "error": end.error, "phases": end.phases, "artifacts": artifacts});
    context.printer.result(&json.to_string(), || {
        let line = |file: &local::LocalArtifact| {
            let shown = arguments.out.join(file.path.file_name().unwrap_or_default());
            format!("{} ({}, {})\n", shown.display(), file.kind, HumanBytes(file.size))
        };
        end.artifacts.iter().map(line).collect()
    })?;
    match (end.status, end.error) {
        (BuildResult::Success, _) => Ok(()),
        (BuildResult::Canceled, _) => Err(Failure::interrupted()),
        (_, Some(BuildError { code, phase, message })) => {
            let exit = if code == BuildErrorCode::TimedOut {
                Exit::TimedOut
            } else {
                Exit::AwaitedFailed
            };
            let phase = phase.map(|phase| format!(" in '{phase}'")).unwrap_or_default();
            Err(Failure::new(
                exit,
                format!("the build failed{phase} ({code}): {message}"),
            ))
        }
        (_, None) => Err(Failure::new(Exit::AwaitedFailed, "the build failed")),
    }
}

/// A laptop is not a shared machine: steps run as its user, with the toolchains on the `PATH`.
async fn settings(plan: &Plan, here: &Path, context: &Context) -> Result<Settings, Failure> {
    let mut settings = Settings::new(work_dir(here, context));
    if let Some(path) = context.environment.text("PATH")? {
        settings.path = path;
    }
    settings.sandbox = SandboxSettings {
        user: BuildUser::Own,
        landlock: false,
        ..SandboxSettings::default()
    };
    settings.labels = labels::detect(&settings.path).await;
    for label in &plan.labels {
        let system = label.starts_with("os=") || label.starts_with("arch=");
        if !system && !settings.labels.contains(label) {
            context.printer.warn(&format!(
                "the plan requires a runner with {label}, which this machine may not have"
            ));
            settings.labels.push(label.clone());
        }
    }
    Ok(settings)
}

fn work_dir(here: &Path, context: &Context) -> PathBuf {
    let environment = &context.environment;
    let cache_home = environment.path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache_home.or_else(|| Some(environment.path("HOME")?.join(".cache")));
    here.join(cache.unwrap_or_else(std::env::temp_dir))
        .join("launchway/builds")
}

/// What a server would send.
fn lease(
    platform: Platform,
    arguments: &StartArgs,
    resolved: launchway_project::resolve::Resolved,
    context: &Context,
) -> Result<Lease, Failure> {
    let choice = &arguments.profile;
    if choice.build_number.as_deref() == Some("auto") {
        return Err(Failure::usage(
            "only a server knows the next free build number, so `auto` does not work with --local",
        )
        .hint("give --build-number NUMBER, or omit it to use the project's"));
    }
    let app = App::read(platform, choice.profile.as_deref(), choice.build_type, context)?;
    let configuration = choice.configuration.as_ref().map(ToString::to_string);
    Ok(Lease {
        build_id: ID.to_owned(),
        org_id: ID.to_owned(),
        attempt: 1,
        lease_seconds: 0,
        renew_seconds: 0,
        log_offset: 0,
        bundle_id: app.bundle_id(choice.bundle_id.as_ref(), context)?,
        platform: platform.into(),
        configuration: configuration.or(resolved.configuration),
        profile: resolved.profile,
        build_type: resolved.build_type.into(),
        distribution: resolved.distribution.into(),
        version: choice.version.clone(),
        build_number: choice.build_number.clone(),
        source: Source::Archive {
            url: String::new(),
            file_name: "source.tar.zst".to_owned(),
            size: 0,
            sha256: String::new(),
        },
        env: variables(arguments, &resolved.plan, context)?,
        plan: Some(resolved.plan),
        credentials: Vec::new(),
        cache_scope: Some(ID.to_owned()),
        undecided: Undecided::default(),
    })
}

fn variables(arguments: &StartArgs, plan: &Plan, context: &Context) -> Result<Vec<LeasedVariable>, Failure> {
    let variable = |name: &str, value: String| LeasedVariable {
        name: name.to_owned(),
        value: SecretText::new(value),
        path: None,
        secret: false,
    };
    let mut variables = Vec::new();
    let network = PROXIES
        .iter()
        .flat_map(|name| [(*name).to_owned(), name.to_lowercase()]);
    let others = TOOLCHAINS.iter().chain(&CERTIFICATES).map(|name| (*name).to_owned());
    for name in others.chain(network).filter(|name| !plan.env.contains_key(name)) {
        let Some(value) = context.environment.text(&name)? else {
            continue;
        };
        // The address of a proxy may contain a password, which belongs into no log.
        let secret = PROXIES.contains(&name.to_uppercase().as_str()) && value.contains('@');
        variables.push(LeasedVariable {
            secret,
            ..variable(&name, value)
        });
    }
    if let Some(path) = &arguments.env_file {
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
        let read = read_env_file(&text)
            .map_err(|line| Failure::usage(format!("{shown}, line {line}: must be NAME=VALUE, or start with #")))?;
        variables.extend(read.into_iter().map(|(name, value)| variable(&name, value)));
    }
    Ok(variables)
}

/// Parses lines of `NAME=VALUE`; fails with the number of the first invalid one. A value may be quoted, and `export`
/// may precede the name.
fn read_env_file(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut variables = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(number + 1)?;
        let (name, value) = (name.trim(), value.trim());
        let quoted = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        if !is_name(name) || value.contains('\0') {
            return Err(number + 1);
        }
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_files_are_read_as_people_write_them() {
        let text = "# for tests\n\nA=1\nexport B = two words \nC=\"x # y\"\nD='it=that'\nE=\n";
        let pairs = read_env_file(text).expect("a good file");
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("A", "1"),
                ("B", "two words"),
                ("C", "x # y"),
                ("D", "it=that"),
                ("E", "")
            ]
        );
        for (text, line) in [("A", 1), ("A=1\n1A=2", 2), ("\n\n=x", 3), ("A B=1", 1)] {
            assert_eq!(read_env_file(text), Err(line), "{text}");
        }
    }
}
