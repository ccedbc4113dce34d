//! Behavior that needs a terminal: prompts, hidden input, progress bars, colors and the width.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::json;
use tokio::process::Child;

use crate::build::{ID, artifact, stream};
use crate::fake_server::{FakeServer, Reply};
use crate::interrupt::interrupt;
use crate::session::caller;
use crate::stage::{KEY, Stage, build, page, update};

/// A pseudo-terminal with a command at the other end.
pub struct Screen {
    near: File,
    child: Child,
}

impl Screen {
    /// Starts a command on a terminal with this number of columns.
    pub fn of(stage: &Stage, arguments: &[&str], columns: u16) -> Self {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&near).and_then(|()| unlockpt(&near)).expect("it is ours");
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&near, size).expect("it has a size");
        let name = ptsname(&near, Vec::new())
            .expect("it has a name")
            .into_string()
            .expect("UTF-8");
        let far = || Stdio::from(File::options().read(true).write(true).open(&name).expect("it is ours"));
        let mut command = stage.command(arguments);
        command.env("TERM", "xterm").stdin(far()).stdout(far()).stderr(far());
        let child = command.spawn().expect("the command starts");
        Self {
            near: File::from(near),
            child,
        }
    }

    /// Reads until this text appears and returns all output so far.
    pub async fn until(&mut self, text: &'static str) -> String {
        let mut near = self.near.try_clone().expect("a second handle");
        let read = move || {
            let mut shown = Vec::new();
            let mut byte = [0];
            while !String::from_utf8_lossy(&shown).contains(text) {
                near.read_exact(&mut byte)
                    .unwrap_or_else(|_| panic!("{text} never came: {shown:?}"));
                shown.push(byte[0]);
            }
            String::from_utf8(shown).expect("UTF-8")
        };
        tokio::task::spawn_blocking(read).await.expect("it came")
    }

    /// Reads to the end and returns the output and the exit code.
    pub async fn rest(mut self) -> (String, Option<i32>) {
        let read = move || {
            let mut shown = Vec::new();
            // A terminal whose other end is closed returns an error after the last byte.
            let _ = self.near.read_to_end(&mut shown);
            String::from_utf8(shown).expect("UTF-8")
        };
        let shown = tokio::task::spawn_blocking(read).await.expect("it reads");
        (shown, self.child.wait().await.expect("the command ends").code())
    }

    /// Waits until input is hidden, which happens after the prompt.
    pub async fn until_hidden(&self) {
        while self.shows_letters() {
            tokio::task::yield_now().await;
        }
    }

    pub fn types(&mut self, text: &str) {
        self.near.write_all(text.as_bytes()).expect("somebody reads");
    }

    fn shows_letters(&self) -> bool {
        tcgetattr(&self.near)
            .expect("a terminal")
            .local_modes
            .contains(LocalModes::ECHO)
    }
}

#[tokio::test]
async fn login_asks_and_does_not_show_the_key() {
    let server = FakeServer::start([Reply::new(200, caller(json!({})).to_string())]).await;
    let stage = Stage::new();
    let mut screen = Screen::of(&stage, &["login"], 80);
    screen.until("Server: ").await;
    assert!(screen.shows_letters());
    screen.types(&format!("{}\n", server.url()));
    screen.until("API key: ").await;
    screen.until_hidden().await;
    screen.types(&format!("{KEY}\n"));
    let (shown, code) = screen.rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Example Apps") && !shown.contains(KEY), "{shown}");
    assert!(stage.login_file().exists());
}

#[tokio::test]
async fn login_with_a_browser_after_an_empty_answer() {
    let begun = json!({"id": "login_1", "status": "pending", "deviceCode": "d", "userCode": "BCDF-GHJK",
        "verificationUrl": "https://a.example/device", "verificationUrlComplete": "https://a.example/device?code=BCDF-GHJK",
        "interval": 0, "expiresAt": "2026-11-20T10:10:00.000Z"});
    let server = FakeServer::start([
        Reply::new(201, begun.to_string()),
        Reply::new(
            200,
            json!({"id": "login_1", "status": "approved", "key": KEY}).to_string(),
        ),
        Reply::new(200, caller(json!({})).to_string()),
    ])
    .await;
    let stage = Stage::new();
    let mut screen = Screen::of(&stage, &["login", "--url", &server.url()], 80);
    screen.until("API key: ").await;
    screen.until_hidden().await;
    screen.types("\n");
    let (shown, code) = screen.rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("confirm the code BCDF-GHJK") && !shown.contains(KEY),
        "{shown}"
    );
    assert!(stage.login_file().exists());
}

