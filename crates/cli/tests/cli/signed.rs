//! Signed publishing against a server that lies: what it is sent, and what is never signed.

use std::io::{Cursor, Write};

use launchway_domain::build_number::BuildNumber;
use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_domain::version::Version;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Header, Metadata, Targets};
use launchway_trust::{RepositoryId, Sha256, Update, UpdateRole};
use serde_json::{Value, json};

use crate::publish::MINIMUM;
use crate::stage::{Stage, update};
use crate::terminal::Screen;
use crate::trust::set_up;
use crate::trust_server::{APP, TrustServer, now};

const ID: &str = "update_01kb0000000000000000000002";

/// Lets the server take an upload, then answer a publication.
fn answer_publication(server: &TrustServer, status: u16, answer: Value) {
    let upload = json!({"id": "upload_01kb0000000000000000000001", "status": "pending", "method": "PUT",
        "url": format!("{}/objects/1", server.url()), "headers": {}, "expiresAt": "2026-11-20T10:00:00.000Z"});
    server.content().replies.extend([
        ("POST /api/uploads", 201, upload),
        ("PUT /objects/1", 200, json!("")),
        ("POST /api/update", status, answer),
    ]);
}

fn project(stage: &Stage) {
    stage.file("dist/index.html", "<p>hello</p>");
}

/// The package of the update that is signed.
fn package() -> Vec<u8> {
    packed("<p>hello</p>")
}

/// A package with one file.
fn packed(page: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("index.html", options).expect("memory");
    zip.write_all(page.as_bytes()).expect("memory");
    zip.finish().expect("memory").into_inner()
}

/// The draft that an honest server makes of the update of this package.
fn draft(server: &TrustServer) -> (Header, Targets) {
    let content = server.content();
    let version = content.versions["c-production"];
    let text = content.files[&format!("{version}.c-production.json")].as_bytes();
    let present: Metadata<Targets> = Metadata::parse(text).expect("a role");
    let package = package();
    let files = launchway_delta::FileList::of_archive(Cursor::new(&package)).expect("a package");
    let signed = Update::new(
        Version::parse("1.0.1").expect("a version"),
        BuildNumber::parse("2").expect("a number"),
        None,
        Sha256::from_bytes(files.manifest().0),
    );
    let role: UpdateRole = "c-production".parse().expect("a role");
    let mut body = present.body().clone();
    let length = package.len() as u64;
    body.publish(&role, Platform::Android, &signed, Sha256::of(&package), length);
    let header = Header {
        version: version + 1,
        ..present.header().clone()
    };
    (header, body)
}

/// Lets the server answer `update sign` with this draft.
fn answer_signing(server: &TrustServer, (header, body): &(Header, Targets)) {
    let package = package();
    let waiting = json!({"status": "awaiting_signature", "trustRole": "c-production",
        "sha256": Sha256::of(&package).to_string(), "size": package.len()});
    let draft = json!({"bundleId": APP, "role": "c-production", "version": header.version, "threshold": 1, "keys": [],
        "updateIds": [ID], "metadata": Draft::new(header, body).to_text().expect("a short file"),
        "createdAt": "2026-11-20T10:00:00.000Z", "createdBy": "key_1"});
    server.content().replies.extend([
        ("GET /api/update", 200, update(waiting)),
        ("POST /api/trust/drafts", 201, draft),
    ]);
}

#[tokio::test]
async fn the_server_cannot_name_another_package() {
    let (server, stage) = set_up().await;
    project(&stage);
    answer_publication(
        &server,
        201,
        update(json!({"status": "awaiting_signature", "sha256": "0".repeat(64)})),
    );
    let said = stage.run(&MINIMUM).await;
    let expected = format!("error: the server says that {ID} has another package: SHA-256 000000");
    assert!(said.contains(&expected) && said.ends_with("--- exit 1\n"), "{said}");
    assert!(
        !said.contains("launchway update sign"),
        "no command with the hash of the server: {said}"
    );
}

