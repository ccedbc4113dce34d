//! The bucket, tested against an S3 server that checks signatures with the system clock.

use std::fs;

use launchway_testing::s3::S3Server;
use sha2::{Digest, Sha256};

use super::*;
use crate::{Blob, Reader};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the S3 server compares with the machine's clock"
)]
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn credentials(server: &S3Server) -> Credentials {
    Credentials {
        access_key_id: server.access_key.clone(),
        secret_access_key: server.secret_key.clone(),
        ..Credentials::default()
    }
}

/// A server, and a bucket on it under a prefix.
fn start() -> (S3Server, Blob) {
    // Fails from the second test of a process on, because the provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = S3Server::start();
    let url = server.storage_url().replace('?', "/some/prefix?");
    let blob = Blob::s3(&url, &credentials(&server)).unwrap();
    (server, blob)
}

async fn store(blob: &Blob, name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    fs::write(&source, bytes).unwrap();
    blob.put_file(&key(name), &source).await.unwrap();
}

async fn fetch(blob: &Blob, name: &str, limit: u64) -> Result<(Fetched, Vec<u8>), BlobError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut handle = File::from_std(file.reopen().unwrap());
    let fetched = blob.fetch_to_file(&key(name), &mut handle, limit).await?;
    Ok((fetched, fs::read(file.path()).unwrap()))
}

/// A client that ignores the proxies of the environment, so that it reaches the test's own server.
fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn keeps_copies_lists_and_forgets_objects() {
    let (_server, blob) = start();
    blob.check().await.unwrap();
    assert_eq!(blob.list(None).await.unwrap(), []);
    store(&blob, "uploads/a", b"hello").await;
    store(&blob, "uploads/empty", b"").await;
    assert_eq!(blob.head(&key("uploads/a")).await.unwrap(), Some(5));
    assert_eq!(blob.head(&key("uploads/b")).await.unwrap(), None);
    let (fetched, bytes) = fetch(&blob, "uploads/a", 5).await.unwrap();
    assert_eq!(
        (fetched.size, fetched.sha256.as_slice(), bytes.as_slice()),
        (5, &*Sha256::digest("hello"), &b"hello"[..])
    );
    assert!(matches!(
        fetch(&blob, "uploads/a", 4).await,
        Err(BlobError::TooLarge { limit: 4 })
    ));
    assert!(matches!(fetch(&blob, "uploads/b", 4).await, Err(BlobError::NotFound)));

    blob.copy(&key("uploads/a"), &key("packages/p.zip")).await.unwrap();
    store(&blob, "uploads/a", b"other").await;
    assert!(matches!(
        blob.copy(&key("uploads/a"), &key("packages/p.zip")).await,
        Err(BlobError::Exists)
    ));
    assert!(matches!(
        blob.copy(&key("uploads/b"), &key("packages/q.zip")).await,
        Err(BlobError::NotFound)
    ));
    assert_eq!(fetch(&blob, "packages/p.zip", 5).await.unwrap().1, b"hello");

    assert_eq!(
        blob.list(None).await.unwrap(),
        [key("packages/p.zip"), key("uploads/a"), key("uploads/empty")]
    );
    assert_eq!(
        blob.list(Some(&key("packages"))).await.unwrap(),
        [key("packages/p.zip")]
    );
    blob.delete(&key("uploads/a")).await.unwrap();
    blob.delete(&key("uploads/a")).await.unwrap();
    assert_eq!(blob.head(&key("uploads/a")).await.unwrap(), None);
}

#[tokio::test]
async fn small_pieces_share_large_requests() {
    const PIECE: usize = 256 << 10;
    let (server, blob) = start();
    let bytes: Vec<u8> = (0..17 << 20).map(|at: u32| (at >> 9) as u8).collect();
    store(&blob, "uploads/app", &bytes).await;
    let before = server.gets();
    let reader = Reader::new(blob, key("uploads/app"), bytes.len() as u64);
    for (at, piece) in bytes.chunks(PIECE).enumerate() {
        let read = reader.read((at * PIECE) as u64, piece.len()).await.unwrap();
        assert!(read == piece, "{at}");
    }
    assert_eq!(server.gets() - before, 3, "8, 8 and 1 MiB");
}

#[tokio::test]
async fn short_ranges_of_several_objects_are_read_at_once() {
    let (_server, blob) = start();
    let names: Vec<String> = (0..20).map(|number| format!("f/{number:02}")).collect();
    for name in &names {
        store(&blob, name, format!("text of {name}").as_bytes()).await;
    }
    let found = blob
        .read_ranges(names.iter().map(|name| (key(name), 8..12)).collect())
        .await;
    assert_eq!(found.unwrap(), names);
    let found = blob.read_ranges(vec![(key("f/01"), 0..4), (key("f/none"), 0..4)]).await;
    assert!(matches!(found, Err(BlobError::NotFound)));
}

