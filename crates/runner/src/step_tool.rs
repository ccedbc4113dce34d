//! The program that steps find as `launchway` on their `PATH`: this program, for `launchway fingerprint embed`, which
//! presets call. It runs inside the step, in its sandbox, and leaves a report for the runner in the workspace.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use launchway_api::runner::Lease;
use launchway_domain::fingerprint::{Fingerprint, FingerprintDocument, MAX_DOCUMENT_BYTES};
use launchway_domain::platform::Platform;
use launchway_project::file::{self, NAME};
use launchway_project::fingerprint::embed::embed;
use launchway_project::fingerprint::{app_documents, without_native_project};
use launchway_project::resolve::app_location;
use launchway_project::shell::quote;
use launchway_project::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::inside::Inside;
use crate::workspace::{Workspace, is_reachable};

/// The hidden first argument of the program.
pub(crate) const COMMAND: &str = "__launchway";
/// Says that an earlier step generated the native project from the configuration.
const GENERATED: &str = "--generated";
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

/// Puts `launchway` into the workspace, before the user of the build becomes its owner. All commands except
/// `fingerprint` are passed to a `launchway` on the runner's own `path`, if there is one.
///
/// # Errors
/// An I/O error.
pub fn put(workspace: &Workspace, program: &Path, lease: &Lease, path: &str) -> io::Result<()> {
    let word = |path: &Path| quote(&path.to_string_lossy());
    let script = format!(
        "#!/bin/sh\ncase \"${{1:-}} ${{2:-}}\" in\n\"fingerprint embed\")\n    shift 2\n    \
         exec {} {COMMAND} {} {} {} {} \"$@\" ;;\nesac\nPATH={}\nexport PATH\nexec launchway \"$@\"\n",
        word(program),
        word(&workspace.root.join(REPORT)),
        word(&workspace.source()),
        quote(lease.platform.as_str()),
        quote(lease.profile.as_deref().unwrap_or_default()),
        quote(path),
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
    let told = read().unwrap_or_default();
    let is_document = |value: &Value| FingerprintDocument::from_value(value.clone()).is_ok();
    let is_hash = |text: &String| Fingerprint::parse(text).is_ok();
    Report {
        document: told.document.filter(is_document),
        lwfp2: told.lwfp2.filter(is_hash),
        problem: told.problem.map(|text| text.chars().take(MAX_PROBLEM).collect()),
    }
}

/// Computes and embeds the fingerprint, as the arguments after [`COMMAND`] specify. A project without a fingerprint is
/// still built, with a warning.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let [place, source, of_build, profile, told @ ..] = words.as_slice() else {
        return ExitCode::FAILURE;
    };
    let generated = told.iter().any(|word| word == GENERATED);
    let mut platforms = told.iter().filter(|word| *word != GENERATED);
    let platform = platforms.next().unwrap_or(of_build);
    let mut said = io::stderr();
    let (Ok(platform), None) = (platform.parse(), platforms.next()) else {
        let _ = writeln!(said, "usage: launchway fingerprint embed [PLATFORM] [{GENERATED}]");
        return ExitCode::from(2);
    };
    let report = collected(Path::new(source), profile, platform, generated, &mut said);
    if let Some(problem) = &report.problem {
        let _ = writeln!(said, "Warning: {problem}");
    }
    let json = serde_json::to_vec(&report).unwrap_or_default();
    match fs::write(place, json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(said, "Cannot report the fingerprint to the runner: {error}");
            ExitCode::FAILURE
        }
    }
}

fn collected(root: &Path, profile: &str, platform: Platform, generated: bool, said: &mut impl Write) -> Report {
    let problem = |problem: String| Report {
        document: None,
        lwfp2: None,
        problem: Some(format!("The build has no fingerprint: {problem}")),
    };
    let text = match Source::new(root).read(NAME) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return problem(error.to_string()),
    };
    let project = match file::parse(&text) {
        Ok(project) => project,
        Err(error) => return problem(format!("{NAME}: {error}")),
    };
    let told = Some(profile).filter(|name| !name.is_empty());
    let place = match app_location(&project.build, told, platform) {
        Ok(place) => place,
        Err(error) => return problem(error.to_string().trim_end_matches('.').to_owned()),
    };
    let rules = match generated {
        true => without_native_project(&project.fingerprint, platform),
        false => project.fingerprint,
    };
    let (framework, documents) = match app_documents(root, &place, platform, &rules) {
        Ok(found) => found,
        Err(error) => return problem(error.to_string()),
    };
    let (hash, document) = (documents.hash(), documents.first);
    let embedded = embed(&root.join(&place.directory), framework, platform, &hash);
    if let Ok(files) = &embedded {
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        let _ = writeln!(said, "{hash} is in {}", paths.join(", "));
    }
    Report {
        document: serde_json::from_str(&document.canonical()).ok(),
        lwfp2: Some(documents.second.hash().to_string()),
        problem: embedded
            .err()
            .map(|error| format!("The app will not contain its fingerprint: {error}")),
    }
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
        let told = report(&workspace);
        assert_eq!(told.document, Some(document));
        assert_eq!(told.problem.map(|text| text.len()), Some(MAX_PROBLEM));
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
