//! Measures signed updates: what checks and metadata cost the server and the network, the memory of apps with a root,
//! and what a phone computes.

use std::io::{Cursor, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use launchway_delta::FileList;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_trust::Sha256;
use launchway_trust::client::Client;
use launchway_trust::one_trip::{Progress, TrustAnswer};
use tokio::runtime::Runtime;

use crate::args::TrustArgs;
use crate::bundles::{BUILD, CONFIGURATION, PUBLISHED_AT, Platform, VERSION, bundle_id, fingerprint};
use crate::cores::Cores;
use crate::figures::{Spread, mebibytes};
use crate::load::{self, Load};
use crate::package::package;
use crate::questions::Question;
use crate::roots::{self, Roots, SNAPSHOT};
use crate::server::Server;
use crate::{bundles, programs};

/// A turn that takes longer is discarded.
const TURN_LIMIT: Duration = Duration::from_secs(120);

/// A kind of request: its name, its path below the server's address, and how the body of the response begins.
struct Kind {
    name: &'static str,
    path: fn(&str) -> String,
    expected: &'static [u8],
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "check, no update",
        path: |bundle| check(bundle, VERSION),
        expected: br#"{"updateAvailable":false,"#,
    },
    Kind {
        name: "check, an update",
        path: |bundle| check(bundle, "1.0.0"),
        expected: br#"{"updateAvailable":true,"#,
    },
    Kind {
        name: "trust, nothing is newer",
        path: |bundle| one_trip(bundle, SNAPSHOT),
        expected: br#"{"delegated":{},"#,
    },
    Kind {
        name: "trust, the role is newer",
        path: |bundle| one_trip(bundle, SNAPSHOT - 1),
        expected: br#"{"delegated":{"c-"#,
    },
    Kind {
        name: "trust, the whole set",
        path: |bundle| one_trip(bundle, 0),
        expected: br#"{"delegated":{"c-"#,
    },
    Kind {
        name: "timestamp.json",
        path: |bundle| format!("/tuf/{bundle}/timestamp.json"),
        expected: br#"{"signatures":"#,
    },
    Kind {
        name: "the role's file",
        path: |bundle| format!("/tuf/{bundle}/2.c-{CONFIGURATION}.json"),
        expected: br#"{"signatures":"#,
    },
];

fn check(bundle: &str, version: &str) -> String {
    let fingerprint = fingerprint(Platform::Android);
    format!(
        "/api/update/check/{bundle}?platform=android&configuration={CONFIGURATION}&currentVersion={version}\
         &currentBuild={BUILD}&fingerprint={fingerprint}&deviceId=2f9c6d1e-7b0a-4a63-9f51-1b2c3d4e5f60"
    )
}

fn one_trip(bundle: &str, snapshot: u64) -> String {
    format!("/tuf/{bundle}/trust?root=1&snapshot={snapshot}&configuration={CONFIGURATION}")
}

