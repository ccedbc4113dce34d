//! `update <platform>`: what it rejects before it sends anything, and what the server and object storage reject.

use insta::assert_snapshot;
use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::publish::{MINIMUM, taking};
use crate::session::caller;
use crate::stage::Stage;

#[tokio::test]
async fn what_is_missing_is_told_before_anything_is_sent() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage.file("dist/index.html", "").file("empty.zip", "");
    let start = ["update", "ios", "--bundle-id", "com.example.app", "--version", "1.0.0"];
    let rows: [&[&str]; 7] = [
        &[],
        &["--all-configurations"],
        &["--configuration", "a", "--all-configurations"],
        &["--all-configurations", "--dir", "gone"],
        &["--all-configurations", "--file", "empty.zip"],
        &["--all-configurations", "--dir", "dist", "--release-notes", "@gone.txt"],
        &["--all-configurations", "--dir", "dist", "--fingerprint", "@empty.zip"],
    ];
    let mut text = String::new();
    for row in rows {
        text.push_str(&stage.run(&[&start[..], row].concat()).await);
    }
    text.push_str(
        &stage
            .run(&["update", "ios", "--all-configurations", "--dir", "dist"])
            .await,
    );
    text.push_str(
        &stage
            .run(&[&start[..4], &["--all-configurations", "--dir", "dist"]].concat())
            .await,
    );
    assert_snapshot!(text, @r#"
    $ launchway update ios --bundle-id com.example.app --version 1.0.0
    --- standard error
    error: no configuration specified, so it is not clear who gets the update
    hint: --configuration NAME offers it to apps that ask for that name, such as production;
          --all-configurations offers it to every app, testers and users alike
    --- exit 2
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --all-configurations
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    error: nothing to publish specified
    hint: give --dir DIR with the built app, or set dir under [update] in launchway.toml
    --- exit 2
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --configuration a --all-configurations
    --- standard error
    error: the argument '--configuration <NAME>' cannot be used with '--all-configurations'

    Usage: launchway update <PLATFORM|all> --dir <DIR> --configuration <NAME> [OPTIONS]
           launchway update <COMMAND>

    For more information, try '--help'.
    --- exit 2
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --all-configurations --dir gone
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    error: gone is not a directory
    --- exit 1
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --all-configurations --file empty.zip
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    error: empty.zip is empty
    --- exit 1
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --all-configurations --dir dist --release-notes @gone.txt
    --- standard error
    error: cannot read gone.txt: No such file or directory (os error 2)
    --- exit 2
    $ launchway update ios --bundle-id com.example.app --version 1.0.0 --all-configurations --dir dist --fingerprint @empty.zip
    --- standard error
    error: the fingerprint document is not a JSON object: EOF while parsing a value at line 1 column 0
    hint: to give a hash, omit the @: --fingerprint HASH
    --- exit 2
    $ launchway update ios --all-configurations --dir dist
    --- standard error
    error: no app specified, and no native project found here
    hint: give --bundle-id ID, or set bundle_id under [app] in launchway.toml, or under [app.ios] if it differs between platforms
    --- exit 2
    $ launchway update ios --bundle-id com.example.app --all-configurations --dir dist
    --- standard error
    error: no version specified, and no native project found here
    hint: give --version VERSION
    --- exit 2
    "#);
    assert!(server.seen().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_cannot_be_packed() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    stage.file("dist/index.html", "");
    std::os::unix::fs::symlink("/etc/hostname", stage.project().join("dist/link")).expect("space");
    assert_snapshot!(stage.run(&MINIMUM).await, @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    error: dist/link is a symbolic link; packages cannot contain links
    --- exit 1
    "#);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn what_the_server_says_against_it_is_passed_on() {
    let taken = "Version 1.0.1 build 2 of com.example.app for android in production exists already";
    let (_server, stage) = taking(Reply::error(400, "Bad Request", taken)).await;
    assert_snapshot!(stage.run(&[&MINIMUM[..], &["--json"]].concat()).await, @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production --json
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    Packed 2 files of dist (16 B) into 240 B
    {"error":"failed","exitCode":1,"hint":null,"message":"Version 1.0.1 build 2 of com.example.app for android in production exists already"}
    --- exit 1
    "#);
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

#[tokio::test]
async fn object_storage_that_refuses_is_named_without_the_signature() {
    let storage = FakeServer::start([Reply::new(403, "<Error/>")]).await;
    let upload = json!({"id": "upload_1", "status": "pending", "method": "PUT",
        "url": format!("{}/1?signature=secret", storage.url()), "headers": {}, "expiresAt": "2026-11-20T10:00:00.000Z"});
    let server = FakeServer::start([Reply::new(201, upload.to_string())]).await;
    let stage = Stage::with(&server);
    stage.file("dist/index.html", "<p>hello</p>");
    let text = stage.run(&MINIMUM).await;
    assert_snapshot!(text.replace(&storage.url(), "http://storage"), @r#"
    $ launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production
    --- standard error
    No app project found here, so the update has no fingerprint: apps get it whatever their native code
    Packed 1 file of dist (12 B) into 132 B
    error: http://storage refused the transfer with status 403
    hint: run the command again
    --- exit 6
    "#);
}

/// A caller of a server with these limits.
fn limited(package: u64, unpacked: u64) -> Reply {
    let limits = json!({"source": 1000, "package": package, "unpackedPackage": unpacked});
    Reply::new(200, caller(json!({ "limits": limits })).to_string())
}

#[tokio::test]
async fn what_is_too_large_is_not_packed() {
    // A file without content that claims 20 MiB.
    let rows = [
        (
            limited(1 << 30, 1 << 20),
            "dist has 20.00 MiB, and the server takes at most 1.00 MiB",
        ),
        (
            limited(1000, 1 << 30),
            "the package is larger than 1000 B, the most that the server takes",
        ),
    ];
    for (answer, problem) in rows {
        let server = FakeServer::start([answer]).await;
        let stage = Stage::with(&server);
        stage.file("dist/index.html", "<p>hello</p>");
        let file = std::fs::File::create(stage.project().join("dist/video.mp4")).expect("space");
        file.set_len(20 << 20).expect("space");
        let shown = stage.run(&MINIMUM).await;
        assert!(shown.contains(&format!("error: {problem}")), "{shown}");
        assert!(shown.ends_with("--- exit 1\n"), "{shown}");
        assert_eq!(server.lines(), ["GET /api/auth/session"]);
        assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
    }
}

#[tokio::test]
async fn a_zip_that_is_too_large_is_not_read() {
    let server = FakeServer::start([limited(1 << 20, 1 << 30)]).await;
    let stage = Stage::with(&server);
    let file = std::fs::File::create(stage.project().join("ready.zip")).expect("space");
    file.set_len(20 << 20).expect("space");
    let mut arguments = MINIMUM.to_vec();
    arguments.splice(2..4, ["--file", "ready.zip"]);
    let shown = stage.run(&arguments).await;
    assert!(
        shown.contains("error: ready.zip has 20.00 MiB, and the server takes at most 1.00 MiB\nhint: "),
        "{shown}"
    );
    assert_eq!(server.lines(), ["GET /api/auth/session"]);
}
