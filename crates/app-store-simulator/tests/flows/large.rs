//! A large binary over HTTP: in pieces, and with constant memory.

use std::fs;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use launchway_app_store_simulator::Settings;
use launchway_app_stores::Release;
use launchway_app_stores::app_store::AppStoreConnect;
use launchway_app_stores::google_play::GooglePlay;
use launchway_app_stores::transport::{PIECE, Source};
use launchway_domain::platform::Platform;
use launchway_domain::submission::SubmissionStatus::Success;
use sha2::{Digest, Sha256};

use crate::driver::to_end;
use crate::over_http::{stand, stand_with};
use crate::stand::{APP, release, settings};

const SIZE: u64 = 200_000_000;
/// For client and simulator together, including data in transit: four parts of 5 MiB to the App Store, or a chunk of 16
/// MiB to Google Play, each at most twice. Measured alone it is 42 MiB.
const MAX_MEMORY: u64 = 96 << 20;

/// 200 MB that are not in memory: the facts of an app, then zeros.
struct Large(Vec<u8>);

impl Source for Large {
    fn size(&self) -> u64 {
        SIZE
    }

    fn read(&self, offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>> {
        static ZEROS: [u8; PIECE] = [0; PIECE];
        let piece = match offset {
            0 => {
                let mut piece = self.0.clone();
                piece.resize(length, 0);
                Bytes::from(piece)
            }
            _ => Bytes::from_static(&ZEROS[..length]),
        };
        Box::pin(async move { Ok(piece) })
    }
}

fn large(platform: Platform, destination: &str) -> Release {
    let mut release = release(platform, destination, 42, 100);
    release.source = Arc::new(Large(format!("{APP}|42|").into_bytes()));
    release.options.uses_non_exempt_encryption = Some(false);
    if platform == Platform::Android {
        // Google reports the checksum of what it received.
        let mut hash = Sha256::new_with_prefix(format!("{APP}|42|"));
        let mut left = SIZE - format!("{APP}|42|").len() as u64;
        while left > 0 {
            let piece = left.min(1 << 20);
            hash.update(vec![0; piece as usize]);
            left -= piece;
        }
        release.sha256 = hex::encode(hash.finalize());
    }
    release
}

#[tokio::test]
async fn a_large_binary_is_sent_in_pieces() {
    let (stand, _serving) = stand().await;
    let ended = to_end::<AppStoreConnect>(&stand, &large(Platform::Ios, "testflight")).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let log = stand.simulator.log();
    let parts = log.iter().filter(|call| call.starts_with("PUT /simulator/parts/"));
    assert_eq!(parts.count(), 39);
    assert_eq!(stand.ledger().count("upload"), 1);
}

/// A value of `/proc/self/status`, in bytes.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let kibibytes = line.trim_start_matches(':').trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "long run"]
async fn two_hundred_megabytes_are_sent_in_constant_memory() {
    for (store, wanted) in [
        ("the App Store", large(Platform::Ios, "testflight")),
        ("Google Play", large(Platform::Android, "beta")),
    ] {
        let (stand, _serving) = stand_with(Settings {
            kept: 1 << 20,
            part: 5 << 20,
            ..settings()
        })
        .await;
        // Resets the peak.
        fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = memory("VmRSS");
        let status = match wanted.platform {
            Platform::Android => to_end::<GooglePlay>(&stand, &wanted).await.status,
            _ => to_end::<AppStoreConnect>(&stand, &wanted).await.status,
        };
        assert_eq!(status, Success, "{store}");
        let grown = memory("VmHWM").saturating_sub(before);
        println!(
            "summary: {SIZE} bytes to {store}: client and simulator grew by {} KiB",
            grown / 1024
        );
        assert!(grown < MAX_MEMORY, "{store}: {grown}");
    }
}
