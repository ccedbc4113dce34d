//! A real process on a real directory is killed at any moment: the next start runs complete content, and the trusted
//! metadata never falls back.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use launchway_device::boot::{Content, Ending};
use launchway_device::folder::Folder;
use launchway_device::ports::{Clock, Network, Request, Response};
use launchway_device::settings::{EmbeddedTrust, Settings};
use launchway_device::{Device, Ports};
use launchway_trust::TrustFile;
use serde_json::Value;

use crate::metadata::Developers;
use crate::phone::{NoRandom, Server, StoppedClock, Update, files, launch, no_forks, settings};

/// Names the server's port in the directory in which a child process runs.
const PORT_FILE: &str = "port";
const TRUST_FILE: &str = "launchway.trust.json";

/// The transport to a server on this machine, with a new connection for each request.
struct Tcp(u16);

impl Network for Tcp {
    fn send(&self, request: &Request) -> io::Result<Response> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.0))?;
        let path = request
            .url
            .split_once("://")
            .and_then(|(_, rest)| rest.split_once('/'))
            .map_or("", |(_, path)| path);
        let body = request.body.as_deref().unwrap_or_default();
        let method = if request.body.is_some() { "POST" } else { "GET" };
        let mut head = format!("{method} /{path} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        request
            .headers
            .iter()
            .for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
        let mut reader = BufReader::new(stream);
        let lines = head_of(&mut reader)?;
        let status = lines.first().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        Ok(Response {
            status: status.ok_or(io::ErrorKind::InvalidData)?,
            headers: lines[1..]
                .iter()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: Box::new(reader),
        })
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

/// The lines up to the empty one.
fn head_of(reader: &mut impl BufRead) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => return Ok(lines),
            text => lines.push(text.to_owned()),
        }
    }
}

/// Answers one request like the in-memory server.
fn answer(stream: TcpStream, server: &Server) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let lines = head_of(&mut reader)?;
    let value = |wanted: &str| {
        let fields = lines[1..].iter().filter_map(|line| line.split_once(": "));
        fields
            .clone()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value.to_owned())
    };
    let length = value("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let names = ["range", "if-range"];
    let request = Request {
        url: lines[0].split(' ').nth(1).unwrap_or_default().to_owned(),
        headers: names
            .into_iter()
            .filter_map(|name| Some((name, value(name)?)))
            .collect(),
        body: lines[0]
            .starts_with("POST")
            .then(|| String::from_utf8_lossy(&body).into_owned()),
    };
    let mut response = server.send(&request)?;
    let mut stream = reader.into_inner();
    let mut head = format!("HTTP/1.1 {} x\r\n", response.status);
    response
        .headers
        .iter()
        .for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    io::copy(&mut response.body, &mut stream)?;
    Ok(())
}

/// Serves the update whose number `offered` holds, signed, until the test process ends.
fn serve(offered: Arc<AtomicU32>, mut developers: Developers) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (server, mut signed) = (Server::default(), 0);
        for stream in listener.incoming().flatten() {
            let number = offered.load(Ordering::SeqCst);
            if number != signed {
                developers.sign_only(&Update::number(number));
                developers.upload(&server);
                server.offer(Update::number(number));
                signed = number;
            }
            // A killed client reads no response.
            let _ = answer(stream, &server);
        }
    });
    port
}

/// The app that carries the root in the directory.
fn app(folder: &Path) -> Settings {
    let file = TrustFile::parse(&fs::read(folder.join(TRUST_FILE)).unwrap()).unwrap();
    Settings {
        trust: Some(EmbeddedTrust {
            file,
            built_at: StoppedClock.now(),
        }),
        ..settings()
    }
}

/// The version of the role that the phone has seen.
fn floor(folder: &Path) -> u64 {
    let Ok(state) = fs::read_to_string(folder.join("client/state.json")) else {
        return 0;
    };
    let state: Value = serde_json::from_str(&state).unwrap();
    let Some(stored) = state["trust"]["stored"].as_str() else {
        return 0;
    };
    let stored: Value = serde_json::from_str(stored).unwrap();
    stored["floors"]["c-production"]["version"].as_u64().unwrap_or(0)
}