#[tokio::test]
async fn a_deletion_happens_only_after_a_yes() {
    let id = "app_01kb0000000000000000000001";
    for (answer, code, calls) in [("\n", 1, 0), ("y\n", 0, 1)] {
        let gone = json!({"id": id, "status": "deleted"});
        let server = FakeServer::start([Reply::new(200, gone.to_string())]).await;
        let stage = Stage::with(&server);
        let mut screen = Screen::of(&stage, &["app", "delete", id], 80);
        screen.until("[y/N]: ").await;
        screen.types(answer);
        let (shown, ended) = screen.rest().await;
        assert_eq!((ended, server.seen().len()), (Some(code), calls), "{answer:?}: {shown}");
    }
    let foreign = update(json!({"foreignIds": [{"protocol": "codepush", "id": "production/v3"}]}));
    let server = FakeServer::start([Reply::new(200, foreign.to_string())]).await;
    let stage = Stage::with(&server);
    let mut screen = Screen::of(&stage, &["update", "withdraw", "update_bad"], 200);
    screen
        .until("phones with the client of another service leave it, others that have it keep it. [y/N]: ")
        .await;
    screen.types("\n");
    assert_eq!(screen.rest().await.1, Some(1));
}

#[tokio::test]
async fn a_value_and_a_password_are_asked_for_and_not_shown() {
    let refused = || Reply::error(400, "Bad Request", "no");
    let server = FakeServer::start([refused(), refused()]).await;
    let stage = Stage::with(&server);
    stage.file("release.jks", "a keystore");
    let rows: [(&[&str], &str, &str); 2] = [
        (&["env", "set", "TOKEN"], "Value of TOKEN: ", "value"),
        (
            &["credential", "add", "release.jks"],
            "Password of the file: ",
            "password",
        ),
    ];
    for (arguments, question, field) in rows {
        let mut screen = Screen::of(&stage, arguments, 80);
        screen.until(question).await;
        screen.until_hidden().await;
        screen.types("hunter2\n");
        let (shown, code) = screen.rest().await;
        assert_eq!(code, Some(1), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
        let sent = server.seen().pop().expect("a call").json();
        assert_eq!(sent[field], "hunter2");
    }
}

#[tokio::test]
async fn init_asks_for_what_it_did_not_find_out() {
    let stage = Stage::new();
    let mut screen = Screen::of(&stage, &["init"], 80);
    screen.until("Bundle identifier: ").await;
    screen.types("com.example.app\n");
    screen.until("Server: ").await;
    screen.types("https://launchway.example.com\n");
    screen.until("bundle: ").await;
    screen.types("\n");
    let (shown, code) = screen.rest().await;
    assert_eq!(code, Some(0), "{shown}");
    let written = std::fs::read_to_string(stage.project().join("launchway.toml")).expect("the file");
    assert!(written.contains("\nbundle_id = \"com.example.app\"\n"), "{written}");
    assert!(
        written.contains("\nurl = \"https://launchway.example.com\"\n"),
        "{written}"
    );
}

#[tokio::test]
async fn an_interrupted_question_leaves_the_terminal_as_it_was() {
    let stage = Stage::new();
    let mut screen = Screen::of(&stage, &["login", "--url", "http://127.0.0.1:9"], 80);
    screen.until("API key: ").await;
    screen.until_hidden().await;
    interrupt(&screen.child);
    let near = screen.near.try_clone().expect("a second handle");
    let (shown, code) = screen.rest().await;
    assert_eq!((shown.as_str(), code), ("\r\ninterrupted\r\n", Some(130)));
    assert!(
        tcgetattr(&near)
            .expect("a terminal")
            .local_modes
            .contains(LocalModes::ECHO)
    );
}

#[tokio::test]
async fn a_rollback_happens_only_after_a_yes() {
    let good = update(json!({"id": "update_good", "version": "1.0.0", "buildNumber": "1", "sha256": "00"}));
    for (answer, code, calls) in [("\n", 1, 2), ("no\n", 1, 2), ("Y\n", 0, 3)] {
        let replies = [
            Reply::new(200, update(json!({})).to_string()),
            Reply::new(200, page(&[update(json!({})), good.clone()], 2, 0)),
            Reply::new(201, update(json!({})).to_string()),
        ];
        let server = FakeServer::start(replies).await;
        let stage = Stage::with(&server);
        let mut screen = Screen::of(&stage, &["update", "rollback", "update_bad"], 80);
        screen
            .until("Publish the bytes of 1.0.0 as 1.0.1 with a higher build number? [y/N]: ")
            .await;
        screen.types(answer);
        let (shown, ended) = screen.rest().await;
        assert_eq!((ended, server.seen().len()), (Some(code), calls), "{answer:?}: {shown}");
    }
}

#[tokio::test]
async fn a_withdrawal_happens_only_after_a_yes() {
    for (answer, code, calls) in [("\n", 1, 1), ("y\n", 0, 2)] {
        let withdrawn = update(json!({"status": "withdrawn"}));
        let replies = [update(json!({})), withdrawn].map(|update| Reply::new(200, update.to_string()));
        let server = FakeServer::start(replies).await;
        let stage = Stage::with(&server);
        let mut screen = Screen::of(&stage, &["update", "withdraw", "update_bad"], 200);
        screen
            .until(
                ", 1.0.1 (build 2) of com.example.app for android, production? It stays withdrawn; phones that have it \
                 keep it. [y/N]: ",
            )
            .await;
        screen.types(answer);
        let (shown, ended) = screen.rest().await;
        assert_eq!((ended, server.seen().len()), (Some(code), calls), "{answer:?}: {shown}");
    }
}

#[tokio::test]
async fn what_is_revoked_is_asked_about_by_its_name() {
    let key = "key_01kb0000000000000000000002";
    let record = json!({"id": key, "status": "active", "name": "CI of the shop", "prefix": "lw_123456789", "scopes": ["build"],
        "createdAt": "2026-11-20T10:00:00.000Z", "createdBy": "operator", "lastUsedAt": null, "expiresAt": null});
    let server = FakeServer::start([Reply::new(200, record.to_string())]).await;
    let stage = Stage::with(&server);
    let mut screen = Screen::of(&stage, &["key", "revoke", key], 200);
    screen
        .until("Revoke CI of the shop (key_01kb0000000000000000000002)? Requests with it will be refused. [y/N]: ")
        .await;
    screen.types("\n");
    let (shown, ended) = screen.rest().await;
    assert_eq!((ended, server.seen().len()), (Some(1), 1), "{shown}");
}

#[tokio::test]
async fn a_build_is_deleted_only_after_a_yes() {
    for (answer, code, calls) in [("\n", 1, 1), ("y\n", 0, 2)] {
        let gone = json!({"id": ID, "status": "deleted"});
        let replies = [build(json!({})), gone].map(|reply| Reply::new(200, reply.to_string()));
        let server = FakeServer::start(replies).await;
        let stage = Stage::with(&server);
        let mut screen = Screen::of(&stage, &["build", "delete", ID], 200);
        screen
            .until(", a build of com.example.app for android, with its log and artifacts? [y/N]: ")
            .await;
        screen.types(answer);
        let (shown, ended) = screen.rest().await;
        assert_eq!((ended, server.seen().len()), (Some(code), calls), "{answer:?}: {shown}");
    }
}

#[tokio::test]
async fn a_logs_phases_stand_out_and_nothing_steers_the_terminal() {
    let log = "==> compile\n\u{1b}[2J\u{1b}[31mred\u{1b}[0m\u{7}\n";
    let events = stream(&[("log", json!(log)), ("end", json!({"status": "success"}))]);
    let again = Reply::new(201, build(json!({})).to_string());
    let server = FakeServer::start([again, Reply::new(200, events), Reply::new(200, log)]).await;
    let stage = Stage::with(&server);
    let (shown, code) = Screen::of(&stage, &["build", "retry", ID], 80).rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("\u{1b}[1m==> compile\u{1b}[0m\r\nred\r\n"), "{shown:?}");
    let (shown, _) = Screen::of(&stage, &["build", "logs", ID], 80).rest().await;
    assert_eq!(shown, "==> compile\r\nred\r\n");
}

