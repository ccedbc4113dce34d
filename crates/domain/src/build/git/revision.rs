//! What of a git repository is built: a ref, and the directory of the app if it is not at the root.
//!
//! Records and leases hold both in the field of the ref, as `REF:DIRECTORY`. A server of 0.1.0 passes that text on as it is, and a runner
//! of 0.1.0 refuses it, since no ref contains a colon: neither of them builds another directory.

use std::fmt;

use super::check_ref;
use crate::env_var::is_path;

/// The label of runners that know directories. Only they get such a build, from servers of any release.
pub const DIRECTORY_LABEL: &str = "git-directory=yes";

const PROBLEM: &str = "The directory must be relative to the root of the repository, with `/`, without `..`, and have at most \
                       255 characters";

/// A ref, and the directory in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'a> {
    /// The branch, tag or commit.
    pub reference: &'a str,
    /// The directory of the app; empty for the root of the repository.
    pub directory: &'a str,
}

impl<'a> Revision<'a> {
    /// Parses the text of a record or a lease.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let (reference, directory) = match text.split_once(':') {
            Some((reference, directory)) => (reference, Some(directory)),
            None => (text, None),
        };
        check_ref(reference)?;
        directory.map_or(Ok(()), check_directory)?;
        Ok(Self {
            reference,
            directory: directory.unwrap_or_default(),
        })
    }
}

impl fmt::Display for Revision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.directory {
            "" => f.write_str(self.reference),
            directory => write!(f, "{}:{directory}", self.reference),
        }
    }
}

/// Checks the directory of an app below the root of a repository.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn check_directory(directory: &str) -> Result<(), String> {
    let is_git = |part: &str| part.eq_ignore_ascii_case(".git");
    match is_path(directory) && !directory.starts_with('-') && !directory.split('/').any(is_git) {
        true => Ok(()),
        false => Err(PROBLEM.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_directory_stays_in_the_repository() {
        for directory in [
            "app",
            "apps/mobile",
            "a b/ö",
            "..x/y..",
            "a:b",
            "x".repeat(255).as_str(),
        ] {
            assert_eq!(check_directory(directory), Ok(()), "{directory}");
            let text = Revision {
                reference: "main",
                directory,
            }
            .to_string();
            assert_eq!(
                Revision::parse(&text),
                Ok(Revision {
                    reference: "main",
                    directory
                })
            );
        }
        for directory in [
            "",
            ".",
            "..",
            "/",
            "/etc",
            "../app",
            "app/../..",
            "app/..",
            "./app",
            "app/",
            "app//x",
            "C:\\app",
            "a\\b",
            "a\nb",
            "a\0b",
            "-P",
            ".git",
            "app/.GIT/hooks",
            &"x".repeat(256),
        ] {
            assert!(check_directory(directory).is_err(), "{directory}");
            assert!(Revision::parse(&format!("main:{directory}")).is_err(), "{directory}");
        }
    }

    #[test]
    fn a_text_without_a_directory_is_a_ref() {
        for reference in ["main", "refs/heads/main"] {
            let revision = Revision {
                reference,
                directory: "",
            };
            assert_eq!(Revision::parse(reference), Ok(revision));
            assert_eq!(revision.to_string(), reference);
        }
        for text in ["", ":app", "-x:app", "a..b:app"] {
            assert!(Revision::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_previous_release_takes_no_directory_for_a_ref() {
        assert!(check_ref("main:apps/mobile").is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_the_same(text in "[a-z:/.\\\\-]{0,12}") {
            if let Ok(revision) = Revision::parse(&text) {
                prop_assert_eq!(revision.to_string(), text.as_str());
                prop_assert!(!revision.directory.split('/').any(|part| part == ".."));
                prop_assert!(!revision.directory.starts_with('/'));
            }
        }
    }
}
