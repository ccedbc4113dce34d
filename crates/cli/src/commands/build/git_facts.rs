//! Git information about the source: from the variables of a CI server, or else from the local repository
//! (`docs/reference/command-line.md#facts-from-ci`).

use std::path::Path;
use std::process::{Command, Stdio};

use launchway_api::builds::GitView;

use crate::environment::Environment;
use crate::failure::Failure;

/// The server keeps at most this much of each.
const LONGEST: [usize; 3] = [64, 255, 1000];
/// Variables with the commit, on widely used CI servers.
const COMMITS: [&str; 8] = [
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BITBUCKET_COMMIT",
    "CIRCLE_SHA1",
    "BUILDKITE_COMMIT",
    "BUILD_SOURCEVERSION",
    "TRAVIS_COMMIT",
    "GIT_COMMIT",
];
/// Variables with the branch. The source branch of a pull request precedes its target.
const BRANCHES: [&str; 10] = [
    "GITHUB_HEAD_REF",
    "GITHUB_REF_NAME",
    "CI_COMMIT_BRANCH",
    "CI_COMMIT_REF_NAME",
    "BITBUCKET_BRANCH",
    "CIRCLE_BRANCH",
    "BUILDKITE_BRANCH",
    "BUILD_SOURCEBRANCHNAME",
    "TRAVIS_BRANCH",
    "GIT_BRANCH",
];
/// Variables with the commit message.
const MESSAGES: [&str; 4] = [
    "CI_COMMIT_MESSAGE",
    "BUILDKITE_MESSAGE",
    "BUILD_SOURCEVERSIONMESSAGE",
    "TRAVIS_COMMIT_MESSAGE",
];

/// The git information about the source in `root`; `None` when there is none.
pub fn read(root: &Path, environment: &Environment) -> Result<Option<GitView>, Failure> {
    let variable = |names: &[&str]| -> Result<Option<String>, Failure> {
        for name in names {
            if let Some(text) = environment.text(name)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    };
    let git = |arguments: &[&str]| ask(root, arguments);
    let commit = match variable(&COMMITS)? {
        Some(commit) => Some(commit),
        None => git(&["rev-parse", "--verify", "--quiet", "HEAD"]),
    };
    let branch = match variable(&BRANCHES)? {
        Some(branch) => Some(branch),
        None => git(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
    };
    let message = match variable(&MESSAGES)? {
        Some(message) => Some(message),
        None => git(&["log", "-1", "--format=%B"]),
    };
    let [commit, branch, message] = [commit, branch, message].map(|text| text.map(|text| text.trim().to_owned()));
    let known = GitView {
        commit: cut(commit, LONGEST[0]),
        branch: cut(branch, LONGEST[1]),
        message: cut(message, LONGEST[2]),
        dirty: git(&["status", "--porcelain", "--", "."]).map(|changes| !changes.trim().is_empty()),
    };
    Ok((known != GitView::default()).then_some(known))
}

/// The output of `git`; `None` when git is missing or fails.
pub(super) fn ask(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // It must not write into a repository that somebody works in.
    command.arg("--no-optional-locks").args(arguments).stdin(Stdio::null());
    command.current_dir(if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    });
    let output = command.output().ok()?;
    let text = output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())?;
    (!text.is_empty() || arguments[0] == "status").then_some(text)
}

fn cut(text: Option<String>, longest: usize) -> Option<String> {
    text.filter(|text| !text.is_empty())
        .map(|text| text.chars().take(longest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_a_ci_server_win() {
        let nothing = tempfile::tempdir().expect("a temporary directory");
        let none = read(nothing.path(), &Environment::default()).expect("it is readable");
        assert_eq!(none, None);
        let environment = Environment::from([
            ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("GITHUB_HEAD_REF", "feature"),
            ("GITHUB_REF_NAME", "7/merge"),
        ]);
        let facts = read(nothing.path(), &environment)
            .expect("it is readable")
            .expect("facts");
        assert_eq!(facts.branch.as_deref(), Some("feature"));
        assert_eq!(
            facts.commit.as_deref(),
            Some("0123456789abcdef0123456789abcdef01234567")
        );
        assert_eq!((facts.message, facts.dirty), (None, None));
    }

    #[test]
    fn a_repository_tells_the_rest() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let git = |arguments: &[&str]| {
            let who = [
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@example.com",
                "-c",
                "commit.gpgsign=false",
            ];
            let done = Command::new("git")
                .args(who)
                .args(arguments)
                .current_dir(root.path())
                .output();
            assert!(done.expect("git").status.success());
        };
        git(&["init", "-q", "-b", "main"]);
        let empty = read(root.path(), &Environment::default())
            .expect("readable")
            .expect("facts");
        assert_eq!(
            (empty.branch.as_deref(), empty.commit, empty.dirty),
            (Some("main"), None, Some(false))
        );
        std::fs::write(root.path().join("file"), "1").expect("space");
        git(&["add", "file"]);
        git(&["commit", "-q", "-m", "First\n\nWith words."]);
        let clean = read(root.path(), &Environment::default())
            .expect("readable")
            .expect("facts");
        assert_eq!((clean.commit.map(|id| id.len()), clean.dirty), (Some(40), Some(false)));
        assert_eq!(clean.message.as_deref(), Some("First\n\nWith words."));
        std::fs::write(root.path().join("file"), "2").expect("space");
        let dirty = read(root.path(), &Environment::default())
            .expect("readable")
            .expect("facts");
        assert_eq!(dirty.dirty, Some(true));
    }
}
