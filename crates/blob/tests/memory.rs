//! Large objects pass through in constant memory. The only test of its process, because it measures the memory of the
//! whole process.

use std::fs::{self, File};

use launchway_blob::s3::Credentials;
use launchway_blob::{Blob, Key};
use launchway_testing::s3::S3Server;
use sha2::{Digest, Sha256};

const SIZE: u64 = 100 << 20;

/// This includes the S3 server's share.
const ALLOWED: u64 = 64 << 20;

/// The peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells of processes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.expect("the peak is a number of kB") * 1024
}

#[tokio::test]
async fn an_object_of_100_mib_passes_in_constant_memory() {
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let server = S3Server::start();
    let credentials = Credentials {
        access_key_id: server.access_key.clone(),
        secret_access_key: server.secret_key.clone(),
        ..Credentials::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    File::create(&source).unwrap().set_len(SIZE).unwrap();
    let wanted: [u8; 32] = {
        let mut hash = Sha256::new();
        (0..SIZE >> 16).for_each(|_| hash.update([0; 1 << 16]));
        hash.finalize().into()
    };
    let storages = [
        Blob::local(
            &folder.path().join("objects"),
            "http://x/files",
            [1; 32],
            launchway_os::free_space::Floor::NONE,
        )
        .unwrap(),
        Blob::s3(&server.storage_url(), &credentials).unwrap(),
    ];
    let key = Key::new("packages/large.zip").unwrap();
    let before = peak();
    for blob in storages {
        blob.put_file(&key, &source).await.unwrap();
        let mut file = tokio::fs::File::from_std(tempfile::tempfile().unwrap());
        let fetched = blob.fetch_to_file(&key, &mut file, SIZE).await.unwrap();
        assert_eq!((fetched.size, fetched.sha256), (SIZE, wanted));
        assert_eq!(file.metadata().await.unwrap().len(), SIZE);
        let grown = peak() - before;
        assert!(grown < ALLOWED, "{blob:?} took {grown} bytes of memory");
    }
}
