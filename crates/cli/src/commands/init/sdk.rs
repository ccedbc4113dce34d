//! Adds the SDK to the project: what it lacks is shown, asked for, and written
//! (`docs/reference/command-line.md#init-and-the-sdk`).

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use launchway_project::framework::Framework;
use launchway_project::packages::{Packages, manifest_problem};
use launchway_project::sdk::additions::{Additions, AppFolder, FileChange, has_sdk};
use launchway_project::source::Source;
use launchway_project::workspace::ProjectSource;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::diff::hunks;
use crate::context::Context;
use crate::failure::Failure;

/// The version of the SDK that fits this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What an app lacks.
#[derive(Debug)]
pub struct Missing {
    additions: Additions,
    /// What to run once a package was added, with the place.
    install: Vec<String>,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Files with an addition.
    changed: Vec<String>,
    /// Files that lack theirs.
    unchanged: Vec<String>,
    steps: Vec<Value>,
}

impl Missing {
    /// Looks what the app in `directory` of the project in `root` lacks; `None` if there is no SDK for it.
    pub fn find(
        root: &Path,
        directory: &str,
        framework: Option<Framework>,
        context: &Context,
    ) -> Result<Option<Self>, Failure> {
        let Some(framework) = framework.filter(|framework| has_sdk(*framework)) else {
            return Ok(None);
        };
        let source = Source::new(root);
        if framework.is_of_javascript()
            && let Some(problem) = manifest_problem(&source, directory)
        {
            context.printer.warn(&format!("cannot add the SDK: {problem}"));
            return Ok(None);
        }
        let app = AppFolder {
            root,
            directory,
            framework,
        };
        let additions = Additions::find(app, VERSION).map_err(|error| Failure::failed(error.to_string()))?;
        let place = ProjectSource::find(root, directory);
        let packages = Packages::read(&Source::new(&place.root), &place.place(directory));
        Ok(Some(Self {
            additions,
            install: install(framework, &place, packages.as_ref()),
        }))
    }

    /// Whether the app lacks nothing.
    pub fn is_nothing(&self) -> bool {
        self.additions.is_empty()
    }

    /// Whether there is a file to change.
    pub fn has_changes(&self) -> bool {
        !self.additions.changes.is_empty()
    }

    /// Shows what the app lacks.
    pub fn show(&self, context: &Context) {
        for change in &self.additions.changes {
            let text = described(change);
            match context.terminal.is_interactive() {
                // The question that follows needs it, even with --quiet.
                true => context.terminal.instruct(&text),
                false => context.printer.note(&text),
            }
        }
        for step in &self.additions.steps {
            let lines = step.lines.iter().map(|line| format!("\n    {line}"));
            let text = format!("{}:{}", step.what, lines.collect::<String>());
            context.printer.warn(&text);
        }
    }

    /// Writes the changes, each in one step. What was written before a failure stays, and the next run adds the rest.
    pub fn write(&self, root: &Path) -> Result<(), Failure> {
        self.additions.changes.iter().try_for_each(|change| {
            write(root, change).map_err(|error| Failure::failed(format!("cannot write {}: {error}", change.path)))
        })
    }

    /// Says what to run after a package was added.
    pub fn tell_next(&self, outcome: &Outcome, context: &Context) {
        let is_added = outcome.changed.iter().any(|path| path.ends_with("package.json"));
        for command in self.install.iter().filter(|_| is_added) {
            context.printer.note(&format!("Next: {command}"));
        }
    }

    /// What to report.
    pub fn outcome(&self, is_written: bool) -> Outcome {
        let paths = self
            .additions
            .changes
            .iter()
            .map(|change| change.path.clone())
            .collect();
        let (changed, unchanged) = match is_written {
            true => (paths, Vec::new()),
            false => (Vec::new(), paths),
        };
        let steps = self.additions.steps.iter();
        Outcome {
            changed,
            unchanged,
            steps: steps
                .map(|step| json!({ "what": step.what, "lines": step.lines }))
                .collect(),
        }
    }
}

impl Outcome {
    /// As the command prints it.
    pub fn json(&self) -> Value {
        json!({ "changed": self.changed, "unchanged": self.unchanged, "steps": self.steps })
    }

