//! The program that steps find as `launchway` on their `PATH`: this program, for `launchway embed` and `launchway fingerprint
//! embed`, which presets call. It runs inside the step, in its sandbox, and leaves a report for the runner in the workspace.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use launchway_api::runner::Lease;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::fingerprint::{Fingerprint as Hash, FingerprintDocument, MAX_DOCUMENT_BYTES};
use launchway_domain::platform::Platform;
use launchway_project::file::{self, Fingerprint, NAME, Project};
use launchway_project::fingerprint::embed::{Embedded, embed, embed_settings, embed_trust};
use launchway_project::fingerprint::{self, app_documents, without_native_project};
use launchway_project::framework::Framework;
use launchway_project::resolve::{AppLocation, app_location};
use launchway_project::sdk::settings::{BuiltApp, settings};
use launchway_project::shell::quote;
use launchway_project::source::Source;
use launchway_project::trust_file;
use launchway_project::workspace::declared_above;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::inside::Inside;
use crate::workspace::{Workspace, is_reachable};

/// The hidden first argument of the program.
pub(crate) const COMMAND: &str = "__launchway";
/// Says that an earlier step generated the native project from the configuration.
const GENERATED: &str = "--generated";
/// Says that the app must get a root of signed updates.
const TRUST: &str = "--trust";
/// The file name of the report in the workspace.
const REPORT: &str = "fingerprint.json";
/// The maximum size of a report: a document with its escapes, and a sentence.
const MAX_REPORT: u64 = 2 * MAX_DOCUMENT_BYTES as u64 + (64 << 10);
/// The maximum length of a problem, in characters.
const MAX_PROBLEM: usize = 1000;

/// The fingerprint of a build, as computed by its step. A step is untrusted: the report may contain anything.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The fingerprint document.
    pub document: Option<Value>,
    /// The `lwfp-2` hash of the same document.
    #[serde(default)]
    pub lwfp2: Option<String>,
    /// Why the document is missing, or why it is not embedded in the app.
    pub problem: Option<String>,
}

/// The program that a step runs as `launchway`: `program` itself if the user of the build can reach it, otherwise a
/// copy in the work directory.
///
/// # Errors
/// An I/O error.
pub fn reachable(program: &Path, work_dir: &Path, user: Option<(u32, u32)>) -> io::Result<PathBuf> {
    // The path is invalid if the program was replaced after its start.
    if let Ok(path) = fs::canonicalize(program)
        && user.is_none_or(|(uid, gid)| is_reachable(&path, uid, gid))
    {
        return Ok(path);
    }
    let (copy, beside) = (work_dir.join("launchway"), work_dir.join(".launchway.new"));
    fs::copy(program, &beside)?;
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755))?;
    // Atomic, as a build of an earlier run may still use the old copy.
    fs::rename(&beside, &copy)?;
    Ok(copy)
}

/// Puts `launchway` into the workspace, before the user of the build becomes its owner. All other commands than the two
/// are passed to a `launchway` on the runner's own `path`, if there is one.
///
/// # Errors
/// An I/O error.
pub fn put(workspace: &Workspace, program: &Path, lease: &Lease, path: &str) -> io::Result<()> {
    let word = |path: &Path| quote(&path.to_string_lossy());
    let script = format!(
        "#!/bin/sh\ncase \"${{1:-}} ${{2:-}}\" in\n\"fingerprint embed\") shift 2 ;;\n\"embed \"*)\n    shift\n    \
         set -- {TRUST} \"$@\" ;;\n*)\n    PATH={}\n    export PATH\n    exec launchway \"$@\" ;;\nesac\n\
         exec {} {COMMAND} {} {} {} {} {} {} \"$@\"\n",
        quote(path),
        word(program),
        word(&workspace.root.join(REPORT)),
        word(&workspace.source()),
        quote(lease.platform.as_str()),
        quote(lease.profile.as_deref().unwrap_or_default()),
        quote(&lease.bundle_id),
        quote(lease.configuration.as_deref().unwrap_or_default()),
    );
    Inside::open(&workspace.tools())?
        .create(Path::new("launchway"), 0o755)?
        .write_all(script.as_bytes())
}

/// Reads the report of a build's steps; empty if it is missing or invalid.
pub fn report(workspace: &Workspace) -> Report {
    let read = || -> io::Result<Report> {
        let file = Inside::open(&workspace.root)?.read(Path::new(REPORT))?;
        let mut json = Vec::new();
        file.take(MAX_REPORT).read_to_end(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    };
    let report = read().unwrap_or_default();
    let is_document = |value: &Value| FingerprintDocument::from_value(value.clone()).is_ok();
    let is_hash = |text: &String| Hash::parse(text).is_ok();
    Report {
        document: report.document.filter(is_document),
        lwfp2: report.lwfp2.filter(is_hash),
        problem: report.problem.map(|text| text.chars().take(MAX_PROBLEM).collect()),
    }
}

/// What a step asked for, and for which app.
struct Request<'w> {
    platform: Platform,
    profile: Option<&'w str>,
    bundle_id: Option<BundleId>,
    configuration: Option<&'w str>,
    generated: bool,
    /// Whether a project without a trust file is an error.
    needs_trust: bool,
}

