//! `launchway.toml`: what a project says about itself (contract part 10). What it does not know is an error that
//! names it, so that a mistyped key is not silently without effect.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Its name.
pub const NAME: &str = "launchway.toml";

/// All of `launchway.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// `[app]`.
    pub app: App,
    /// `[server]`.
    pub server: Server,
    /// `[update]`.
    pub update: Update,
}

/// `[app]`: which app this is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct App {
    /// The bundle identifier.
    pub bundle_id: Option<String>,
}

/// `[server]`: where it is published.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address of the production server.
    pub url: Option<String>,
    /// Address of the development server, for `--dev`.
    pub dev_url: Option<String>,
    /// Id of the organization.
    pub org: Option<String>,
}

/// `[update]`: how updates are published unless told.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Update {
    /// The configuration.
    pub configuration: Option<String>,
    /// The directory to pack, relative to the file.
    pub dir: Option<PathBuf>,
}

/// No usable `launchway.toml`. The message begins with its path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectFileError {
    /// The one that was told is not there.
    #[error("{0} does not exist")]
    Missing(String),
    /// The operating system says no.
    #[error("{0} cannot be read: {1}")]
    Unreadable(String, String),
    /// Its content is wrong: where, and what.
    #[error("{0}, {1}")]
    Invalid(String, String),
}

/// Reads the file that was told, or the one found in `here` or above, or nothing. `here` is absolute. Gives its directory
/// too, which is empty for `here` itself.
///
/// # Errors
/// The told one is missing, or any one cannot be read.
pub fn find(here: &Path, told: Option<&Path>) -> Result<(PathBuf, Project), ProjectFileError> {
    let path = match told {
        Some(path) => here.join(path),
        None => match above(here) {
            Some(path) => path,
            None => return Ok((PathBuf::new(), Project::default())),
        },
    };
    let shown = || path.strip_prefix(here).unwrap_or(&path).display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProjectFileError::Missing(shown()),
        _ => ProjectFileError::Unreadable(shown(), error.to_string()),
    })?;
    let project = parse(&text).map_err(|problem| ProjectFileError::Invalid(shown(), problem))?;
    let root = path.parent().unwrap_or(here);
    Ok((root.strip_prefix(here).unwrap_or(root).to_owned(), project))
}

/// Looks in `here` and above it, but not beyond the repository: what lies there is not of this project.
fn above(here: &Path) -> Option<PathBuf> {
    let top = here
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .unwrap_or(here);
    let within = here.ancestors().take_while(|directory| directory.starts_with(top));
    within.map(|directory| directory.join(NAME)).find(|path| path.is_file())
}

/// Reads the text.
///
/// # Errors
/// What is wrong, beginning with the line.
pub fn parse(text: &str) -> Result<Project, String> {
    toml::from_str(text).map_err(|error| {
        let line = 1 + error.span().map_or(0, |span| text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_everything_it_knows() {
        let text = "[app]\nbundle_id = 'com.example.app'\n[server]\nurl = 'https://a.example'\n\
                    dev_url = 'https://b.example'\norg = 'org_1'\n[update]\nconfiguration = 'production'\ndir = 'dist'\n";
        let project = parse(text).expect("a good file");
        assert_eq!(project.app.bundle_id.as_deref(), Some("com.example.app"));
        assert_eq!(project.server.url.as_deref(), Some("https://a.example"));
        assert_eq!(project.server.dev_url.as_deref(), Some("https://b.example"));
        assert_eq!(project.server.org.as_deref(), Some("org_1"));
        assert_eq!(project.update.configuration.as_deref(), Some("production"));
        assert_eq!(project.update.dir.as_deref(), Some(Path::new("dist")));
        assert_eq!(parse(""), Ok(Project::default()));
    }

    #[test]
    fn names_what_is_wrong_and_its_line() {
        let rows = [
            (
                "[app]\nbundleid = 'x'",
                "line 2: unknown field `bundleid`, expected `bundle_id`",
            ),
            (
                "[apps]",
                "line 1: unknown field `apps`, expected one of `app`, `server`, `update`",
            ),
            (
                "[update]\n\nconfiguration = 3",
                "line 3: invalid type: integer `3`, expected a string",
            ),
        ];
        for (text, problem) in rows {
            assert_eq!(parse(text).expect_err(text), problem);
        }
        assert!(parse("[app\n").expect_err("no TOML").starts_with("line 1: "));
    }

    #[test]
    fn looks_above_but_not_beyond_the_repository() {
        let top = tempfile::tempdir().expect("a temporary directory");
        let (repository, below) = (
            top.path().join("repository"),
            top.path().join("repository/packages/app"),
        );
        std::fs::create_dir_all(&below).expect("space");
        std::fs::write(top.path().join(NAME), "").expect("space");
        assert_eq!(above(&below), None, "nothing marks the repository");
        std::fs::create_dir(repository.join(".git")).expect("space");
        assert_eq!(above(&below), None, "it lies beyond");
        std::fs::write(repository.join(NAME), "").expect("space");
        assert_eq!(above(&below), Some(repository.join(NAME)));
        std::fs::write(below.join(NAME), "").expect("space");
        assert_eq!(above(&below), Some(below.join(NAME)));
    }
}
