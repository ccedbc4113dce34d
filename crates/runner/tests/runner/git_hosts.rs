//! Credentials are sent only to the repositories that they are bound to: not to another host, nor to a neighboring
//! repository as a submodule, nor to the target of a redirect. The hosts are real: git's own server over HTTP, which
//! records the credentials.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use axum::http::{HeaderName, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use launchway_api::runner::{Lease, LeasedVariable};
use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;
use launchway_runner::sandbox::BuildUser;
use launchway_runner::settings::Settings;

use crate::fake_server::FakeServer;
use crate::git::{git, of, repository, secret, stand_in_for_ssh};
use crate::stage::open_directory;
use crate::work::Working;

/// A server of repositories: `/public/app`, and, for requests with a token, `/team/app` and `/neighbours/app`.
struct Host {
    directory: tempfile::TempDir,
    port: u16,
    /// The commit of `/team/app`.
    commit: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone, Debug)]
struct Seen {
    path: String,
    authorization: Option<String>,
}

#[derive(Clone)]
struct Serving {
    root: PathBuf,
    /// The target of `/team/moved` and of the LFS files of `/team/app`.
    elsewhere: Option<String>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Host {
    async fn start(elsewhere: Option<String>) -> Host {
        let directory = open_directory();
        let mut commit = String::new();
        for folder in ["public", "team", "neighbours"] {
            fs::create_dir(directory.path().join(folder)).unwrap();
            let (_, made) = repository(&directory.path().join(folder));
            if folder == "team" {
                commit = made;
            }
        }
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let serving = Serving {
            root: directory.path().to_owned(),
            elsewhere,
            seen: Arc::clone(&seen),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().fallback(serve).with_state(serving);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Host {
            directory,
            port,
            commit,
            seen,
        }
    }

    /// Adds a branch of `/team/app` with a submodule.
    fn add_submodule(&self, branch: &str, url: &str, commit: &str) {
        let app = self.directory.path().join("team/app");
        git(&app, &["checkout", "--quiet", "-b", branch, "main"]);
        let modules = format!("[submodule \"deps\"]\n\tpath = deps\n\turl = {url}\n");
        fs::write(app.join(".gitmodules"), modules).unwrap();
        git(&app, &["add", ".gitmodules"]);
        let link = format!("160000,{commit},deps");
        git(&app, &["update-index", "--add", "--cacheinfo", &link]);
        git(&app, &["commit", "--quiet", "-m", branch]);
        git(&app, &["checkout", "--quiet", "--force", "main"]);
    }

    /// The repositories that were requested with the token since the last call, and whether there was any request.
    fn asked(&self) -> (Vec<String>, bool) {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let token = format!("Basic {}", STANDARD.encode("x-access-token:hunter2-token"));
        let with_token = seen.iter().filter(|seen| seen.authorization.as_ref() == Some(&token));
        let mut folders: Vec<_> = with_token
            .map(|seen| seen.path.split('/').take(3).collect::<Vec<_>>().join("/"))
            .collect();
        folders.sort();
        folders.dedup();
        (folders, !seen.is_empty())
    }
}

async fn serve(State(serving): State<Serving>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let header = |name: HeaderName| Some(parts.headers.get(name)?.to_str().unwrap().to_owned());
    let (path, query) = (
        parts.uri.path().to_owned(),
        parts.uri.query().unwrap_or_default().to_owned(),
    );
    let authorization = header(AUTHORIZATION);
    serving.seen.lock().unwrap().push(Seen {
        path: path.clone(),
        authorization: authorization.clone(),
    });
    let plain = |status: u16, (name, value): (HeaderName, String)| {
        let answer = Response::builder().status(status).header(name, value);
        answer.body(Body::empty()).unwrap()
    };
    let moved = ["/team/moved", "/team/app.git/info/lfs"]
        .iter()
        .find_map(|place| path.strip_prefix(place));
    if let (Some(elsewhere), Some(rest)) = (&serving.elsewhere, moved) {
        return plain(307, (LOCATION, format!("{elsewhere}{rest}?{query}")));
    }
    if !path.starts_with("/public/") && authorization.is_none() {
        return plain(401, (WWW_AUTHENTICATE, "Basic realm=\"git\"".to_owned()));
    }
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let variables = [
        ("REQUEST_METHOD", parts.method.to_string()),
        ("PATH_INFO", path),
        ("QUERY_STRING", query),
        ("CONTENT_TYPE", header(CONTENT_TYPE).unwrap_or_default()),
        ("CONTENT_LENGTH", body.len().to_string()),
        ("HTTP_CONTENT_ENCODING", header(CONTENT_ENCODING).unwrap_or_default()),
    ];
    let root = serving.root.clone();
    let answer = tokio::task::spawn_blocking(move || backend(&root, &variables, &body));
    answer.await.unwrap()
}

/// Answers like git's own server.
fn backend(root: &Path, variables: &[(&str, String)], body: &Bytes) -> Response<Body> {
    let mut command = Command::new("git");
    command.arg("http-backend").envs(variables.iter().cloned());
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(body).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let mut answer = Response::builder();
    for line in std::str::from_utf8(&output[..end]).unwrap().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        answer = match name {
            "Status" => answer.status(value[..3].parse::<u16>().unwrap()),
            _ => answer.header(name, value),
        };
    }
    answer.body(Body::from(output[end + 4..].to_vec())).unwrap()
}

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
                log.contains("LAUNCHWAY_GIT_URLS does not name this repository"),
                "{url}: {log}"
            );
            assert!(
                log.contains("name the repository in LAUNCHWAY_GIT_URLS"),
                "{url}: {log}"
            );
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
            log.contains("warning: not all submodules"),
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
        log.contains("LAUNCHWAY_GIT_URLS does not name this repository"),
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
            log.contains("warning: not all files of Git LFS"),
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