impl<'w> Request<'w> {
    /// Reads what the build is of, and the words that the step added.
    fn parse(of_build: [&'w str; 4], options: &'w [String]) -> Option<Self> {
        let [of_build, profile, bundle_id, configuration] = of_build;
        let is_flag = |word: &&String| [GENERATED, TRUST].contains(&word.as_str());
        let mut platforms = options.iter().filter(|word| !is_flag(word));
        let platform = platforms.next().map_or(of_build, String::as_str);
        if platforms.next().is_some() {
            return None;
        }
        let has = |flag: &str| options.iter().any(|word| word == flag);
        Some(Self {
            platform: platform.parse().ok()?,
            profile: Some(profile).filter(|name| !name.is_empty()),
            bundle_id: BundleId::parse(bundle_id).ok(),
            configuration: Some(configuration).filter(|name| !name.is_empty()),
            generated: has(GENERATED),
            needs_trust: has(TRUST),
        })
    }

    /// The directory of the project that the step `here` builds. That is the source, unless the app is a member of a
    /// workspace whose root has no settings for it.
    fn project(&self, source: &Path, here: &Path) -> PathBuf {
        let whole = || source.to_owned();
        let (Ok(real), Ok(here)) = (fs::canonicalize(source), fs::canonicalize(here)) else {
            return whole();
        };
        let is_app = |place: &AppLocation| fs::canonicalize(source.join(&place.directory)).is_ok_and(|app| app == here);
        if !here.starts_with(&real) || self.locate(source).is_ok_and(|(place, _)| is_app(&place)) {
            return whole();
        }
        let mut within = here.ancestors().take_while(|folder| folder.starts_with(&real));
        match within.find(|folder| folder.join(NAME).is_file()) {
            Some(folder) if folder != real => folder.to_owned(),
            None if declared_above(&here).is_some_and(|root| root == real) => here.clone(),
            _ => whole(),
        }
    }

    /// Where the app is in the project, and what counts for its fingerprint.
    fn locate(&self, source: &Path) -> Result<(AppLocation, Fingerprint), String> {
        let project = project(source)?;
        let place = app_location(&project.build, self.profile, self.platform)
            .map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
        let rules = match self.generated {
            true => without_native_project(&project.fingerprint, self.platform),
            false => project.fingerprint,
        };
        Ok((place, rules))
    }

    /// The directory and framework of the app.
    fn app(&self, source: &Path) -> Result<(PathBuf, Framework), String> {
        let (place, _) = self.locate(source)?;
        let app = source.join(&place.directory);
        let framework = match place.framework {
            Some(framework) => Ok(framework),
            None => fingerprint::framework(&app, self.platform),
        };
        Ok((app, framework.map_err(|error| error.to_string())?))
    }
}

fn project(source: &Path) -> Result<Project, String> {
    let text = Source::new(source).read(NAME).map_err(|error| error.to_string())?;
    file::parse(&text.unwrap_or_default()).map_err(|error| format!("{NAME}: {error}"))
}

/// Computes and embeds the fingerprint, the root of signed updates and the settings of the SDK, as the arguments after
/// [`COMMAND`] specify. A project without a fingerprint is still built, with a warning. One whose root cannot be embedded
/// is not built, because its app would take every update; one whose settings cannot be embedded is not built, because its
/// app would take none.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let [place, source, of_build, profile, bundle_id, configuration, options @ ..] = words.as_slice() else {
        return ExitCode::FAILURE;
    };
    let mut said = io::stderr();
    let Some(request) = Request::parse([of_build, profile, bundle_id, configuration], options) else {
        let _ = writeln!(said, "usage: launchway embed [PLATFORM] [{GENERATED}]");
        return ExitCode::from(2);
    };
    let here = std::env::current_dir().unwrap_or_default();
    let source = &request.project(Path::new(source), &here);
    let report = collected(source, &request, &mut said);
    if let Some(problem) = &report.problem {
        let _ = writeln!(said, "Warning: {problem}");
    }
    let json = serde_json::to_vec(&report).unwrap_or_default();
    if let Err(error) = fs::write(place, json) {
        let _ = writeln!(said, "Cannot report the fingerprint to the runner: {error}");
        return ExitCode::FAILURE;
    }
    let embedded = embed_root(source, &request, &mut said).and_then(|()| embed_sdk(source, &request, &mut said));
    match embedded {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(said, "Error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn collected(root: &Path, request: &Request<'_>, said: &mut impl Write) -> Report {
    let problem = |problem: String| Report {
        document: None,
        lwfp2: None,
        problem: Some(format!("The build has no fingerprint: {problem}")),
    };
    let (place, rules) = match request.locate(root) {
        Ok(found) => found,
        Err(error) => return problem(error),
    };
    let (framework, documents) = match app_documents(root, &place, request.platform, &rules) {
        Ok(found) => found,
        Err(error) => return problem(error.to_string()),
    };
    let (hash, document) = (documents.hash(), documents.first);
    let embedded = embed(&root.join(&place.directory), framework, request.platform, &hash);
    if let Ok(files) = &embedded {
        let _ = writeln!(said, "{hash} is in {}", paths(files));
    }
    Report {
        document: serde_json::from_str(&document.canonical()).ok(),
        lwfp2: Some(documents.second.hash().to_string()),
        problem: embedded
            .err()
            .map(|error| format!("The app will not contain its fingerprint: {error}")),
    }
}

/// Embeds the root of signed updates of a project that has one.
fn embed_root(root: &Path, request: &Request<'_>, said: &mut impl Write) -> Result<(), String> {
    let found = trust_file::find(root, || request.bundle_id.clone()).map_err(|error| error.to_string())?;
    let Some(trust) = found else {
        return match request.needs_trust {
            true => Err(format!(
                "the source has no {}, so the app would take unsigned updates",
                trust_file::NAME
            )),
            false => Ok(()),
        };
    };
    if let Some(app) = request.bundle_id.as_ref().filter(|app| **app != trust.owner) {
        let (path, owner) = (&trust.path, &trust.owner);
        let _ = writeln!(said, "Warning: {path} is for {owner}: {app} will take no updates");
    }
    let (app, framework) = request.app(root)?;
    let files = embed_trust(&app, framework, request.platform, &trust).map_err(|error| error.to_string())?;
    let _ = writeln!(
        said,
        "Root {} of {} is in {}",
        trust.root_version,
        trust.path,
        paths(&files)
    );
    Ok(())
}

/// Embeds the settings of the SDK in a project that uses it.
fn embed_sdk(root: &Path, request: &Request<'_>, said: &mut impl Write) -> Result<(), String> {
    // Reported with the fingerprint. Where the app is not known, its use of the SDK is not either.
    if request.locate(root).is_err() {
        return Ok(());
    }
    let project = project(root)?;
    let built = BuiltApp {
        platform: request.platform,
        profile: request.profile,
        configuration: request.configuration,
    };
    let Some(found) = settings(&Source::new(root), &project, built).map_err(|error| error.to_string())? else {
        return Ok(());
    };
    let (app, framework) = request.app(root)?;
    let files = embed_settings(&app, framework, request.platform, &found).map_err(|error| error.to_string())?;
    let _ = writeln!(
        said,
        "Settings of the SDK for {} are in {}",
        found.server_url,
        paths(&files)
    );
    Ok(())
}

fn paths(files: &[Embedded]) -> String {
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    paths.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_a_user_cannot_reach_is_copied() {
        let directory = tempfile::tempdir().unwrap();
        let (program, work) = (directory.path().join("home/program"), directory.path().join("work"));
        fs::create_dir(directory.path().join("home")).unwrap();
        fs::create_dir(&work).unwrap();
        fs::write(&program, "#!/bin/sh\necho this\n").unwrap();
        let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(directory.path(), 0o711);
        mode(&directory.path().join("home"), 0o711);
        mode(&program, 0o755);
        let stranger = Some((65_534, 65_534));
        let real = fs::canonicalize(&program).unwrap();
        assert_eq!(reachable(&program, &work, None).unwrap(), real);
        assert_eq!(reachable(&program, &work, stranger).unwrap(), real);
        for (place, closed) in [(directory.path().join("home"), 0o700), (program.clone(), 0o700)] {
            mode(&place, closed);
            let copy = reachable(&program, &work, stranger).unwrap();
            assert_eq!(copy, work.join("launchway"));
            assert_eq!(fs::read(&copy).unwrap(), fs::read(&program).unwrap());
            assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
            assert_eq!(reachable(&program, &work, None).unwrap(), real);
            mode(&place, 0o755);
        }
    }

    #[test]
    fn a_report_may_hold_anything() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Workspace::make(directory.path().join("build"), None).unwrap();
        let place = workspace.root.join(REPORT);
        assert_eq!(report(&workspace), Report::default());
        let hash = "0".repeat(64);
        let document = serde_json::json!({
            "alg": "lwfp-1", "framework": "native", "native": hash, "platform": "ios", "plugins": {}, "resources": hash,
        });
        let good = serde_json::json!({"document": document, "problem": "x".repeat(MAX_PROBLEM + 1)});
        fs::write(&place, good.to_string()).unwrap();
        let read = report(&workspace);
        assert_eq!(read.document, Some(document));
        assert_eq!(read.problem.map(|text| text.len()), Some(MAX_PROBLEM));
        let long = format!("{{\"problem\": \"{}\"}}", "x".repeat(MAX_REPORT as usize));
        for text in [
            "",
            "[]",
            "null",
            r#"{"document": {"alg": "lwfp-1"}}"#,
            r#"{"document": "abc"}"#,
            &long,
        ] {
            fs::write(&place, text).unwrap();
            assert_eq!(report(&workspace), Report::default(), "{}", &text[..text.len().min(40)]);
        }
        fs::remove_file(&place).unwrap();
        fs::write(directory.path().join("outside"), good.to_string()).unwrap();
        std::os::unix::fs::symlink("../outside", &place).unwrap();
        assert_eq!(report(&workspace), Report::default());
    }
}
