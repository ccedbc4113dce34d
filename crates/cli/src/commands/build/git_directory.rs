//! The directory of the app in the git repository that is built: the one that the user names, or else that of the project, if the project
//! is in a clone of that repository.

use std::path::Path;

use launchway_domain::build::git::check_directory;

use super::git_facts::ask;
use crate::failure::Failure;

/// The directory to build; `None` for the root of the repository. Fails when the user named one that cannot be in a repository.
pub fn of(named: Option<&str>, url: &str, project: &Path) -> Result<Option<String>, Failure> {
    match named {
        Some("." | "./") => Ok(None),
        Some(named) => {
            let directory = named.strip_prefix("./").unwrap_or(named).trim_end_matches('/');
            check_directory(directory)
                .map_err(|problem| Failure::usage(format!("--directory: {}", lower(&problem))))?;
            Ok(Some(directory.to_owned()))
        }
        None => Ok(in_clone(project, url)),
    }
}

/// Problems of the command line are clauses.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// The directory of the project in its clone of the repository; `None` at the root of the clone, and elsewhere.
fn in_clone(project: &Path, url: &str) -> Option<String> {
    let wanted = identity(url)?;
    let remotes = ask(project, &["config", "--get-regexp", r"^remote\..*\.url$"])?;
    let mut addresses = remotes.lines().filter_map(|line| line.split_once(' '));
    addresses.find(|(_, address)| identity(address).as_ref() == Some(&wanted))?;
    let prefix = ask(project, &["rev-parse", "--show-prefix"])?;
    let directory = prefix.trim_end_matches('\n').trim_end_matches('/');
    check_directory(directory).is_ok().then(|| directory.to_owned())
}

/// Host and path of a repository, which are the same whichever protocol fetches it.
fn identity(url: &str) -> Option<(String, String)> {
    let rest = ["https://", "http://", "ssh://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let (authority, path) = match rest {
        Some(rest) => rest.split_once('/')?,
        None => url.split_once(':').filter(|(authority, _)| authority.contains('@'))?,
    };
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some((host.to_ascii_lowercase(), path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_the_same_by_every_protocol() {
        let one = identity("https://git.example.com/team/shop.git");
        for same in [
            "https://Git.Example.com/team/shop",
            "https://token@git.example.com/team/shop.git/",
            "ssh://git@git.example.com:2222/team/shop.git",
            "git@git.example.com:team/shop.git",
            "git@git.example.com:/team/shop",
        ] {
            assert_eq!(identity(same), one, "{same}");
        }
        for other in [
            "https://git.example.com/team/shop2.git",
            "https://git.example.org/team/shop.git",
            "git@git.example.com:shop.git",
            "/srv/team/shop.git",
            "../shop",
            "",
        ] {
            assert_ne!(identity(other), one, "{other}");
        }
    }

    #[test]
    fn what_the_user_names_wins() {
        let nowhere = tempfile::tempdir().expect("a temporary directory");
        let url = "https://git.example.com/shop.git";
        let of = |named: Option<&str>| of(named, url, nowhere.path());
        for (named, expected) in [
            (Some("apps/mobile"), Some("apps/mobile")),
            (Some("./apps/mobile/"), Some("apps/mobile")),
            (Some("."), None),
            (None, None),
        ] {
            assert_eq!(of(named).expect("it is valid").as_deref(), expected, "{named:?}");
        }
        for named in ["../x", "/etc", ""] {
            assert!(
                of(Some(named))
                    .expect_err(named)
                    .message
                    .starts_with("--directory: the directory")
            );
        }
    }
}