/// Measures and prints.
///
/// # Errors
/// When a server does not start or returns a wrong response.
pub fn run(args: &TrustArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let cores = Cores::find()?;
    let mut out = std::io::stdout();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (plain, signed) = (tempfile::tempdir()?, tempfile::tempdir()?);
    bundles::fill(plain.path(), args.apps, None)?;
    let roots = roots::fill(signed.path(), args.apps)?;
    let start = |data: &Path| cores.on_server_core(|| Server::start(programs::serve(&program, data)));
    let without = start(plain.path())??.memory()?;
    let server = start(signed.path())??;
    let with = server.memory()?;
    let of_app = |bytes: u64| bytes as f64 / 1024.0 / f64::from(args.apps);
    writeln!(
        out,
        "{} apps: {:.1} MiB without roots, {:.1} MiB with: {:.1} KiB for each root, of which {:.1} KiB are its files\n",
        args.apps,
        mebibytes(without),
        mebibytes(with),
        of_app(with.saturating_sub(without)),
        of_app(roots.bytes),
    )?;
    writeln!(
        out,
        "{} connections, {} rounds of {} requests; the CPU as min – median – max:",
        args.connections, args.rounds, args.requests
    )?;
    writeln!(
        out,
        "{:<26}{:>12}{:>28}{:>14}",
        "", "bytes", "CPU/request, µs", "requests/s"
    )?;
    for kind in &KINDS {
        writeln!(out, "{}", ask(&runtime, cores, &server, args, kind)?)?;
    }
    let answer = fetch(&runtime, server.address, &one_trip(&bundle_id(0), 0))?;
    drop(server);
    writeln!(out, "\nOn this machine's own core, milliseconds as min – median – max:")?;
    for line in phone(args, &roots, &answer)? {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The line of one kind of request.
fn ask(runtime: &Runtime, cores: Cores, server: &Server, args: &TrustArgs, kind: &Kind) -> anyhow::Result<String> {
    let question = |number| Question {
        request: request(server.address, &(kind.path)(&bundle_id(number))),
        expected: kind.expected,
    };
    let questions: Arc<[Question]> = (0..args.apps).map(question).collect();
    let load = |requests| Load {
        connections: args.connections as usize,
        requests,
        limit: TURN_LIMIT,
        awake: cores.are_two(),
        rate: None,
    };
    let once = runtime.block_on(load::ask(server.address, questions.clone(), load(questions.len())))?;
    let bytes = once.body_bytes / questions.len() as u64;
    let (mut cpu, mut throughput) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        let before = server.cpu()?;
        let asked = load::ask(server.address, questions.clone(), load(args.requests as usize));
        let outcome = runtime.block_on(asked).context(kind.name)?;
        let used = server.cpu()?.saturating_sub(before);
        cpu.push(used.as_secs_f64() * 1e6 / outcome.latencies.len() as f64);
        throughput.push(outcome.throughput());
    }
    let (cpu, throughput) = (Spread::of(cpu).to_string(), Spread::of(throughput).median);
    Ok(format!("{:<26}{bytes:>12}{cpu:>28}{throughput:>14.0}", kind.name))
}

fn request(address: SocketAddr, path: &str) -> Vec<u8> {
    let head = "User-Agent: ExampleApp/41 (Mobile)\r\nAccept: application/json\r\n\r\n";
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{head}").into_bytes()
}

/// The body of one response.
fn fetch(runtime: &Runtime, address: SocketAddr, path: &str) -> anyhow::Result<Vec<u8>> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut answer = Vec::new();
    runtime.block_on(async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_end(&mut answer).await
    })?;
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    Ok(answer.split_off(head.context("no head")? + 4))
}

/// The lines of what a phone computes, in Rust and on this machine.
fn phone(args: &TrustArgs, roots: &Roots, answer: &[u8]) -> anyhow::Result<[String; 3]> {
    let bundle = BundleId::parse(&bundle_id(0))?;
    let configuration = Configuration::parse(CONFIGURATION)?;
    let metadata = times(args.rounds, || {
        let mut client = Client::open(&roots.trust_file, &bundle, Some(&configuration), None)?;
        let taken = client.refresh(PUBLISHED_AT).take_answer(&TrustAnswer::parse(answer)?)?;
        anyhow::ensure!(taken == Progress::Done, "the answer lacks a file");
        Ok(())
    })?;
    let package = package(args.package_mebibytes)?;
    let hash = times(args.rounds, || {
        std::hint::black_box(Sha256::of(&package));
        Ok(())
    })?;
    let list = times(args.rounds, || {
        std::hint::black_box(FileList::of_archive(Cursor::new(&package))?.manifest());
        Ok(())
    })?;
    let size = mebibytes(package.len() as u64);
    Ok([
        format!("the whole set, from the first root     {metadata}"),
        format!("SHA-256 of a package of {size:.0} MiB        {hash}"),
        format!("its file list and manifest             {list}"),
    ])
}

/// The milliseconds that some work takes.
fn times(rounds: u32, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Spread> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        work()?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Spread::of(times))
}