fn with_device<T>(folder: &Path, port: u16, run: impl FnOnce(&Device<'_>) -> T) -> T {
    let storage = Folder::open(&folder.join("client")).unwrap();
    let network = Tcp(port);
    let settings = app(folder);
    let ports = Ports {
        storage: &storage,
        network: &network,
        clock: &StoppedClock,
        random: &NoRandom,
    };
    run(&Device::open(ports, &settings).unwrap())
}

/// The life of a child process: a start, a round with the server, and the next start.
#[test]
#[ignore = "runs as a child process of the other tests here"]
fn child() {
    // Run alone in the long tier, it has nothing to do.
    let Ok(port) = fs::read_to_string(PORT_FILE) else {
        return;
    };
    let port = port.parse().unwrap();
    with_device(Path::new("."), port, |device| {
        let _ = device.start(&launch(Ending::Explained));
        let _ = device.confirm();
        let _ = device.sync(&mut |_| ());
        let _ = device.start(&launch(Ending::Explained));
        let _ = device.confirm();
    });
}

fn spawn(folder: &Path) -> Child {
    let _alone = no_forks();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::child", "--ignored", "--test-threads=1"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The number of the update that runs after a start; the embedded app is 0. Panics unless all of its files exist.
fn running(folder: &Path, port: u16, offered: u32) -> u32 {
    let started = with_device(folder, port, |device| device.start(&launch(Ending::Explained)));
    let Content::Slot(id) = started.content else {
        assert_eq!(started.problem, None);
        return 0;
    };
    let number = (1..=offered)
        .find(|number| Update::number(*number).sha256() == id)
        .expect("an update that was offered");
    let app = folder.join("client").join(started.folder.unwrap());
    for (path, bytes) in files(number) {
        assert_eq!(fs::read(app.join(&path)).unwrap(), bytes, "{path} of update {number}");
    }
    number
}

fn kill_again_and_again(times: u32) {
    let folder = tempfile::tempdir().unwrap();
    let offered = Arc::new(AtomicU32::new(1));
    let developers = Developers::with_updates(&[]);
    let trust = developers.repository.trust_file().to_json();
    fs::write(folder.path().join(TRUST_FILE), trust).unwrap();
    let port = serve(offered.clone(), developers);
    fs::write(folder.path().join(PORT_FILE), port.to_string()).unwrap();
    let (mut newest, mut switches, mut life, mut seen) = (0, 0, Duration::ZERO, 0);
    for time in 0..times {
        if time % 50 == 0 {
            // The duration of a life depends on the machine and its load.
            let began = Instant::now();
            assert!(spawn(folder.path()).wait().unwrap().success());
            life = began.elapsed();
        }
        let mut child = spawn(folder.path());
        // Anywhere between the start of the process and its end, in steps that match no other period.
        thread::sleep(life * (time * 619 % 1_000) / 1_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let number = running(folder.path(), port, offered.load(Ordering::SeqCst));
        assert!(number >= newest, "kill {time}: {number} after {newest}");
        let version = floor(folder.path());
        assert!(version >= seen, "kill {time}: role version {version} after {seen}");
        seen = version;
        if number > newest {
            (newest, switches) = (number, switches + 1);
        }
        if number == offered.load(Ordering::SeqCst) {
            offered.fetch_add(1, Ordering::SeqCst);
        }
    }
    // Whatever the kills left, a process that survives gets the newest update.
    for _ in 0..2 {
        assert!(spawn(folder.path()).wait().unwrap().success());
    }
    assert_eq!(
        running(folder.path(), port, offered.load(Ordering::SeqCst)),
        offered.load(Ordering::SeqCst)
    );
    // Each undisturbed life installs one; the others succeeded despite the kills.
    assert!(
        switches > times / 50 + 1 || times < 100,
        "{switches} updates in {times} kills"
    );
}

#[test]
fn a_few_kills_leave_something_whole() {
    kill_again_and_again(12);
}

#[test]
#[ignore = "long tier: starts a thousand processes"]
fn a_thousand_kills_leave_something_whole() {
    kill_again_and_again(1_000);
}
