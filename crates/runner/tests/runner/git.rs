//! Git sources: what is fetched, and what never gets as far as git.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use launchway_api::runner::{Lease, Source};
use launchway_runner::plan::RequestOnly;
use launchway_runner::wall::BuildUser;

use crate::fake_server::{FakeServer, lease};
use crate::stage::open_directory;
use crate::work::Working;

fn git(directory: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.com",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = command
        .args(words)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with two commits, a tag on the first, a hook, and a branch with a link out.
fn repository(directory: &Path) -> (PathBuf, String) {
    let path = directory.join("app");
    std::fs::create_dir(&path).unwrap();
    git(&path, &["init", "--quiet"]);
    std::fs::write(path.join("README"), "first").unwrap();
    git(&path, &["add", "."]);
    git(&path, &["commit", "--quiet", "-m", "One"]);
    git(&path, &["tag", "v1"]);
    std::fs::write(path.join("README"), "second").unwrap();
    git(&path, &["commit", "--quiet", "-a", "-m", "Two"]);
    let second = git(&path, &["rev-parse", "HEAD"]);
    git(&path, &["checkout", "--quiet", "-b", "bad"]);
    std::os::unix::fs::symlink("/etc/passwd", path.join("out")).unwrap();
    git(&path, &["add", "."]);
    git(&path, &["commit", "--quiet", "-m", "Bad"]);
    git(&path, &["checkout", "--quiet", "main"]);
    (path, second)
}

fn of(server: &FakeServer, id: &str, url: &str, reference: &str) -> Lease {
    let script = "cat README; echo; echo \"commit=$LAUNCHWAY_COMMIT\"; find .git -path '*hooks/*' | wc -l";
    Lease {
        source: Source::Git {
            url: url.to_owned(),
            reference: reference.to_owned(),
        },
        ..lease(server, id, &[("Look", script)])
    }
}

#[tokio::test]
async fn a_branch_a_tag_and_a_commit_are_fetched() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, second) = repository(directory.path());
    let readable = directory.path().to_owned();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.allow_local_git = true;
        // Git asks who owns a repository.
        settings.wall.user = BuildUser::Own;
        settings.wall.readable = vec![readable];
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let url = format!("file://{}", path.display());
    for (number, (reference, content)) in [
        ("main", "second"),
        ("v1", "first"),
        (second.as_str(), "second"),
        ("refs/heads/main", "second"),
    ]
    .iter()
    .enumerate()
    {
        let id = format!("build_{number}");
        server.queue(of(&server, &id, &url, reference));
        let finish = server.finished(&id).await;
        let log = server.log(&id);
        assert_eq!(finish.status, "success", "{reference}: {log}");
        assert!(
            log.contains(&format!("==> Look\n{content}\ncommit=")),
            "{reference}: {log}"
        );
        assert!(log.ends_with("\n0\n==> artifacts\n==> success\n"), "{reference}: {log}");
        if *content == "second" {
            assert!(
                log.contains(&format!("==> commit {second}\n")) && log.contains(&format!("commit={second}\n")),
                "{log}"
            );
        }
    }
    server.queue(of(&server, "build_bad", &url, "bad"));
    let error = server.finished("build_bad").await.error.unwrap();
    assert_eq!(error.code, "SOURCE_INVALID");
    assert!(
        error.message.contains("\"out\" is a link that leads out of the source"),
        "{}",
        error.message
    );
    server.queue(of(&server, "build_gone", &url, "no-such-branch"));
    let error = server.finished("build_gone").await.error.unwrap();
    assert!(
        error.message.contains("git cannot fetch 'no-such-branch'"),
        "{}",
        error.message
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn options_commands_and_local_paths_never_reach_git() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, _) = repository(directory.path());
    let working = Working::start(&server);
    let (file, local) = (format!("file://{}", path.display()), path.display().to_string());
    let witness = directory.path().join("witness");
    let command = format!("ext::sh -c touch% {}", witness.display());
    let option = format!("--upload-pack=touch {}", witness.display());
    for (number, (url, reference)) in [
        (file.as_str(), "main"),
        (&local, "main"),
        (&command, "main"),
        (&option, "main"),
        ("https://example.com/app.git", option.as_str()),
        ("https://example.com/app.git", "--all"),
    ]
    .iter()
    .enumerate()
    {
        let id = format!("build_{number}");
        server.queue(of(&server, &id, url, reference));
        let error = server.finished(&id).await.error.unwrap();
        assert_eq!(error.code, "SOURCE_INVALID", "{url} {reference}");
        assert_eq!(server.log(&id), format!("==> source\n==> failed: {}\n", error.message));
    }
    assert!(!witness.exists());
    working.end().await.unwrap();
}
