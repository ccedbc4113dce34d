//! The plan of a build, step by step: what `launchway.toml` or a preset resolves to (`docs/reference/builds.md#plans`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::env_var::{is_name, is_path};

/// The origin of a plan that was sent with the request for its build; other origins name where in the source it was found.
pub const FROM_REQUEST: &str = "request";
/// The timeout in seconds of a build whose plan names none.
pub const DEFAULT_TIMEOUT: u32 = 60 * 60;
/// The longest timeout in seconds of a step or build.
pub const MAX_TIMEOUT: u32 = 24 * 60 * 60;
const MAX_STEPS: usize = 100;
const MAX_NAME: usize = 100;
const MAX_COMMAND: usize = 64 << 10;
const MAX_ENV: usize = 200;
const MAX_LABELS: usize = 20;
const MAX_FILES: usize = 50;
/// The maximum number of `**` in the path of an artifact.
const MAX_ANY_FOLDERS: usize = 8;
/// The maximum number of `*` in it, including those of `**`.
const MAX_STARS: usize = 32;

/// The plan of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The labels that a runner must have, such as `os=macos`.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Environment variables of every step; those of the organization take precedence.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The commands, run in order in the source's directory.
    pub steps: Vec<Step>,
    /// The artifacts that the build produces.
    #[serde(default)]
    pub artifacts: Vec<ArtifactRule>,
    /// The folders that are cached between builds.
    #[serde(default)]
    pub cache: Vec<CacheRule>,
    /// The timeout of the whole build, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Its display name; also the phase in the log.
    pub name: String,
    /// The command line that a shell runs.
    pub run: String,
    /// Its timeout, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// Files that a build produces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ArtifactRule {
    /// Where they are in the workspace; `*` matches any part of a name, `**` any number of folders.
    pub path: String,
    /// The kind of artifact, such as `apk`.
    pub kind: String,
}

/// Folders that are cached between builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CacheRule {
    /// The cache key; `{{ hash "package-lock.json" }}` is replaced with the hash of that file.
    pub key: String,
    /// The folders, in the workspace or in the home directory (`~/`).
    pub paths: Vec<String>,
}

/// What is wrong with a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan.{place} {problem}")]
pub struct PlanError {
    /// The path of the field, such as `steps[2].run`.
    pub place: String,
    /// What is wrong, and what is allowed.
    pub problem: String,
}