#[tokio::test]
async fn a_folder_is_listed_a_page_at_a_time() {
    let (_server, blob) = start();
    let names = ["f/a-1", "f/a.b/c", "f/a/b", "f/a0", "f/b"];
    for name in names.iter().chain(&["g/a", "ff"]) {
        store(&blob, name, b"x").await;
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = blob.list_page(&key("f"), after.as_ref(), 2).await.unwrap();
        assert!(page.len() <= 2);
        let young = page
            .iter()
            .all(|listed| (now_ms() - listed.written_ms).abs() < 3_600_000);
        assert!(young, "{page:?}");
        seen.extend(page.iter().map(|listed| listed.key.to_string()));
        after = page.last().map(|listed| listed.key.clone());
        if page.len() < 2 {
            break;
        }
    }
    assert_eq!(seen, names);
    assert_eq!(blob.list_page(&key("none"), None, 9).await.unwrap(), []);
}

#[tokio::test]
async fn the_store_believes_a_signed_download_and_no_other() {
    let (_server, blob) = start();
    store(&blob, "packages/a.zip", b"0123456789").await;
    let url = blob
        .presign_get(&key("packages/a.zip"), "My \"App\" \u{fc}.zip", now_ms(), 3600)
        .url;
    let got = http().get(&url).send().await.unwrap();
    assert_eq!(got.status(), 200);
    let disposition = got.headers()["content-disposition"].to_str().unwrap();
    assert_eq!(
        disposition,
        "attachment; filename=\"My _App_ _.zip\"; filename*=UTF-8''My%20%22App%22%20%C3%BC.zip"
    );
    assert_eq!(got.headers()["content-type"], "application/octet-stream");
    assert_eq!(got.text().await.unwrap(), "0123456789");
    let part = http().get(&url).header("range", "bytes=2-4").send().await.unwrap();
    assert_eq!(
        (part.status().as_u16(), part.text().await.unwrap().as_str()),
        (206, "234")
    );

    let changed = [
        url.replace("a.zip?", "b.zip?"),
        url.replace("X-Amz-Expires=3600", "X-Amz-Expires=3601"),
        url.replace("My%20", "Your%20"),
        url.replace("octet-stream", "html"),
        blob.presign_get(&key("packages/a.zip"), "a", now_ms() - 120_000, 60)
            .url,
    ];
    for changed in changed {
        assert_ne!(changed, url);
        assert_eq!(http().get(&changed).send().await.unwrap().status(), 403, "{changed}");
    }
    assert_eq!(http().delete(&url).send().await.unwrap().status(), 403);
    assert_eq!(http().put(&url).body("x").send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn the_store_takes_an_upload_of_the_signed_size_only() {
    let (_server, blob) = start();
    let url = blob.presign_put(&key("uploads/a"), 5, now_ms(), 3600).url;
    for wrong in ["1234", "123456", ""] {
        assert_eq!(
            http().put(&url).body(wrong).send().await.unwrap().status(),
            403,
            "{wrong}"
        );
    }
    let elsewhere = url.replace("uploads/a?", "uploads/b?");
    assert_eq!(http().put(&elsewhere).body("12345").send().await.unwrap().status(), 403);
    assert_eq!(blob.list(None).await.unwrap(), []);
    assert_eq!(http().put(&url).body("12345").send().await.unwrap().status(), 200);
    assert_eq!(fetch(&blob, "uploads/a", 5).await.unwrap().1, b"12345");
}

#[tokio::test]
async fn readiness_sees_a_missing_bucket_wrong_secret_or_lost_store() {
    let (server, blob) = start();
    blob.check().await.unwrap();
    let missing = server.storage_url().replace(&server.bucket, "another-bucket");
    assert!(
        Blob::s3(&missing, &credentials(&server))
            .unwrap()
            .check()
            .await
            .is_err()
    );
    let wrong = Credentials {
        secret_access_key: "hidden".to_owned(),
        ..credentials(&server)
    };
    let refused = Blob::s3(&server.storage_url(), &wrong)
        .unwrap()
        .check()
        .await
        .unwrap_err();
    assert!(
        matches!(refused, BlobError::Unavailable { .. }) && !refused.to_string().contains("hidden"),
        "{refused}"
    );
    drop(server);
    assert!(matches!(blob.check().await, Err(BlobError::Unavailable { .. })));
}

#[test]
fn no_secret_is_shown() {
    let credentials = Credentials {
        access_key_id: "id".to_owned(),
        secret_access_key: "hidden-secret".to_owned(),
        session_token: Some("hidden-token".to_owned()),
        ..Credentials::default()
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bucket = Bucket::open("s3://box", &credentials).unwrap();
    let error = bucket.without_secrets(&"<Code>ExpiredToken</Code><Token-0>hidden-token</Token-0>");
    assert_eq!(error, "<Code>ExpiredToken</Code><Token-0>…</Token-0>");
    let shown = format!("{credentials:?} {bucket:?}");
    assert!(!shown.contains("hidden"), "{shown}");
}

#[test]
fn the_end_of_temporary_credentials_must_be_a_time() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let open = |expiration: &str| {
        let expiration = Some(expiration.to_owned());
        Blob::s3(
            "s3://box",
            &Credentials {
                expiration,
                ..Credentials::default()
            },
        )
    };
    let error = open("tomorrow").unwrap_err().to_string();
    assert!(error.starts_with("AWS_CREDENTIAL_EXPIRATION: `tomorrow`"), "{error}");
    let url = open("1970-01-01T01:00:00Z")
        .unwrap()
        .presign_get(&key("a"), "a", 3_000_000, 3600);
    assert_eq!(url.expires_at_ms, 3_600_000);
}
