//! Credentials are sent only to the repositories that they are bound to: not to another host, nor to a neighboring
//! repository as a submodule, nor to the target of a redirect. The hosts are real: git's own server over HTTP, which
//! records the credentials.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use launchway_api::runner::{Lease, LeasedVariable};
use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;
use launchway_runner::sandbox::BuildUser;
use launchway_runner::settings::Settings;

use crate::fake_server::FakeServer;
use crate::git::{git, of, secret, stand_in_for_ssh};
use crate::git_host::Host;
use crate::stage::open_directory;
use crate::work::Working;

/// A runner that may fetch from these hosts.
fn working(server: &FakeServer, hosts: &[&Host]) -> Working {
    let ports: Vec<u16> = hosts.iter().map(|host| host.port).collect();
    let change = |settings: &mut Settings| {
        settings.allow_local_git = true;
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.open_ports = ports;
    };
    Working::with(server, change, Arc::new(RequestOnly))
}

/// Runs a build. Returns whether it succeeded, and its log.
async fn build(server: &FakeServer, lease: Lease) -> (bool, String) {
    let id = lease.build_id.clone();
    server.queue(lease);
    let finish = server.finished(&id).await;
    (finish.status == BuildResult::Success, server.log(&id))
}

fn token_for(urls: &str) -> Vec<LeasedVariable> {
    vec![
        secret("LAUNCHWAY_GIT_TOKEN", "hunter2-token"),
        secret("LAUNCHWAY_GIT_URLS", urls),
    ]
}

