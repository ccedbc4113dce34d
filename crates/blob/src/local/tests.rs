//! The local directory: what it stores, what it refuses, and what it leaves behind.

use std::cell::Cell;
use std::convert::Infallible;
use std::fs;
use std::task::Poll;
use std::time::SystemTime;

use futures::stream;

use super::*;
use crate::Blob;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn directory() -> (tempfile::TempDir, Directory) {
    let root = tempfile::tempdir().unwrap();
    let directory = Directory::open(&root.path().join("made/on/demand"), "http://x/files", [1; 32]).unwrap();
    (root, directory)
}

fn chunks(texts: &[&'static str]) -> impl Stream<Item = Result<Bytes, Infallible>> + use<> {
    stream::iter(
        texts
            .iter()
            .map(|text| Ok(Bytes::from_static(text.as_bytes())))
            .collect::<Vec<_>>(),
    )
}

async fn text_of(directory: &Directory, name: &str) -> String {
    let mut file = File::from_std(tempfile::tempfile().unwrap());
    let fetched = directory.fetch_to_file(&key(name), &mut file, 1000).await.unwrap();
    let mut file = file.into_std().await;
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_string(&mut file, &mut text).unwrap();
    assert_eq!(fetched.size, text.len() as u64);
    assert_eq!(
        fetched.sha256,
        <[u8; 32]>::from(<sha2::Sha256 as sha2::Digest>::digest(&text))
    );
    text
}

/// Every file below the directory, including drafts.
fn files(directory: &Directory) -> Vec<String> {
    let mut found = Vec::new();
    disk::walk(&directory.root, &mut |path, _| {
        found.push(path.strip_prefix(&directory.root).unwrap().display().to_string());
        Ok(())
    })
    .unwrap();
    found.sort();
    found
}

#[tokio::test]
async fn keeps_lists_and_forgets_objects() {
    let (_root, directory) = directory();
    directory
        .put_stream(&key("uploads/b"), 5, chunks(&["he", "", "llo"]))
        .await
        .unwrap();
    directory.put_stream(&key("uploads/a"), 0, chunks(&[])).await.unwrap();
    directory
        .put_stream(&key("other/a/b"), 1, chunks(&["x"]))
        .await
        .unwrap();
    assert_eq!(text_of(&directory, "uploads/b").await, "hello");
    assert_eq!(directory.head(&key("uploads/b")).await.unwrap(), Some(5));
    for nothing in ["uploads", "uploads/c", "uploads/b/c"] {
        assert_eq!(directory.head(&key(nothing)).await.unwrap(), None, "{nothing}");
        assert!(
            matches!(directory.read(&key(nothing)).await, Err(BlobError::NotFound)),
            "{nothing}"
        );
    }
    let all = directory.list(None).await.unwrap();
    assert_eq!(all, [key("other/a/b"), key("uploads/a"), key("uploads/b")]);
    assert_eq!(directory.list(Some(&key("uploads"))).await.unwrap(), all[1..]);
    assert_eq!(directory.list(Some(&key("upload"))).await.unwrap(), []);
    directory.delete(&key("uploads/b")).await.unwrap();
    directory.delete(&key("uploads/b")).await.unwrap();
    assert_eq!(directory.head(&key("uploads/b")).await.unwrap(), None);
}

#[tokio::test]
async fn short_ranges_of_several_objects_are_read_at_once() {
    let (_root, directory) = directory();
    for (name, text) in [("a", "hello"), ("f/b", "world")] {
        directory.put_stream(&key(name), 5, chunks(&[text])).await.unwrap();
    }
    let read = async |ranges: &[(&str, std::ops::Range<u64>)]| {
        let ranges = ranges.iter().map(|(name, range)| (key(name), range.clone()));
        directory.read_ranges(ranges.collect()).await
    };
    let found = read(&[("f/b", 3..5), ("a", 0..1), ("a", 2..9), ("a", 7..9), ("a", 1..1)]).await;
    assert_eq!(found.unwrap(), ["ld", "h", "llo", "", ""]);
    for nothing in ["b", "f", "a/b"] {
        let found = read(&[("a", 0..1), (nothing, 0..1)]).await;
        assert!(matches!(found, Err(BlobError::NotFound)), "{nothing}");
    }
}

#[tokio::test]
async fn a_folder_is_listed_a_page_at_a_time() {
    let (_root, directory) = directory();
    // In byte order: `-` and `.` come before the slash, digits and letters after it.
    let names = ["f/a-1", "f/a.b/c", "f/a/b", "f/a/c/d/e", "f/a0", "f/b", "f/c/x", "g/a"];
    for name in names.iter().rev() {
        directory.put_stream(&key(name), 1, chunks(&["x"])).await.unwrap();
    }
    fs::write(directory.root.join("f/~draft"), "").unwrap();
    for limit in 1..=8 {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = directory.list_page(&key("f"), after.as_ref(), limit).await.unwrap();
            assert!(page.len() <= limit);
            seen.extend(page.iter().map(|listed| listed.key.to_string()));
            after = page.last().map(|listed| listed.key.clone());
            if page.len() < limit {
                break;
            }
        }
        assert_eq!(seen, names[..7], "{limit} at a time");
    }
    assert_eq!(directory.list_page(&key("none"), None, 9).await.unwrap(), []);
    assert_eq!(
        directory.list_page(&key("f/b"), None, 9).await.unwrap(),
        [],
        "an object is no folder"
    );
    assert_eq!(directory.list_page(&key("f"), Some(&key("f/d")), 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_copy_is_as_young_as_its_making() {
    let (_root, directory) = directory();
    directory.put_stream(&key("a/old"), 1, chunks(&["x"])).await.unwrap();
    let of_bytes = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    let file = fs::File::options().append(true).open(directory.root.join("a/old"));
    file.unwrap().set_modified(of_bytes).unwrap();
    directory.copy(&key("a/old"), &key("b/new")).await.unwrap();
    let copy = directory.list_page(&key("b"), None, 9).await.unwrap();
    assert!(copy[0].written_ms > 1_000_000_000, "{copy:?}");
}

#[tokio::test]
async fn a_folder_goes_with_its_last_object() {
    let (_root, directory) = directory();
    for name in ["a/b/c/one", "a/b/two"] {
        directory.put_stream(&key(name), 1, chunks(&["x"])).await.unwrap();
    }
    let left = || fs::read_dir(&directory.root).unwrap().count();
    directory.delete(&key("a/b/c/one")).await.unwrap();
    assert!(!directory.root.join("a/b/c").exists() && directory.root.join("a/b/two").exists());
    directory.delete(&key("a/b/two")).await.unwrap();
    assert_eq!(left(), 0, "but the directory itself stays");
    directory.delete(&key("a/b/two")).await.unwrap();
    directory.put_stream(&key("a/b/two"), 1, chunks(&["y"])).await.unwrap();
    assert_eq!(text_of(&directory, "a/b/two").await, "y");
}

/// The folder of an object vanishes while another is written or copied into it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_writes_into_a_folder_that_goes_makes_it_anew() {
    let (_root, directory) = directory();
    directory.put_stream(&key("source"), 1, chunks(&["s"])).await.unwrap();
    let directory = std::sync::Arc::new(directory);
    let workers = (0..4).map(|worker| {
        let directory = directory.clone();
        tokio::spawn(async move {
            let name = key(&format!("a/b/{worker}"));
            for round in 0..100 {
                if (worker + round) % 2 == 0 {
                    directory.put_stream(&name, 1, chunks(&["x"])).await.unwrap();
                } else {
                    directory.copy(&key("source"), &name).await.unwrap();
                }
                assert_eq!(directory.head(&name).await.unwrap(), Some(1));
                directory.delete(&name).await.unwrap();
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    assert_eq!(files(&directory), ["source"]);
}

#[tokio::test]
async fn a_wrong_or_broken_upload_leaves_what_was_there() {
    let (_root, directory) = directory();
    let name = key("uploads/a");
    directory.put_stream(&name, 3, chunks(&["old"])).await.unwrap();
    let short = directory.put_stream(&name, 9, chunks(&["four"])).await;
    assert!(
        matches!(short, Err(BlobError::TooShort { size: 9, got: 4 })),
        "{short:?}"
    );
    let long = directory.put_stream(&name, 3, chunks(&["four"])).await;
    assert!(matches!(long, Err(BlobError::TooLarge { limit: 3 })), "{long:?}");
    let broken = stream::iter([Ok(Bytes::from_static(b"ab")), Err("the wire is cut")]);
    let broken = directory.put_stream(&name, 3, broken).await;
    assert!(
        matches!(&broken, Err(BlobError::Interrupted(why)) if why == "the wire is cut"),
        "{broken:?}"
    );
    assert_eq!(text_of(&directory, "uploads/a").await, "old");
    assert_eq!(files(&directory), ["uploads/a"]);
}

#[tokio::test]
async fn an_upload_that_nobody_waits_for_leaves_nothing() {
    let (_root, directory) = directory();
    let name = key("uploads/a");
    let has_begun = Cell::new(false);
    let never_ends = stream::poll_fn(|_| {
        has_begun.set(true);
        Poll::<Option<Result<Bytes, Infallible>>>::Pending
    });
    let mut upload = Box::pin(directory.put_stream(&name, 2, never_ends));
    while !has_begun.get() {
        assert!(futures::poll!(&mut upload).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(files(&directory).len(), 1, "the draft is there");
    drop(upload);
    assert_eq!(files(&directory), Vec::<String>::new());
}

#[tokio::test]
async fn a_copy_is_write_once_and_keeps_its_bytes() {
    let (_root, directory) = directory();
    let (upload, package) = (key("uploads/a"), key("packages/p/a.zip"));
    directory.put_stream(&upload, 3, chunks(&["one"])).await.unwrap();
    directory.copy(&upload, &package).await.unwrap();
    directory.put_stream(&upload, 3, chunks(&["two"])).await.unwrap();
    assert!(matches!(
        directory.copy(&upload, &package).await,
        Err(BlobError::Exists)
    ));
    directory.delete(&upload).await.unwrap();
    assert_eq!(text_of(&directory, "packages/p/a.zip").await, "one");
    assert!(matches!(
        directory.copy(&upload, &key("packages/q")).await,
        Err(BlobError::NotFound)
    ));
    assert!(
        matches!(
            directory.copy(&key("packages"), &key("q")).await,
            Err(BlobError::NotFound)
        ),
        "a folder is no object"
    );
    assert_eq!(files(&directory), ["packages/p/a.zip"]);
}

#[tokio::test]
async fn a_file_of_this_machine_is_stored_whole() {
    let (root, directory) = directory();
    let source = root.path().join("source");
    fs::write(&source, "bytes").unwrap();
    directory.put_file(&key("a"), &source).await.unwrap();
    fs::write(&source, "other").unwrap();
    assert_eq!(text_of(&directory, "a").await, "bytes");
    directory.put_file(&key("a"), &source).await.unwrap();
    assert_eq!(text_of(&directory, "a").await, "other");
    let missing = directory.put_file(&key("b"), &root.path().join("missing")).await;
    assert!(
        matches!(missing, Err(BlobError::Unavailable { .. })),
        "the key is not what is missing: {missing:?}"
    );
}

#[tokio::test]
async fn a_fetch_stops_at_its_limit() {
    let (_root, directory) = directory();
    directory.put_stream(&key("a"), 5, chunks(&["hello"])).await.unwrap();
    let mut file = File::from_std(tempfile::tempfile().unwrap());
    let fetched = directory.fetch_to_file(&key("a"), &mut file, 4).await;
    assert!(matches!(fetched, Err(BlobError::TooLarge { limit: 4 })), "{fetched:?}");
}

#[tokio::test]
async fn another_upload_gives_another_etag_and_a_copy_the_same() {
    let (_root, directory) = directory();
    let mut seen = Vec::new();
    for text in ["one", "two"] {
        directory.put_stream(&key("a"), 3, chunks(&[text])).await.unwrap();
        seen.push(directory.read(&key("a")).await.unwrap().etag);
    }
    assert_ne!(seen[0], seen[1]);
    directory.copy(&key("a"), &key("b")).await.unwrap();
    assert_eq!(directory.read(&key("b")).await.unwrap().etag, seen[1]);
}

#[tokio::test]
async fn abandoned_uploads_are_removed_and_nothing_else() {
    let (_root, directory) = directory();
    directory
        .put_stream(&key("uploads/a"), 1, chunks(&["x"]))
        .await
        .unwrap();
    let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    for (name, written) in [("uploads/~old", 1_000), ("uploads/~new", 3_000), ("uploads/a", 1_000)] {
        let file = fs::File::options()
            .create(true)
            .append(true)
            .open(directory.root.join(name))
            .unwrap();
        file.set_modified(time(written)).unwrap();
    }
    assert_eq!(directory.list(None).await.unwrap(), [key("uploads/a")]);
    assert_eq!(directory.remove_abandoned(2_000_000).await.unwrap(), 1);
    assert_eq!(files(&directory), ["uploads/a", "uploads/~new"]);
}

#[tokio::test]
async fn readiness_needs_a_folder_that_can_be_written() {
    let (root, directory) = directory();
    directory.check().await.unwrap();
    assert_eq!(files(&directory), Vec::<String>::new(), "the check leaves nothing");
    // A file in place of the folder blocks every user, the superuser included.
    fs::remove_dir(&directory.root).unwrap();
    fs::write(&directory.root, "").unwrap();
    assert!(matches!(directory.check().await, Err(BlobError::Unavailable { .. })));
    drop(root);
}

#[test]
fn debug_shows_no_secret() {
    let root = tempfile::tempdir().unwrap();
    let blob = Blob::local(root.path(), "http://x/files", [0xab; 32], Floor::NONE).unwrap();
    let url = blob.presign_get(&key("a"), "a", 0, 60);
    let shown = format!("{blob:?} {url:?}");
    assert!(
        !shown.contains("171") && !shown.to_lowercase().contains("abab") && !shown.contains("signature"),
        "{shown}"
    );
}
