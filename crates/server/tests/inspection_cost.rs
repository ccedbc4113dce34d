//! The cost of inspection in a separate process: time and memory of a large app and a large package, compared with the
//! same process.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use launchway_inspection::ENVIRONMENT;
use launchway_package::{Limits, inspect};
use launchway_testing::wait::until_blocking;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const MEBIBYTE: usize = 1 << 20;

/// An app with this many additional incompressible mebibytes in its executable and beside it.
fn large_app(mebibytes: usize) -> File {
    let fixture = include_bytes!("../../binaries/tests/fixtures/purpose.ipa");
    let mut archive = ZipArchive::new(std::io::Cursor::new(fixture)).expect("an archive");
    let mut writer = ZipWriter::new(tempfile::tempfile().expect("a file"));
    let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).expect("a file in it");
        let name = file.name().expect("a name").into_owned();
        writer.start_file(name.as_str(), packed).expect("a new file");
        std::io::copy(&mut file, &mut writer).expect("its bytes");
        drop(file);
    }
    writer.start_file("Payload/Large.bin", packed).expect("a new file");
    noise(&mut writer, mebibytes);
    writer.finish().expect("an archive")
}

fn large_package(mebibytes: usize) -> File {
    let mut writer = ZipWriter::new(tempfile::tempfile().expect("a file"));
    for part in 0..mebibytes / 10 {
        let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(format!("assets/{part}.bin"), packed).expect("a new file");
        noise(&mut writer, 10);
    }
    writer.finish().expect("an archive")
}

fn noise(to: &mut impl Write, mebibytes: usize) {
    let mut state = 1_u64;
    let mut piece = vec![0_u8; MEBIBYTE];
    for _ in 0..mebibytes {
        for bytes in piece.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.copy_from_slice(&(state ^ state >> 29).to_le_bytes());
        }
        to.write_all(&piece).expect("room");
    }
}

/// The peak memory of a process, in MiB.
fn peak(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
}

/// Longer than any inspection takes.
const LIMIT: Duration = Duration::from_secs(600);

/// Time and peak memory of a process that inspects a file.
fn in_a_process(task: &str, file: &File) -> (Duration, u64) {
    let mut file = file.try_clone().expect("a handle");
    file.rewind().expect("the start");
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_launchway-server"));
    command.args(["__inspect", task]).env_clear().envs(ENVIRONMENT).stdin(file).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let (id, mut most) = (child.id().to_string(), 0);
    let ended = until_blocking(Duration::from_millis(1), LIMIT, || {
        most = most.max(peak(&id));
        child.try_wait().expect("a state")
    });
    assert!(ended.is_some(), "{task} does not end");
    let took = began.elapsed();
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("an answer");
    assert!(said.starts_with("{\"read\""), "{said}");
    (took, most)
}

#[test]
#[ignore = "long run"]
fn what_a_process_of_its_own_costs() {
    let before = peak("self");
    let (app, package) = (large_app(200), large_package(200));
    let limits = Limits::default();
    let began = Instant::now();
    launchway_binaries::read(app.try_clone().expect("a handle")).expect("an app");
    let here = began.elapsed();
    let (there, memory) = in_a_process("\"app\"", &app);
    println!("summary: an app of 200 MiB: {here:?} in this process, {there:?} and {memory} MiB in another");
    let began = Instant::now();
    inspect(&package, &limits).expect("a package");
    let here = began.elapsed();
    let task = serde_json::json!({"package": limits}).to_string();
    let (there, memory) = in_a_process(&task, &package);
    println!("summary: a package of 200 MiB: {here:?} in this process, {there:?} and {memory} MiB in another");
    println!("summary: this process had {before} MiB before and {} MiB after", peak("self"));
    let small = include_bytes!("../../binaries/tests/fixtures/v2.apk");
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(small).expect("room");
    let mut times: Vec<_> = (0..21).map(|_| in_a_process("\"app\"", &file).0).collect();
    times.sort();
    println!("summary: a small app: {:?} in a process of its own, median of 21", times[10]);
}