#[tokio::test]
async fn an_update_with_a_number_is_sent_with_its_role() {
    let (server, stage) = set_up().await;
    project(&stage);
    let published = update(json!({"trustRole": "c-production"}));
    answer_publication(&server, 201, published);
    let before = server.count("POST /api/update");
    let said = stage.run(&[&MINIMUM[..], &["--build-number", "7"]].concat()).await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(server.count("POST /api/update"), before + 1);
    let sent: Value = serde_json::from_slice(&server.content().last_body).expect("JSON");
    assert_eq!(
        (&sent["buildNumber"], &sent["signed"]["role"]),
        (&json!("7"), &json!("c-production"))
    );
    let text = sent["signed"]["metadata"].as_str().expect("text");
    let file: Metadata<Targets> = Metadata::parse(text.as_bytes()).expect("a role");
    let paths: Vec<&str> = file.body().targets.keys().map(String::as_str).collect();
    assert_eq!((file.version(), paths), (2, vec!["c-production/android/1.0.1_7.zip"]));
}

#[tokio::test]
async fn publishing_renews_what_expires_soon_where_its_key_is() {
    let (server, stage) = set_up().await;
    project(&stage);
    let shorten = ["trust", "sign", "targets", "--expires-in-days", "60", "--yes", "--json"];
    stage.json(&shorten).await;
    answer_publication(&server, 201, update(json!({"trustRole": "c-production"})));
    let said = stage.run(&[&MINIMUM[..], &["--build-number", "7"]].concat()).await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let content = server.content().clone();
    let renewed: Metadata<Targets> = Metadata::parse(content.files["3.targets.json"].as_bytes()).expect("targets");
    assert!(renewed.header().expires > now() + 300 * DAY);
    assert_eq!(content.versions["root"], 1, "the root has a year left");
}

#[tokio::test]
async fn a_refusal_for_another_reason_is_not_tried_again() {
    let (server, stage) = set_up().await;
    project(&stage);
    let refusal = json!({"error": "Bad Request", "message": "rollout must be less"});
    answer_publication(&server, 400, refusal);
    let said = stage.run(&[&MINIMUM[..], &["--build-number", "7"]].concat()).await;
    assert!(
        said.contains("rollout must be less") && said.ends_with("--- exit 1\n"),
        "{said}"
    );
    assert_eq!(server.count("POST /api/update"), 1);
}

#[tokio::test]
async fn an_honest_draft_is_signed() {
    let (server, stage) = set_up().await;
    stage.file("update.zip", package());
    answer_signing(&server, &draft(&server));
    let trust = json!({"bundleId": APP, "repository": null, "snapshot": null, "onlineKey": null, "pendingOnlineKey": null,
        "roles": [], "drafts": [], "otherFormatsAllowed": false});
    let published = json!({"trustRole": "c-production", "sha256": Sha256::of(&package()).to_string()});
    let change = json!({"trust": trust, "accepted": ["c-production"], "drafts": [], "publishedUpdateIds": [ID]});
    server.content().replies.extend([
        ("POST /api/trust/signatures", 201, change),
        ("GET /api/update", 200, update(published)),
    ]);
    let said = stage.run(&["update", "sign", ID, "--package", "update.zip"]).await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert!(said.contains("c-production/android/1.0.1_2.zip\n"), "{said}");
    let sent: Value = serde_json::from_slice(&server.content().last_body).expect("JSON");
    assert_eq!(
        (&sent["version"], sent["signatures"].as_array().map(Vec::len)),
        (&json!(2), Some(1))
    );
}

#[tokio::test]
async fn a_draft_of_a_liar_is_not_signed() {
    let (server, stage) = set_up().await;
    stage.file("update.zip", package());
    let honest = draft(&server);
    let evil = |change: &dyn Fn(&mut Header, &mut Targets)| {
        let (mut header, mut body) = honest.clone();
        change(&mut header, &mut body);
        (header, body)
    };
    let path = "c-production/android/1.0.1_2.zip";
    let hash = Sha256::of(b"evil").to_string();
    let rows = [
        evil(&|_, body| {
            let copy = body.targets[path].clone();
            body.targets.insert("c-production/android/9.9.9_9.zip".to_owned(), copy);
        }),
        evil(&|_, body| {
            let target = body.targets.get_mut(path).expect("the update");
            target.hashes.insert("sha256".to_owned(), hash.clone());
        }),
        evil(&|_, body| body.targets.clear()),
        evil(&|header, _| {
            header.identity.as_mut().expect("an identity").repository = RepositoryId::from_bytes([1; 16])
        }),
        evil(&|header, _| header.expires = 0),
    ];
    for files in rows {
        answer_signing(&server, &files);
        let said = stage.run(&["update", "sign", ID, "--package", "update.zip"]).await;
        assert!(
            said.contains("the draft of c-production") && said.ends_with("--- exit 1\n"),
            "{said}"
        );
        server.content().replies.clear();
    }
    assert_eq!(server.count("POST /api/trust/signatures"), 0);
}

