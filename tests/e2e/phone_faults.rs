//! Phones as real processes in trouble: full disks, servers that stop in the middle, hostile packages and answers, and
//! clocks that are a year off. Whatever happens, a whole app starts, and the next good update arrives.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use launchway_testing::says::{Fields, Says};
use serde_json::{Value, json};

use crate::deployment::{Deployment, Ground};
use crate::packages::{Files, packed, sha256};
use crate::phone::{BUNDLE, Client, Phone, files};
use crate::projects::root;
use crate::signed::SignedApp;

/// A server of one's own making: the offer and the package are whatever a test says.
struct Impostor {
    address: SocketAddr,
    /// The body of the response to a check.
    answer: Arc<Mutex<Vec<u8>>>,
    package: Arc<Mutex<Vec<u8>>>,
    /// After how many bytes of a package the next connection breaks.
    cut: Arc<AtomicUsize>,
}

impl Impostor {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            answer: Arc::default(),
            package: Arc::default(),
            cut: Arc::new(AtomicUsize::new(usize::MAX)),
        };
        let (answer, package, cut) = (server.answer.clone(), server.package.clone(), server.cut.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, package) = (answer.lock().unwrap().clone(), package.lock().unwrap().clone());
                // A phone that is gone reads no answer.
                let _ = respond(stream, &answer, &package, &cut);
            }
        });
        server
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Offers this package as an update.
    fn offer(&self, build: usize, package: &[u8]) -> String {
        let id = format!("update_{build}");
        let offer = json!({
            "updateAvailable": true, "requiresStoreUpdate": false, "id": id, "platform": "android",
            "version": "1.0.1", "buildNumber": build.to_string(), "releaseNotes": "", "compatibilityReason": null,
            "url": format!("{}/package", self.origin()), "sha256": sha256(package), "size": package.len(),
        });
        *self.answer.lock().unwrap() = offer.to_string().into_bytes();
        *self.package.lock().unwrap() = package.to_vec();
        id
    }
}

/// Responds to one request: with the package or a part of it, or with the answer.
fn respond(mut stream: TcpStream, answer: &[u8], package: &[u8], cut: &AtomicUsize) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && request.len() < 16_384 && stream.read(&mut byte)? == 1 {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).to_lowercase();
    if !request.starts_with("get /package") {
        let head = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes())?;
        return stream.write_all(answer);
    }
    let from = request
        .lines()
        .find_map(|line| line.strip_prefix("range: bytes="))
        .and_then(|range| range.split('-').next()?.parse::<usize>().ok())
        .filter(|from| *from < package.len());
    let (status, start) = from.map_or(("200 OK", 0), |from| ("206 Partial Content", from));
    let end = package.len();
    let mut head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\netag: \"a\"\r\ncontent-length: {}\r\n",
        end - start
    );
    if from.is_some() {
        head += &format!("content-range: bytes {start}-{}/{end}\r\n", end - 1);
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let cut = cut.swap(usize::MAX, Ordering::Relaxed);
    stream.write_all(&package[start..end.min(start.saturating_add(cut))])
}

/// The app of the update with this build number: files that compress, and one that does not.
fn app(build: usize) -> Files {
    let mut app = files(&format!("1.0.{build}"));
    let mut state = build as u32 | 1;
    let noise = (0..40_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    app.insert("media/noise.bin".to_owned(), noise.collect());
    app
}

#[test]
#[ignore = "long run"]
fn a_download_that_breaks_at_any_byte_continues() {
    for client in [Client::Rust, Client::Java] {
        let server = Impostor::start();
        let phone = Phone::new(client, &server.origin(), None);
        let cuts = [
            0, 1, 2, 7, 100, 511, 512, 4_095, 4_096, 4_097, 8_191, 16_384, 20_000, 32_768, 39_999,
        ];
        for (build, cut) in cuts.into_iter().enumerate() {
            let build = build + 2;
            let id = server.offer(build, &packed(&app(build)));
            server.cut.store(cut, Ordering::Relaxed);
            phone.takes(&json!({ "id": id }), &app(build));
            assert_eq!(
                server.cut.load(Ordering::Relaxed),
                usize::MAX,
                "{client:?}: it broke at {cut}"
            );
        }
        println!(
            "summary: {client:?}: {} downloads broke at as many bytes and continued",
            cuts.len()
        );
    }
}

#[test]
#[ignore = "long run"]
fn hostile_packages_and_answers_install_nothing() {
    let read = |path: &str| -> Value {
        serde_json::from_slice(&std::fs::read(root().join("sdk/vectors").join(path)).unwrap()).unwrap()
    };
    let (zips, texts) = (read("hostile-zips/zips.json"), read("json.json"));
    for client in [Client::Rust, Client::Java] {
        let server = Impostor::start();
        let phone = Phone::new(client, &server.origin(), None);
        let first = app(2);
        let id = server.offer(2, &packed(&first));
        phone.takes(&json!({ "id": id }), &first);
        let (mut build, mut refused) = (2, 0);
        for zip in zips["refused"].as_array().unwrap() {
            build += 1;
            server.offer(build, &hex::decode(zip.text("zip")).unwrap());
            refuses(&phone, &id, &first, zip.text("name"));
            refused += 1;
        }
        for text in texts["refused"].as_array().unwrap() {
            let bytes = match text["text"].as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => hex::decode(text.text("hex")).unwrap(),
            };
            *server.answer.lock().unwrap() = bytes;
            refuses(&phone, &id, &first, &text.to_string());
            refused += 1;
        }
        let next = app(999);
        let id = server.offer(999, &packed(&next));
        phone.takes(&json!({ "id": id }), &next);
        println!("summary: {client:?}: {refused} hostile packages and answers were refused");
    }
}