#[tokio::test]
async fn a_download_shows_how_far_it_is() {
    let server = FakeServer::start([]).await;
    let mut app = artifact("app.apk", b"an app");
    app["url"] = json!(format!("{}/objects/1", server.url()));
    let whole = || Reply::new(200, build(json!({"status": "success", "artifacts": [app]})).to_string());
    server.then([whole(), whole(), Reply::new(200, "an app")]);
    let stage = Stage::with(&server);
    let (shown, code) = Screen::of(&stage, &["build", "download", ID], 80).rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Downloading ["), "{shown:?}");
}

#[tokio::test]
async fn nobody_is_asked_with_ci_set() {
    let mut stage = Stage::new();
    stage.set("CI", "true");
    let (shown, code) = Screen::of(&stage, &["login", "--url", "http://127.0.0.1:9"], 80)
        .rest()
        .await;
    assert_eq!(code, Some(2));
    assert!(shown.contains("no terminal to prompt for the key"), "{shown}");
}

#[tokio::test]
async fn colors_only_when_wanted() {
    let red = "\u{1b}[1;31merror:";
    let with = |name: &'static str, value: &'static str, arguments: &'static [&'static str]| async move {
        let mut stage = Stage::new();
        stage.set(name, value);
        Screen::of(&stage, arguments, 80).rest().await.0
    };
    assert!(with("NO_COLOR", "", &["whoami"]).await.contains(red));
    for (name, value, arguments) in [
        ("NO_COLOR", "1", &["whoami"][..]),
        ("NO_COLOR", "", &["--no-color", "whoami"][..]),
        ("NO_COLOR", "1", &["unknown"][..]),
        ("NO_COLOR", "", &["--no-color", "unknown"][..]),
    ] {
        let shown = with(name, value, arguments).await;
        assert!(
            shown.contains("error:") && !shown.contains('\u{1b}'),
            "{arguments:?}: {shown:?}"
        );
    }
}