impl Plan {
    /// Validates the plan.
    ///
    /// # Errors
    /// The first problem found.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_labels()?;
        self.check_env()?;
        self.check_steps()?;
        self.check_artifacts()?;
        self.check_cache()?;
        timeout(self.timeout_seconds, || "timeoutSeconds".to_owned())
    }

    /// The timeout of the whole build, in seconds.
    pub fn timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The first label that a runner with these labels lacks.
    pub fn missing_label<'p>(&'p self, runner: &[String]) -> Option<&'p str> {
        self.labels
            .iter()
            .map(String::as_str)
            .find(|label| !runner.iter().any(|has| has == label))
    }

    fn check_labels(&self) -> Result<(), PlanError> {
        few("labels", self.labels.len(), 0, MAX_LABELS)?;
        for (at, label) in self.labels.iter().enumerate() {
            demand(
                is_label(label),
                || format!("labels[{at}]"),
                "must be name=value, such as os=macos",
            )?;
        }
        Ok(())
    }

    fn check_env(&self) -> Result<(), PlanError> {
        few("env", self.env.len(), 0, MAX_ENV)?;
        for (name, value) in &self.env {
            demand(
                is_name(name),
                || format!("env.{name}"),
                "is not a name of an environment variable",
            )?;
            let fits = value.len() <= MAX_COMMAND && !value.contains('\0');
            demand(
                fits,
                || format!("env.{name}"),
                "must be text of at most 64 KiB without NUL",
            )?;
        }
        Ok(())
    }

    fn check_steps(&self) -> Result<(), PlanError> {
        few("steps", self.steps.len(), 1, MAX_STEPS)?;
        for (at, step) in self.steps.iter().enumerate() {
            let named = is_title(&step.name);
            demand(
                named,
                || format!("steps[{at}].name"),
                "must have 1 to 100 visible characters",
            )?;
            let runs = !step.run.trim().is_empty() && step.run.len() <= MAX_COMMAND && !step.run.contains('\0');
            demand(
                runs,
                || format!("steps[{at}].run"),
                "must be a command of at most 64 KiB",
            )?;
            timeout(step.timeout_seconds, || format!("steps[{at}].timeoutSeconds"))?;
        }
        Ok(())
    }

    fn check_artifacts(&self) -> Result<(), PlanError> {
        few("artifacts", self.artifacts.len(), 0, MAX_FILES)?;
        for (at, rule) in self.artifacts.iter().enumerate() {
            let inside = is_path(&rule.path);
            demand(
                inside,
                || format!("artifacts[{at}].path"),
                "must be relative to the workspace, with `/`, without `..`",
            )?;
            let folders = rule.path.split('/').filter(|part| *part == "**").count();
            let stars = rule.path.bytes().filter(|byte| *byte == b'*').count();
            demand(
                folders <= MAX_ANY_FOLDERS && stars <= MAX_STARS,
                || format!("artifacts[{at}].path"),
                "must have at most 8 times `**`, and 32 `*` in all",
            )?;
            demand(
                is_kind(&rule.kind),
                || format!("artifacts[{at}].kind"),
                "must be 1 to 32 lower-case letters, digits and `-`",
            )?;
        }
        Ok(())
    }

    fn check_cache(&self) -> Result<(), PlanError> {
        few("cache", self.cache.len(), 0, MAX_FILES)?;
        for (at, rule) in self.cache.iter().enumerate() {
            demand(
                is_title(&rule.key),
                || format!("cache[{at}].key"),
                "must have 1 to 100 visible characters",
            )?;
            few(&format!("cache[{at}].paths"), rule.paths.len(), 1, MAX_FILES)?;
            for path in &rule.paths {
                let inside = is_path(path.strip_prefix("~/").unwrap_or(path));
                demand(
                    inside,
                    || format!("cache[{at}].paths"),
                    "must be in the workspace or start with ~/, without `..`",
                )?;
            }
        }
        Ok(())
    }
}

/// Whether a text is a valid label: `name=value`, of letters, digits, `.`, `_`, `-`.
pub fn is_label(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    text.len() <= MAX_NAME
        && text
            .split_once('=')
            .is_some_and(|(name, value)| part(name) && part(value))
}

/// Whether a text is a valid kind of artifact.
pub fn is_kind(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(allowed)
}