/// A round fails, and what ran before still runs.
fn refuses(phone: &Phone, id: &str, runs: &Files, about: &str) {
    let round = phone.run(&["install"]);
    assert!(round.code == 1 || round.code == 6, "{about}: {round:?}");
    phone.runs(&phone.after("start"), &json!({ "id": id }), runs);
}

#[test]
#[ignore = "long run"]
fn a_full_disk_leaves_a_phone_whole() {
    for client in [Client::Rust, Client::Java] {
        let server = Impostor::start();
        let phone = Phone::new(client, &server.origin(), None);
        let first = app(2);
        let id = server.offer(2, &packed(&first));
        phone.takes(&json!({ "id": id }), &first);
        let next = app(3);
        let id_of_next = server.offer(3, &packed(&next));
        let mut installed_at = None;
        // No file becomes longer than so many blocks of 512 bytes.
        for blocks in [0, 1, 2, 3, 4, 8, 16, 40, 76, 77, 78, 79, 80, 81, 100] {
            let round = phone.run_limited(blocks, &["install"]);
            let view = phone.after("start");
            if view["runs"] == *id {
                phone.runs(&view, &json!({ "id": id }), &first);
                assert!(
                    installed_at.is_none(),
                    "{client:?}: {blocks} blocks: the update is lost: {round:?}"
                );
            } else {
                phone.runs(&view, &json!({ "id": id_of_next }), &next);
                installed_at.get_or_insert(blocks);
                phone.after("confirm");
            }
        }
        let blocks = installed_at.expect("a hundred blocks are enough");
        println!(
            "summary: {client:?}: an update was installed with {blocks} blocks a file, and nothing was lost with less"
        );
    }
}

#[test]
#[ignore = "long run"]
fn a_process_that_dies_at_any_change_leaves_a_phone_whole() {
    let server = Impostor::start();
    let before = Phone::new(Client::Java, &server.origin(), None);
    let first = app(2);
    let id_of_first = json!({ "id": server.offer(2, &packed(&first)) });
    before.takes(&id_of_first, &first);
    let next = app(3);
    let id_of_next = json!({ "id": server.offer(3, &packed(&next)) });
    let mut change = 0;
    loop {
        change += 1;
        let phone = before.twin();
        let killed = phone.run_until_change(change, &["install"]);
        if killed.code == 0 {
            break;
        }
        assert_eq!(killed.code, 137, "change {change}: {killed:?}");
        let view = phone.after("start");
        let view = if view["runs"] == id_of_first["id"] {
            phone.runs(&view, &id_of_first, &first);
            phone.after("install")
        } else {
            view
        };
        phone.runs(&view, &id_of_next, &next);
    }
    assert!(change > 30, "an update takes many changes");
    println!(
        "summary: Java: {} processes died, one at each change of an installation",
        change - 1
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_clock_a_year_off_stops_no_app() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (api, origin) = (deployment.api(), deployment.node().origin());
    let mut signed = SignedApp::begin(&api, BUNDLE).await;
    let trust = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(trust.path(), signed.developers.trust_file().to_json()).unwrap();
    let mut build = 1;
    for client in [Client::Rust, Client::Java] {
        let phone = Phone::new(client, &origin, Some(trust.path()));
        build += 1;
        let first = signed
            .publish(&api, &format!("1.0.{build}"), build, &packed(&app(build as usize)))
            .await;
        phone.takes(&first, &app(build as usize));
        build += 1;
        let second = signed
            .publish(&api, &format!("1.0.{build}"), build, &packed(&app(build as usize)))
            .await;
        // By its clock everything that is signed has expired: it takes nothing, and runs what it has.
        let ahead = phone.run_at("+730d", &["install"]);
        assert_eq!(ahead.code, 1, "{ahead:?}");
        ahead.stderr.says("expired");
        phone.runs(
            &phone.run_at("+730d", &["start"]).json(),
            &first,
            &app(build as usize - 1),
        );
        // A clock that runs behind is not believed.
        let behind = phone.run_at("-730d", &["install"]).json();
        phone.runs(&behind, &second, &app(build as usize));
        phone.after("confirm");
    }
}