#[tokio::test]
async fn a_list_fits_the_terminal() {
    let server = FakeServer::start((0..2).map(|_| Reply::new(200, page(&[update(json!({}))], 1, 0)))).await;
    let stage = Stage::with(&server);
    let (wide, _) = Screen::of(&stage, &["update", "list"], 200).rest().await;
    assert!(wide.starts_with("ID  ") && wide.lines().count() == 3, "{wide}");
    let (narrow, _) = Screen::of(&stage, &["update", "list"], 60).rest().await;
    assert!(narrow.starts_with("Id             update_01"), "{narrow}");
    assert!(narrow.lines().all(|line| line.len() <= 60), "{narrow}");
}

#[tokio::test]
async fn bars_show_how_far_it_is() {
    let server = FakeServer::start([]).await;
    let upload = json!({"id": "upload_1", "status": "pending", "method": "PUT", "url": format!("{}/1", server.url()),
        "headers": {}, "expiresAt": "2026-11-20T10:00:00.000Z"});
    let published = Reply::new(201, update(json!({})).to_string());
    server.then([Reply::new(201, upload.to_string()), Reply::new(200, ""), published]);
    let stage = Stage::with(&server);
    stage.file("dist/index.html", "<p>hello</p>");
    let arguments = [
        "update",
        "ios",
        "--dir",
        "dist",
        "--bundle-id",
        "com.example.app",
        "--version",
        "1.0.0",
    ];
    let arguments = [&arguments[..], &["--all-configurations"]].concat();
    let (shown, code) = Screen::of(&stage, &arguments, 80).rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("Packing [") && shown.contains("Uploading ["),
        "{shown:?}"
    );
}
