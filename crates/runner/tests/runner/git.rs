//! Git sources: what is fetched, and what never reaches git.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use launchway_api::runner::{Lease, LeasedVariable, Source};
use launchway_api::secret::SecretText;
use launchway_domain::build::{BuildErrorCode, BuildResult};
use launchway_runner::plan::{ProjectResolver, RequestOnly};
use launchway_runner::sandbox::BuildUser;

use crate::fake_server::{FakeServer, lease};
use crate::stage::open_directory;
use crate::work::Working;

pub fn git(directory: &Path, words: &[&str]) -> String {
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

/// A repository with two commits, a tag on the first, a hook, and a branch with a link that leads out.
pub fn repository(directory: &Path) -> (PathBuf, String) {
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

pub fn of(server: &FakeServer, id: &str, url: &str, reference: &str) -> Lease {
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
        // Git checks the owner of a repository.
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = vec![readable];
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
        assert_eq!(finish.status, BuildResult::Success, "{reference}: {log}");
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
    assert_eq!(error.code, BuildErrorCode::SourceInvalid);
    assert!(
        error.message.contains("\"out\" is a link to outside the source"),
        "{}",
        error.message
    );
    server.queue(of(&server, "build_gone", &url, "no-such-branch"));
    let error = server.finished("build_gone").await.error.unwrap();
    assert!(
        error.message.contains("git cannot fetch `no-such-branch`"),
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
        assert_eq!(error.code, BuildErrorCode::SourceInvalid, "{url} {reference}");
        assert_eq!(server.log(&id), format!("==> source\n==> failed: {}\n", error.message));
    }
    assert!(!witness.exists());
    working.end().await.unwrap();
}

/// A secret variable of the organization.
pub fn secret(name: &str, value: &str) -> LeasedVariable {
    LeasedVariable {
        name: name.to_owned(),
        value: SecretText::new(value.to_owned()),
        path: None,
        secret: true,
    }
}

/// The credentials are bound to every repository of this machine.
fn everywhere_here() -> LeasedVariable {
    secret("LAUNCHWAY_GIT_URLS", "file:///")
}

/// Prints everything that a step finds of the credentials.
const LOOK_FOR_SECRETS: &str = r#"
env | grep -E '^(LAUNCHWAY_GIT_|GIT_)' && echo FOUND
grep -rlE "hunter|$(printf 'x-access-token:hunter2-%s' token | base64)" "$(dirname "$LAUNCHWAY_WORKSPACE")" && echo FOUND
cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -q '[h]unter2-[tkhf]' && echo FOUND
ls "$(dirname "$LAUNCHWAY_WORKSPACE")/files"
git config --list --local | grep -iE 'extraheader|helper|insteadof' && echo FOUND
cat .git/FETCH_HEAD .git/config | grep -E '@|Authorization' && echo FOUND
cat README && echo looked
"#;

#[tokio::test]
async fn what_opens_a_repository_is_for_the_fetch_alone() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, _) = repository(directory.path());
    let readable = directory.path().to_owned();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.allow_local_git = true;
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = vec![readable];
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let file = LeasedVariable {
        path: Some("key".to_owned()),
        ..secret("LAUNCHWAY_GIT_SSH_KEY", "hunter2-file")
    };
    for (id, env) in [
        (
            "build_1",
            vec![
                secret("LAUNCHWAY_GIT_TOKEN", "hunter2-token"),
                secret("LAUNCHWAY_GIT_SSH_KEY", "hunter2-key"),
                secret("LAUNCHWAY_GIT_SSH_KNOWN_HOSTS", "example.com ssh-ed25519 hunter2-host"),
                everywhere_here(),
            ],
        ),
        // Configured as a file by mistake, it still reaches no step.
        ("build_2", vec![file, everywhere_here()]),
    ] {
        let lease = of(&server, id, &format!("file://{}", path.display()), "main");
        let mut lease = Lease { env, ..lease };
        lease.plan.as_mut().unwrap().steps[0].run = LOOK_FOR_SECRETS.to_owned();
        server.queue(lease);
        let finish = server.finished(id).await;
        let log = server.log(id);
        assert_eq!(finish.status, BuildResult::Success, "{log}");
        assert!(log.contains("secondlooked\n") && !log.contains("FOUND"), "{log}");
    }
    // Neither does a build of an archive find it.
    let mut archive = lease(
        &server,
        "build_3",
        &[("Look", "env | grep LAUNCHWAY_GIT && echo FOUND; echo looked")],
    );
    archive.env = vec![secret("LAUNCHWAY_GIT_TOKEN", "hunter2-token")];
    server.queue(archive);
    assert_eq!(server.finished("build_3").await.status, BuildResult::Success);
    assert!(!server.log("build_3").contains("FOUND"));
    working.end().await.unwrap();
}