/// Publishes version 1.0.1 (1), whose page has another text.
async fn publish_before(server: &TrustServer, stage: &Stage) -> Value {
    let old = packed("<p>before</p>");
    stage.file("old.zip", &old);
    let sha256 = Sha256::of(&old).to_string();
    let before = update(json!({"id": "update_before", "buildNumber": "1", "sha256": sha256, "size": old.len()}));
    answer_publication(server, 201, before.clone());
    let publish = [
        "update",
        "android",
        "--file",
        "old.zip",
        "--bundle-id",
        APP,
        "--version",
        "1.0.1",
    ];
    let said = stage
        .run(&[&publish[..], &["--configuration", "production", "--build-number", "1"]].concat())
        .await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let sent: Value = serde_json::from_slice(&server.content().last_body).expect("JSON");
    server.accept("c-production", &sent["signed"]["metadata"]);
    server.content().packages = [("update_before".to_owned(), old), (ID.to_owned(), package())].into();
    before
}

#[tokio::test]
async fn who_signs_at_a_terminal_sees_which_files_differ() {
    let (server, stage) = set_up().await;
    let before = publish_before(&server, &stage).await;
    let signed = json!({"trustRole": "c-production", "sha256": Sha256::of(&package()).to_string()});
    let trust = json!({"bundleId": APP, "repository": null, "snapshot": null, "onlineKey": null, "pendingOnlineKey": null,
        "roles": [], "drafts": [], "otherFormatsAllowed": false});
    let change = json!({"trust": trust, "accepted": ["c-production"], "drafts": [], "publishedUpdateIds": [ID]});
    for (answer, code) in [("n\n", 1), ("y\n", 0)] {
        answer_signing(&server, &draft(&server));
        let page = json!({"items": [before], "total": 1, "limit": 100, "offset": 0});
        server.content().replies.extend([
            ("GET /api/update", 200, page),
            ("POST /api/trust/signatures", 201, change.clone()),
            ("GET /api/update", 200, update(signed.clone())),
        ]);
        let mut screen = Screen::of(&stage, &["update", "sign", ID], 200);
        let shown = screen.until("Sign c-production/android/1.0.1_2.zip? [y/N]: ").await;
        let differing = "Files that differ from c-production/android/1.0.1_1.zip: 1";
        assert!(
            shown.contains(differing) && shown.contains("~ index.html (13 → 12 bytes)"),
            "{shown}"
        );
        assert!(shown.contains(&Sha256::of(&package()).to_string()), "{shown}");
        screen.types(answer);
        let (rest, ended) = screen.rest().await;
        assert_eq!(ended, Some(code), "{rest}");
        assert_eq!(
            server.count("POST /api/trust/signatures"),
            usize::from(code == 0),
            "{rest}"
        );
        server.content().replies.clear();
    }
}

#[tokio::test]
async fn what_the_server_changed_is_neither_promoted_nor_revoked() {
    let (server, stage) = set_up().await;
    publish_before(&server, &stage).await;
    let changed = json!({"id": "update_before", "buildNumber": "1", "sha256": "0".repeat(64)});
    let rows: [(&[&str], &str); 3] = [
        (
            &["promote", "update_before", "--configuration", "staging"],
            "the server says something else about",
        ),
        (
            &["rollback", ID, "--to", "update_before", "--yes"],
            "the server says something else about",
        ),
        (&["revoke", "update_before", "--yes"], "but c-production signed"),
    ];
    for (command, expected) in rows {
        let sent = server.count("POST /api/update");
        if command[0] == "rollback" {
            let page = json!({"items": [], "total": 0, "limit": 100, "offset": 0});
            let bad = update(json!({"buildNumber": "2"}));
            server
                .content()
                .replies
                .extend([("GET /api/update", 200, bad), ("GET /api/update", 200, page)]);
        }
        let source = ("GET /api/update", 200, update(changed.clone()));
        server.content().replies.push(source);
        let said = stage.run(&[&["update"][..], command].concat()).await;
        assert!(said.contains(expected) && said.ends_with("--- exit 1\n"), "{said}");
        assert_eq!(server.count("POST /api/update"), sent, "{said}");
        server.content().replies.clear();
    }
    let file = std::fs::read_to_string(stage.project().join("launchway.trust.json")).expect("it is there");
    assert!(!file.contains(&"0".repeat(64)), "{file}");
}