#[tokio::test]
async fn a_token_goes_only_to_the_repositories_that_it_is_for() {
    let server = FakeServer::start().await;
    let other = Host::start(None).await;
    let ours = Host::start(Some(format!("http://127.0.0.1:{}/public/app", other.port))).await;
    let working = working(&server, &[&ours, &other]);
    let (here, there) = (ours.port, other.port);
    let urls = format!("http://localhost:{here}/team/");
    for (number, (url, is_fetched, is_shown)) in [
        (format!("http://localhost:{here}/team/app"), true, true),
        (format!("http://LOCALHOST:{here}/team/app"), true, true),
        // Public, so fetched without credentials.
        (format!("http://localhost:{here}/public/app"), true, false),
        (format!("http://localhost:{there}/public/app"), true, false),
        (format!("http://localhost:{here}/neighbours/app"), false, false),
        (format!("http://localhost:{here}/team/../neighbours/app"), false, false),
        (
            format!("http://localhost:{here}/team/%2e%2e/neighbours/app"),
            false,
            false,
        ),
        (format!("http://localhost:{there}/team/app"), false, false),
        (format!("http://127.0.0.1:{here}/team/app"), false, false),
        (format!("http://localhost.:{here}/team/app"), false, false),
        (
            format!("http://localhost:{here}@127.0.0.1:{there}/team/app"),
            false,
            false,
        ),
        // The token may be sent there, but not to the target of the redirect.
        (format!("http://localhost:{here}/team/moved"), false, true),
    ]
    .iter()
    .enumerate()
    {
        let id = format!("build_{number}");
        let lease = Lease {
            env: token_for(&urls),
            ..of(&server, &id, url, "main")
        };
        let (success, log) = build(&server, lease).await;
        assert_eq!(success, *is_fetched, "{url}: {log}");
        let (shown, _) = ours.asked();
        assert_eq!(!shown.is_empty(), *is_shown, "{url}: {shown:?}");
        assert!(
            shown.iter().all(|folder| folder.starts_with("/team/")),
            "{url}: {shown:?}"
        );
        let (shown, asked) = other.asked();
        assert_eq!(shown, [""; 0], "{url}");
        assert!(
            !asked || url.contains(&there.to_string()),
            "{url}: a redirect was followed"
        );
        if !success && !is_shown && !url.contains('@') {
            assert!(
                log.contains("LAUNCHWAY_GIT_URLS does not include this repository"),
                "{url}: {log}"
            );
            assert!(log.contains("add the repository to LAUNCHWAY_GIT_URLS"), "{url}: {log}");
        }
    }
    // The token is bound to nothing.
    let lease = Lease {
        env: vec![secret("LAUNCHWAY_GIT_TOKEN", "hunter2-token")],
        ..of(&server, "build_x", &format!("http://localhost:{here}/team/app"), "main")
    };
    let (success, log) = build(&server, lease).await;
    assert!(!success && ours.asked().0.is_empty(), "{log}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_token_opens_no_stranger_or_neighbour_as_a_submodule() {
    let server = FakeServer::start().await;
    let (ours, other) = (Host::start(None).await, Host::start(None).await);
    let (here, there) = (ours.port, other.port);
    ours.add_submodule("own", "../../team/app", &ours.commit);
    ours.add_submodule("neighbour", "../../neighbours/app", &ours.commit);
    let stranger = format!("http://localhost:{there}/team/app");
    ours.add_submodule("stranger", &stranger, &other.commit);
    let working = working(&server, &[&ours, &other]);
    for (branch, is_fetched) in [("own", true), ("neighbour", false), ("stranger", false)] {
        let mut lease = Lease {
            env: token_for(&format!("http://localhost:{here}/team/")),
            ..of(&server, branch, &format!("http://localhost:{here}/team/app"), branch)
        };
        lease.plan.as_mut().unwrap().steps[0].run = "cat deps/README || echo nothing".to_owned();
        let (success, log) = build(&server, lease).await;
        assert!(success, "{branch}: {log}");
        assert_eq!(log.contains("==> Look\nsecond"), is_fetched, "{branch}: {log}");
        assert_eq!(
            log.contains("warning: cannot fetch all submodules"),
            !is_fetched,
            "{branch}: {log}"
        );
        assert_eq!(ours.asked().0, ["/team/app"], "{branch}");
        assert_eq!(other.asked().0, [""; 0], "{branch}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_key_opens_no_stranger_or_neighbour_as_a_submodule() {
    let server = FakeServer::start().await;
    let host = Host::start(None).await;
    let directory = open_directory();
    stand_in_for_ssh(directory.path());
    let root = host.directory.path().display().to_string();
    host.add_submodule(
        "own",
        &format!("ssh://git@git.example.com{root}/team/app"),
        &host.commit,
    );
    host.add_submodule(
        "scp",
        &format!("git@git.example.com:{root}/neighbours/app"),
        &host.commit,
    );
    host.add_submodule(
        "stranger",
        &format!("ssh://git@evil.example{root}/team/app"),
        &host.commit,
    );
    host.add_submodule(
        "port",
        &format!("ssh://git@git.example.com:2222{root}/team/app"),
        &host.commit,
    );
    let witness = directory.path().join("witness");
    let (readable, writable) = (
        vec![host.directory.path().to_owned(), directory.path().to_owned()],
        witness.clone(),
    );
    let path = format!(
        "{}:{}",
        directory.path().display(),
        launchway_runner::settings::DEFAULT_PATH
    );
    let change = |settings: &mut Settings| {
        settings.sandbox.user = BuildUser::Own;
        settings.sandbox.readable = readable;
        settings.sandbox.writable = vec![writable];
        settings.path = path;
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let key = |urls: String| {
        vec![
            secret("LAUNCHWAY_GIT_SSH_KEY", "the key"),
            secret("LAUNCHWAY_GIT_URLS", &urls),
        ]
    };
    let url = format!("ssh://git@git.example.com{root}/team/app");
    for (branch, is_fetched) in [("own", true), ("scp", false), ("stranger", false), ("port", false)] {
        let mut lease = Lease {
            env: key(format!("git.example.com{root}/team/")),
            ..of(&server, branch, &url, branch)
        };
        lease.plan.as_mut().unwrap().steps[0].run = "cat deps/README || echo nothing".to_owned();
        let (success, log) = build(&server, lease).await;
        assert!(success, "{branch}: {log}");
        assert_eq!(log.contains("==> Look\nsecond"), is_fetched, "{branch}: {log}");
        assert_eq!(
            log.contains("LAUNCHWAY_GIT_SSH_KEY is not used for"),
            !is_fetched,
            "{branch}: {log}"
        );
        // The last call of `ssh` was for a repository that the key is bound to.
        let called = fs::read_to_string(witness.join("called")).unwrap();
        assert!(
            called.contains(&format!("'{root}/team/app'")) && !called.contains("2222"),
            "{branch}: {called}"
        );
    }
    // The repository itself may be another: then the key is not sent.
    let _ = fs::remove_file(witness.join("key"));
    let lease = Lease {
        env: key(format!("git.example.com{root}/team/")),
        ..of(
            &server,
            "build_x",
            &format!("ssh://git@git.example.com{root}/neighbours/app"),
            "main",
        )
    };
    let (_, log) = build(&server, lease).await;
    assert!(
        log.contains("LAUNCHWAY_GIT_URLS does not include this repository"),
        "{log}"
    );
    assert!(!witness.join("key").exists(), "{log}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_token_does_not_follow_large_files_elsewhere() {
    let has_lfs = Command::new("git").args(["lfs", "version"]).output().unwrap();
    if !has_lfs.status.success() {
        println!("there is no Git LFS on this machine: not tested");
        return;
    }
    let server = FakeServer::start().await;
    let other = Host::start(None).await;
    let ours = Host::start(Some(format!("http://127.0.0.1:{}/public/app", other.port))).await;
    let (here, there) = (ours.port, other.port);
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n",
        "0".repeat(64)
    );
    let app = ours.directory.path().join("team/app");
    let others = [
        ("moved", format!("http://localhost:{here}/team/moved")),
        ("stranger", format!("http://localhost:{there}/team/app")),
        ("neighbour", format!("http://localhost:{here}/neighbours/app")),
        ("climbing", format!("http://localhost:{here}/team/../neighbours/app")),
    ];
    let branches = others.iter().map(|(branch, place)| (*branch, Some(place)));
    for (branch, place) in branches.clone().chain([("own", None)]) {
        git(&app, &["checkout", "--quiet", "-b", branch, "main"]);
        fs::write(
            app.join(".gitattributes"),
            "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        )
        .unwrap();
        if let Some(place) = place {
            fs::write(app.join(".lfsconfig"), format!("[lfs]\n\turl = {place}\n")).unwrap();
        }
        fs::write(app.join("large.bin"), &pointer).unwrap();
        // The raw pointer, whatever this machine has configured for Git LFS.
        let plain = ["filter.lfs.process=", "filter.lfs.clean=", "filter.lfs.required=false"];
        let settings = plain.iter().flat_map(|setting| ["-c", *setting]);
        git(&app, &settings.chain(["add", "."]).collect::<Vec<_>>());
        git(&app, &["commit", "--quiet", "-m", branch]);
        git(&app, &["checkout", "--quiet", "main"]);
    }
    let working = working(&server, &[&ours, &other]);
    for (branch, place) in branches.chain([("own", None)]) {
        let mut lease = Lease {
            env: token_for(&format!("http://localhost:{here}/team/")),
            ..of(&server, branch, &format!("http://localhost:{here}/team/app"), branch)
        };
        lease.plan.as_mut().unwrap().steps[0].run = "head -n 1 large.bin".to_owned();
        let (success, log) = build(&server, lease).await;
        // The steps find what is in the repository, and may fetch the rest themselves.
        assert!(
            success && log.contains("==> Look\nversion https://git-lfs"),
            "{branch}: {log}"
        );
        assert_eq!(
            log.contains("warning: .lfsconfig may name another server"),
            place.is_some(),
            "{branch}: {log}"
        );
        assert_eq!(
            log.contains("warning: cannot fetch all Git LFS files"),
            place.is_none(),
            "{branch}: {log}"
        );
        let (shown, _) = ours.asked();
        let expected: &[&str] = if place.is_some() {
            &["/team/app"]
        } else {
            &["/team/app", "/team/app.git"]
        };
        assert_eq!(shown, expected, "{branch}");
        let (shown, asked) = other.asked();
        assert_eq!(shown, [""; 0], "{branch}");
        // The repository's own server redirected there.
        assert_eq!(asked, place.is_none(), "{branch}");
    }
    working.end().await.unwrap();
}