    /// The same for people.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if !self.changed.is_empty() {
            parts.push(format!("added to {}", self.changed.join(", ")));
        }
        if !self.unchanged.is_empty() {
            parts.push(format!("not added to {}", self.unchanged.join(", ")));
        }
        match self.steps.len() {
            0 => {}
            1 => parts.push("1 step is left to you".to_owned()),
            many => parts.push(format!("{many} steps are left to you")),
        }
        match parts.is_empty() {
            true => "complete".to_owned(),
            false => parts.join("; "),
        }
    }
}

/// The commands after which the app contains the package.
fn install(framework: Framework, place: &ProjectSource, packages: Option<&Packages>) -> Vec<String> {
    let Some(packages) = packages else { return Vec::new() };
    let folder = match packages.place.as_str() {
        "" if place.is_workspace() => format!(" in {}", place.root.display()),
        folder if folder.is_empty() || folder == place.base => String::new(),
        folder => format!(" in {folder}"),
    };
    let mut commands = vec![
        "`sdk/pack` in the repository of Launchway makes the package, unless your registry has it".to_owned(),
        format!("`{}`{folder} installs the package", packages.lockfile_command()),
    ];
    commands.extend(match framework {
        Framework::Capacitor => Some(format!("`{} cap sync` adds it to the native projects", packages.exec())),
        Framework::ReactNative => Some("`pod install` in ios adds it to the Xcode project".to_owned()),
        Framework::Expo => Some(format!(
            "`{} expo prebuild` adds it to the native projects",
            packages.exec()
        )),
        _ => None,
    });
    commands
}

/// A change as lines with `-` and `+`.
fn described(change: &FileChange) -> String {
    let hunks = hunks(&change.before, &change.after).into_iter().map(|hunk| {
        let lines = hunk
            .lines
            .iter()
            .map(|line| format!("\n  {}", line.replace('\t', "    ")));
        format!("{}, line {}:{}", change.path, hunk.line, lines.collect::<String>())
    });
    hunks.collect::<Vec<_>>().join("\n")
}

/// Replaces a file of the project with its new text, unless somebody else changed it.
fn write(root: &Path, change: &FileChange) -> io::Result<()> {
    let changed = || io::Error::other("it was changed meanwhile; run the command again");
    let root = fs::canonicalize(if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    })?;
    let target = fs::canonicalize(root.join(&change.path))?;
    let folder = target.parent().filter(|folder| folder.starts_with(&root));
    let folder = folder.ok_or_else(|| io::Error::other("it is outside the project"))?;
    if fs::read_to_string(&target)? != change.before {
        return Err(changed());
    }
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(change.after.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&target)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str) -> FileChange {
        FileChange {
            path: path.to_owned(),
            before: "one\n\ttwo\n".to_owned(),
            after: "one\n\tand\n\ttwo\n".to_owned(),
        }
    }

    #[test]
    fn a_change_is_shown_by_its_lines() {
        assert_eq!(described(&change("src/a.ts")), "src/a.ts, line 2:\n  +     and");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_file_that_was_shown_is_replaced() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().expect("a temporary directory");
        let root = folder.path().join("project");
        fs::create_dir(&root).expect("space");
        let path = root.join("a.ts");
        fs::write(&path, "other").expect("space");
        let error = write(&root, &change("a.ts")).expect_err("it differs").to_string();
        assert_eq!(error, "it was changed meanwhile; run the command again");
        fs::write(&path, change("a.ts").before).expect("space");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        write(&root, &change("a.ts")).expect("it is as shown");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), change("a.ts").after);
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let outside = folder.path().join("b.ts");
        fs::write(&outside, change("b.ts").before).expect("space");
        symlink(&outside, root.join("b.ts")).expect("a link");
        write(&root, &change("b.ts")).expect_err("it leads out");
        assert_eq!(fs::read_to_string(outside).expect("it is there"), change("b.ts").before);
        assert_eq!(
            fs::read_dir(&root).expect("it is there").count(),
            2,
            "no temporary file is left"
        );
    }
}