fn is_title(text: &str) -> bool {
    let length = text.chars().count();
    (1..=MAX_NAME).contains(&length) && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn demand(holds: bool, place: impl FnOnce() -> String, problem: &str) -> Result<(), PlanError> {
    if holds {
        return Ok(());
    }
    Err(PlanError {
        place: place(),
        problem: problem.to_owned(),
    })
}

fn few(place: &str, count: usize, least: usize, most: usize) -> Result<(), PlanError> {
    let problem = format!("must have {least} to {most} entries");
    demand((least..=most).contains(&count), || place.to_owned(), &problem)
}

fn timeout(seconds: Option<u32>, place: impl FnOnce() -> String) -> Result<(), PlanError> {
    let problem = format!("must be 1 to {MAX_TIMEOUT} seconds");
    demand(
        seconds.is_none_or(|seconds| (1..=MAX_TIMEOUT).contains(&seconds)),
        place,
        &problem,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn whole() -> Value {
        json!({
            "labels": ["os=linux", "java=17"],
            "env": {"CI": "1"},
            "steps": [{"name": "install", "run": "npm ci"}, {"name": "build", "run": "./gradlew x", "timeoutSeconds": 600}],
            "artifacts": [{"path": "app/build/**/*.apk", "kind": "apk"}],
            "cache": [{"key": "npm", "paths": ["node_modules", "~/.npm"]}],
            "timeoutSeconds": 1200,
        })
    }

    #[test]
    fn is_read_and_written_in_one_form() {
        let plan: Plan = serde_json::from_value(whole()).expect("a plan");
        assert_eq!(plan.check(), Ok(()));
        assert_eq!(serde_json::to_value(&plan).expect("JSON"), whole());
        assert_eq!(plan.timeout(), 1200);
        let least: Plan = serde_json::from_value(json!({"steps": [{"name": "a", "run": "true"}]})).expect("a plan");
        assert_eq!((least.check(), least.timeout()), (Ok(()), DEFAULT_TIMEOUT));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let many = |count: usize| vec![json!({"name": "a", "run": "true"}); count];
        let cases = [
            ("/steps", json!([]), "plan.steps must have 1 to 100 entries"),
            ("/steps", json!(many(101)), "plan.steps must have 1 to 100 entries"),
            (
                "/steps/0/name",
                json!(""),
                "plan.steps[0].name must have 1 to 100 visible characters",
            ),
            (
                "/steps/1/run",
                json!(" \n"),
                "plan.steps[1].run must be a command of at most 64 KiB",
            ),
            (
                "/steps/1/run",
                json!("a\u{0}"),
                "plan.steps[1].run must be a command of at most 64 KiB",
            ),
            (
                "/steps/1/timeoutSeconds",
                json!(0),
                "plan.steps[1].timeoutSeconds must be 1 to 86400 seconds",
            ),
            (
                "/timeoutSeconds",
                json!(86401),
                "plan.timeoutSeconds must be 1 to 86400 seconds",
            ),
            (
                "/labels/0",
                json!("macos"),
                "plan.labels[0] must be name=value, such as os=macos",
            ),
            (
                "/labels/0",
                json!("os=mac os"),
                "plan.labels[0] must be name=value, such as os=macos",
            ),
            (
                "/env",
                json!({"A-B": "1"}),
                "plan.env.A-B is not a name of an environment variable",
            ),
            (
                "/artifacts/0/path",
                json!("../x"),
                "plan.artifacts[0].path must be relative to the workspace, with `/`, without `..`",
            ),
            (
                "/artifacts/0/path",
                json!("/etc/passwd"),
                "plan.artifacts[0].path must be relative to the workspace, with `/`, without `..`",
            ),
            (
                "/artifacts/0/kind",
                json!("A B"),
                "plan.artifacts[0].kind must be 1 to 32 lower-case letters, digits and `-`",
            ),
            (
                "/artifacts/0/path",
                json!(format!("{}x.apk", "**/".repeat(40))),
                "plan.artifacts[0].path must have at most 8 times `**`, and 32 `*` in all",
            ),
            (
                "/artifacts/0/path",
                json!(format!("{}x.apk", "**/a/".repeat(9))),
                "plan.artifacts[0].path must have at most 8 times `**`, and 32 `*` in all",
            ),
            (
                "/artifacts/0/path",
                json!(format!("{}.apk", "*a".repeat(33))),
                "plan.artifacts[0].path must have at most 8 times `**`, and 32 `*` in all",
            ),
            (
                "/cache/0/paths",
                json!(["~/../x"]),
                "plan.cache[0].paths must be in the workspace or start with ~/, without `..`",
            ),
            (
                "/cache/0/paths",
                json!([]),
                "plan.cache[0].paths must have 1 to 50 entries",
            ),
        ];
        for (place, value, message) in cases {
            let mut plan = whole();
            *plan.pointer_mut(place).expect(place) = value;
            let plan: Plan = serde_json::from_value(plan).expect(place);
            assert_eq!(plan.check().expect_err(place).to_string(), message);
        }
        assert!(serde_json::from_value::<Plan>(json!({"steps": [], "step": 1})).is_err());
    }

    #[test]
    fn a_runner_needs_every_label() {
        let plan: Plan = serde_json::from_value(whole()).expect("a plan");
        let labels = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            plan.missing_label(&labels(&["java=17", "os=linux", "arch=x86_64"])),
            None
        );
        assert_eq!(plan.missing_label(&labels(&["os=linux", "java=21"])), Some("java=17"));
        assert_eq!(plan.missing_label(&[]), Some("os=linux"));
    }
}
