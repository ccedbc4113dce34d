//! The largest package passes through the server in constant memory (`docs/reference/uploads.md#size-limits`).

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use launchway_testing::says::Fields;
use reqwest::Method;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::api::Api;
use crate::cli::Cli;
use crate::deployment::{Deployment, Ground};
use crate::dice::Dice;

const MIB: u64 = 1 << 20;
/// The maximum peak memory of the server.
const MOST: u64 = 200 * MIB;
/// The largest package that a server accepts by default.
const PACKAGE: u64 = 512 * MIB;
const BUNDLE: &str = "com.example.large";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn the_largest_package_on_sqlite_and_directory() {
    passes(Ground::SqliteDirectory).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn the_largest_package_on_postgres_and_s3() {
    passes(Ground::PostgresS3).await;
}

async fn passes(ground: Ground) {
    let deployment = Deployment::start(ground).await;
    let cli = Cli::logged_in(&deployment.node().origin(), &deployment.team().key);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.zip");
    write_package(&file);
    assert_eq!(fs::metadata(&file).unwrap().len(), PACKAGE);

    let arguments = [
        "update",
        "ios",
        "--json",
        "--bundle-id",
        BUNDLE,
        "--version",
        "1.0.0",
        "--all-configurations",
    ];
    let update = cli
        .run(arguments.into_iter().chain(["--file", file.to_str().unwrap()]))
        .json();
    let published = peak(deployment.node().id().unwrap());
    assert_eq!(update["size"], PACKAGE);

    let phone = Api::new(deployment.node(), "");
    let offer = phone.check(BUNDLE, "currentVersion=0.0.1").await;
    let mut body = phone.request(Method::GET, offer.text("url")).send().await.unwrap();
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(bytes) = body.chunk().await.unwrap() {
        hash.update(&bytes);
        size += bytes.len() as u64;
    }
    assert_eq!(
        (size, hex::encode(hash.finalize())),
        (PACKAGE, update.text("sha256").to_owned())
    );

    let most = peak(deployment.node().id().unwrap());
    println!(
        "summary: {} MiB on {ground}: the server had at most {} MiB after publishing, {} MiB after the download",
        PACKAGE / MIB,
        published / MIB,
        most / MIB
    );
    assert!(most < MOST, "the server had {} MiB", most / MIB);
}

/// A package of exactly the maximum size, in several incompressible files.
fn write_package(path: &Path) {
    let mut dice = Dice::roll();
    let mut zip = ZipWriter::new(BufWriter::new(File::create(path).unwrap()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for number in 0..15 {
        zip.start_file(format!("part-{number}"), options).unwrap();
        for _ in 0..32 {
            zip.write_all(&dice.bytes(MIB as usize)).unwrap();
        }
    }
    // The archive's metadata has the same size for each file with a name of this length.
    let so_far = 15 * 32 * MIB;
    let records = (0..16)
        .map(|number| 2 * format!("part-{number}").len() as u64 + 30 + 46)
        .sum::<u64>()
        + 22;
    zip.start_file("part-15", options).unwrap();
    let mut rest = usize::try_from(PACKAGE - so_far - records).unwrap();
    while rest > 0 {
        let bytes = dice.bytes(rest.min(MIB as usize));
        zip.write_all(&bytes).unwrap();
        rest -= bytes.len();
    }
    zip.finish().unwrap().flush().unwrap();
}

/// The peak memory of a process, in bytes.
pub fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