/// A fake `ssh`: records its arguments and the known hosts, then serves the repository.
pub fn stand_in_for_ssh(directory: &Path) {
    let script = format!(
        "#!/bin/bash\nprintf '%s\\n' \"$@\" > {0}/called\nfor word; do case $word in -oUserKnownHostsFile=*) cat \"${{word#*=}}\" > {0}/hosts ;; \
         esac; done\nfor word; do [ \"$before\" = -i ] && cat \"$word\" > {0}/key; before=$word; done\neval \"${{@: -1}}\"\n",
        directory.join("witness").display()
    );
    std::fs::create_dir(directory.join("witness")).unwrap();
    std::fs::write(directory.join("ssh"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode;
    std::fs::set_permissions(directory.join("ssh"), mode(0o755)).unwrap();
}

#[tokio::test]
async fn ssh_answers_only_to_hosts_that_are_known() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, _) = repository(directory.path());
    stand_in_for_ssh(directory.path());
    let (readable, witness) = (directory.path().to_owned(), directory.path().join("witness"));
    let steps_path = format!(
        "{}:{}",
        directory.path().display(),
        launchway_runner::settings::DEFAULT_PATH
    );
    let writable = witness.clone();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = vec![readable];
        settings.sandbox.writable = vec![writable];
        settings.path = steps_path;
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let url = format!("ssh://git@git.example.com{}", path.display());
    let mut lease = of(&server, "build_1", &url, "main");
    lease.env = vec![
        secret("LAUNCHWAY_GIT_SSH_KEY", "the key"),
        secret("LAUNCHWAY_GIT_SSH_KNOWN_HOSTS", "git.example.com ssh-ed25519 AAAA"),
        secret("LAUNCHWAY_GIT_URLS", "ssh://git@git.example.com/"),
    ];
    server.queue(lease);
    let finish = server.finished("build_1").await;
    assert_eq!(finish.status, BuildResult::Success, "{}", server.log("build_1"));
    let noted = |name: &str| std::fs::read_to_string(witness.join(name)).unwrap();
    let called = noted("called");
    assert!(
        called.contains("-oStrictHostKeyChecking=yes\n") && called.contains("-F\n/dev/null\n"),
        "{called}"
    );
    assert!(noted("hosts").starts_with("git.example.com ssh-ed25519 AAAA\ngithub.com ssh-ed25519 "));
    assert_eq!(noted("key"), "the key\n");
    // A rejected host is reported with what to do.
    std::fs::write(
        directory.path().join("ssh"),
        "#!/bin/sh\necho 'Host key verification failed.' >&2; exit 255\n",
    )
    .unwrap();
    server.queue(of(&server, "build_2", &url, "main"));
    let error = server.finished("build_2").await.error.unwrap();
    assert_eq!(error.code, BuildErrorCode::SourceInvalid);
    assert!(
        error
            .message
            .contains("set them as the variable LAUNCHWAY_GIT_SSH_KNOWN_HOSTS"),
        "{}",
        error.message
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn submodules_and_large_files_use_the_repositorys_credentials() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, _) = repository(directory.path());
    let library = directory.path().join("library");
    std::fs::create_dir(&library).unwrap();
    git(&library, &["init", "--quiet"]);
    std::fs::write(library.join("lib"), "library").unwrap();
    git(&library, &["add", "."]);
    git(&library, &["commit", "--quiet", "-m", "One"]);
    git(
        &path,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            "../library",
            "deps/library",
        ],
    );
    let has_lfs = Command::new("git")
        .args(["lfs", "version"])
        .output()
        .unwrap()
        .status
        .success();
    if has_lfs {
        git(&path, &["lfs", "install", "--local"]);
        std::fs::write(
            path.join(".gitattributes"),
            "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        )
        .unwrap();
        std::fs::write(path.join("large.bin"), "large").unwrap();
        git(&path, &["add", "."]);
    } else {
        println!("there is no Git LFS on this machine: not tested");
    }
    git(&path, &["commit", "--quiet", "-m", "Three"]);
    let readable = directory.path().to_owned();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.allow_local_git = true;
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = vec![readable];
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let url = format!("file://{}", path.display());
    let script = "cat deps/library/lib; echo; test ! -e large.bin || cat large.bin; git submodule status | cut -c 1";
    for (id, env, expected) in [
        (
            "build_1",
            vec![secret("LAUNCHWAY_GIT_TOKEN", "hunter2-token"), everywhere_here()],
            "library\n",
        ),
        // Public repositories are fetched without credentials.
        (
            "build_2",
            Vec::new(),
            "cat: deps/library/lib: No such file or directory\n",
        ),
    ] {
        let mut lease = Lease {
            env,
            ..of(&server, id, &url, "main")
        };
        lease.plan.as_mut().unwrap().steps[0].run = format!("set +e; {script}; true");
        server.queue(lease);
        let finish = server.finished(id).await;
        let log = server.log(id);
        assert_eq!(finish.status, BuildResult::Success, "{log}");
        assert!(log.contains(&format!("==> Look\n{expected}")), "{log}");
        if has_lfs && id == "build_1" {
            assert!(log.contains("library\nlarge"), "{log}");
        }
    }
    working.end().await.unwrap();
}

