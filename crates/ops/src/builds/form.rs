//! Validates a request for a build, before anything else.

use launchway_api::builds::{BuildSource, CreateBuild, GitView};
use launchway_api::open::Open;
use launchway_domain::build::git::{DIRECTORY_LABEL, Revision};
use launchway_domain::build::plan::Plan;
use launchway_domain::build::{BuildType, Distribution, GitFacts, Undecided, git};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::fingerprint::Fingerprint;
use launchway_domain::id::UploadId;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_domain::words::Word;

use crate::api_error::ApiError;
use crate::apps;
use crate::updates::publish;

/// The maximum of a build's priority; its negative is the minimum.
const MAX_PRIORITY: i64 = 100;
const MAX_COMMIT: usize = 64;
const MAX_BRANCH: usize = 255;
/// The number of characters that are kept of a commit's message.
const MESSAGE: usize = 1000;

/// A validated request for a build.
#[derive(Clone, Debug)]
pub struct NewBuild {
    /// Where the source comes from.
    pub source: Source,
    pub(super) bundle: BundleId,
    pub(super) platform: Platform,
    pub(super) configuration: Option<Configuration>,
    pub(super) profile: Option<String>,
    pub(super) version: Option<String>,
    pub(super) build_number: Number,
    pub(super) undecided: Undecided,
    pub(super) build_type: BuildType,
    pub(super) distribution: Distribution,
    pub(super) fingerprint: Option<(Fingerprint, Option<String>)>,
    /// The `lwfp-2` hash of the same native code.
    pub lwfp2: Option<Fingerprint>,
    pub(super) git: Option<GitFacts>,
    pub(super) plan: Option<Plan>,
    pub(super) labels: Vec<String>,
    pub(super) priority: i64,
}

/// Where the source comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// An upload. A malformed id becomes `None`: it names nothing.
    Upload(Option<UploadId>),
    /// A git repository.
    Git {
        /// Its URL.
        url: String,
        /// The text of a [`Revision`].
        revision: String,
    },
}

/// The requested build number.
#[derive(Clone, Debug)]
pub(super) enum Number {
    /// The project's own.
    Project,
    /// The next number of app and platform.
    Auto,
    /// This number.
    Given(BuildNumber),
}

/// Validates a request for a build.
pub fn check(request: CreateBuild) -> Result<NewBuild, ApiError> {
    let platform = request
        .platform
        .checked()
        .map_err(|unknown| ApiError::bad(unknown.to_string()))?;
    if let Some(plan) = &request.plan {
        plan.check().map_err(|invalid| ApiError::bad(invalid.to_string()))?;
    }
    let priority = request.priority.unwrap_or(0);
    if !(-MAX_PRIORITY..=MAX_PRIORITY).contains(&priority) {
        return Err(ApiError::bad("priority must be a whole number from -100 to 100"));
    }
    if let Some(version) = &request.version {
        Version::parse(version).map_err(|_| ApiError::bad("version must be a semantic version such as 1.2.3"))?;
    }
    let given = request.fingerprint.as_ref();
    let undecided = match &request.plan {
        Some(_) => Undecided::default(),
        None => Undecided {
            build_type: request.build_type.is_none(),
            distribution: request.distribution.is_none(),
            configuration: request.configuration.is_none(),
        },
    };
    let in_directory = request
        .source
        .git
        .as_ref()
        .is_some_and(|git| git.directory.as_ref().is_some_and(|name| !name.is_empty()));
    if in_directory && request.plan.is_some() {
        return Err(ApiError::bad(
            "source.git.directory is where the plan is read from. A plan in the request runs at the root of the repository.",
        ));
    }
    Ok(NewBuild {
        undecided,
        source: source(request.source)?,
        bundle: apps::bundle_id(&request.bundle_id)?,
        platform,
        configuration: request
            .configuration
            .as_deref()
            .map(publish::configuration)
            .transpose()?,
        profile: request.profile.map(profile).transpose()?,
        version: request.version,
        build_number: match publish::build_number(request.build_number.as_ref())? {
            Some(number) => Number::Given(number),
            None if request.build_number.is_some() => Number::Auto,
            None => Number::Project,
        },
        build_type: word("buildType", request.build_type)?.unwrap_or(BuildType::Release),
        distribution: word("distribution", request.distribution)?.unwrap_or(Distribution::Store),
        fingerprint: given.map(|given| publish::fingerprint(given, platform)).transpose()?,
        lwfp2: None,
        git: request.git.map(git_facts).transpose()?,
        labels: labels(request.plan.as_ref(), platform, in_directory),
        plan: request.plan,
        priority,
    })
}

fn word<T: Word>(field: &str, given: Option<Open<T>>) -> Result<Option<T>, ApiError> {
    let read = given.as_ref().map(Open::checked).transpose();
    read.map_err(|unknown| ApiError::bad(format!("{field} {unknown}")))
}

/// A profile name has the form of a configuration name.
fn profile(name: String) -> Result<String, ApiError> {
    match Configuration::parse(&name) {
        Ok(_) => Ok(name),
        Err(invalid) => Err(ApiError::bad(format!("profile {invalid}"))),
    }
}

fn source(source: BuildSource) -> Result<Source, ApiError> {
    match (source.upload_id, source.git) {
        (Some(upload), None) => Ok(Source::Upload(upload.parse().ok())),
        (None, Some(from)) => {
            git::check_url(&from.url, false).map_err(|problem| ApiError::bad(format!("source.git.url: {problem}")))?;
            git::check_ref(&from.reference).map_err(|problem| ApiError::bad(format!("source.git.ref: {problem}")))?;
            let directory = from.directory.unwrap_or_default();
            if !directory.is_empty() {
                let wrong = |problem| ApiError::bad(format!("source.git.directory: {problem}"));
                git::check_directory(&directory).map_err(wrong)?;
            }
            let (reference, directory) = (from.reference.as_str(), directory.as_str());
            let revision = Revision { reference, directory }.to_string();
            Ok(Source::Git {
                url: from.url,
                revision,
            })
        }
        _ => Err(ApiError::bad("source must have either uploadId or git")),
    }
}

fn git_facts(view: GitView) -> Result<GitFacts, ApiError> {
    let short = |field: &str, text: Option<String>, most: usize| match text {
        Some(text) if text.chars().count() > most || text.chars().any(char::is_control) => Err(ApiError::bad(format!(
            "git.{field} must have at most {most} characters, on one line"
        ))),
        text => Ok(text.filter(|text| !text.is_empty())),
    };
    let message = view.message.filter(|message| !message.is_empty());
    if message.as_ref().is_some_and(|message| message.contains('\0')) {
        return Err(ApiError::bad("git.message must not contain a NUL character"));
    }
    Ok(GitFacts {
        commit: short("commit", view.commit, MAX_COMMIT)?,
        branch: short("branch", view.branch, MAX_BRANCH)?,
        message: message.map(|message| message.chars().take(MESSAGE).collect()),
        dirty: view.dirty,
    })
}

/// The labels that a runner must have, sorted and unique: those of the plan or, if the source will define the plan,
/// those that the platform and a source in a directory always require.
fn labels(plan: Option<&Plan>, platform: Platform, in_directory: bool) -> Vec<String> {
    let mut labels = match (plan, platform) {
        (Some(plan), _) => plan.labels.clone(),
        (None, Platform::Ios | Platform::Visionos) => vec!["os=macos".to_owned()],
        (None, Platform::Android) => Vec::new(),
    };
    if in_directory {
        labels.push(DIRECTORY_LABEL.to_owned());
    }
    labels.sort_unstable();
    labels.dedup();
    labels
}
