//! A host of repositories: git's own server over HTTP, which records the credentials that it receives.

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

use crate::git::{git, repository};
use crate::stage::open_directory;

/// A server of repositories: `/public/app`, and, for requests with a token, `/team/app` and `/neighbours/app`.
pub struct Host {
    pub directory: tempfile::TempDir,
    pub port: u16,
    /// The commit of `/team/app`.
    pub commit: String,
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
    pub async fn start(elsewhere: Option<String>) -> Host {
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
    pub fn add_submodule(&self, branch: &str, url: &str, commit: &str) {
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
    pub fn asked(&self) -> (Vec<String>, bool) {
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