/// The directory of the project comes with the ref, and everything happens there.
#[tokio::test]
async fn a_project_below_the_root_of_its_repository_is_built() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    let (path, _) = repository(directory.path());
    let settings = "[build.production]\nsteps = [{ name = 'Look', run = 'cat here; echo; basename \"$PWD\"; ls ..' }]\n\
                    artifacts = [{ path = 'here', kind = 'txt' }]\n";
    for (place, content) in [("apps/mobile", "the app"), ("apps/other", "another"), (".", "the root")] {
        std::fs::create_dir_all(path.join(place)).unwrap();
        std::fs::write(path.join(place).join("launchway.toml"), settings).unwrap();
        std::fs::write(path.join(place).join("here"), content).unwrap();
    }
    std::os::unix::fs::symlink("mobile", path.join("apps/link")).unwrap();
    git(&path, &["add", "."]);
    git(&path, &["commit", "--quiet", "-m", "Apps"]);
    let readable = directory.path().to_owned();
    let change = |settings: &mut launchway_runner::settings::Settings| {
        settings.allow_local_git = true;
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = vec![readable];
    };
    let working = Working::with(&server, change, Arc::new(ProjectResolver));
    let url = format!("file://{}", path.display());
    let build = async |id: &str, reference: &str| {
        let lease = of(&server, id, &url, reference);
        server.queue(Lease { plan: None, ..lease });
        server.finished(id).await
    };
    for (number, (reference, content)) in [("main:apps/mobile", "the app\nmobile\n"), ("main", "the root\n")]
        .iter()
        .enumerate()
    {
        let id = format!("build_{number}");
        let finish = build(&id, reference).await;
        let log = server.log(&id);
        assert_eq!(finish.status, BuildResult::Success, "{reference}: {log}");
        assert!(log.contains(&format!("==> Look\n{content}")), "{reference}: {log}");
    }
    for (id, reference, message) in [
        (
            "build_gone",
            "main:apps/gone",
            "The repository has no directory apps/gone at this ref",
        ),
        (
            "build_link",
            "main:apps/link",
            "The repository has no directory apps/link at this ref",
        ),
        (
            "build_file",
            "main:README",
            "The repository has no directory README at this ref",
        ),
        (
            "build_above",
            "main:../app",
            "The directory must be relative to the root of the repository",
        ),
        (
            "build_git",
            "main:.git",
            "The directory must be relative to the root of the repository",
        ),
        (
            "build_absolute",
            "main:/etc",
            "The directory must be relative to the root of the repository",
        ),
    ] {
        let error = build(id, reference).await.error.unwrap();
        assert_eq!(error.code, BuildErrorCode::SourceInvalid, "{reference}");
        assert!(error.message.contains(message), "{reference}: {}", error.message);
    }
    working.end().await.unwrap();
}
