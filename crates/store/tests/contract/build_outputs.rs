//! The output of builds: logs by offset, artifacts.

use std::collections::HashMap;

use launchway_domain::build::{Artifact, Build, Transition};
use launchway_domain::id::BuildId;
use launchway_store::{BuildFile, LogChunk, LogSegment, StateChange};
use serde_json::json;

use crate::builds::{an_archive, keep, new_build};
use crate::records::{NOW, an_org, new_id, unique};

fn chunk(start: i64, bytes: &[u8]) -> LogChunk {
    LogChunk {
        start,
        bytes: bytes.to_vec(),
    }
}

/// An announced artifact, not stored yet.
pub fn new_artifact(build: BuildId) -> Artifact {
    Artifact {
        id: new_id(),
        build_id: build,
        attempt: 2,
        is_stored: false,
        kind: "apk".to_owned(),
        name: "app ü.apk".to_owned(),
        size: 1 << 33,
        sha256: "cd".repeat(32),
        blob_key: unique("staged"),
        facts: None,
        created_at: NOW,
    }
}

fn file(blob_key: &str, sha256: Option<&str>) -> BuildFile {
    BuildFile {
        blob_key: blob_key.to_owned(),
        sha256: sha256.map(str::to_owned),
    }
}

contract! {
    async fn a_log_grows_and_its_beginning_goes_to_object_storage(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let pieces: [&[u8]; 3] = [b"one\n", b"\xff\x00\xfe", "zwölf\n".as_bytes()];
        let mut at = 0;
        for piece in pieces {
            org_writes!(db, org, append_log(build.id, at, piece));
            at += piece.len() as i64;
        }
        assert_eq!(org_reads!(db, org, build(build.id)).unwrap().log_size, 14);
        let all = [chunk(0, pieces[0]), chunk(4, pieces[1]), chunk(7, pieces[2])];
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), all);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 2)), all[..2]);
        // A chunk that lies partly after the offset is returned whole.
        assert_eq!(org_reads!(db, org, log_tail(build.id, 5, 10)), all[1..]);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 14, 10)), []);

        let segment = LogSegment { start: 0, size: 7, blob_key: "logs/x/0".to_owned(), index_size: 5 };
        org_writes!(db, org, seal_log_segment(build.id, &segment));
        assert_eq!(org_reads!(db, org, log_segments(build.id)), std::slice::from_ref(&segment));
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), all[2..]);
        org_writes!(db, org, seal_log_segment(build.id, &LogSegment { start: 7, size: 7, blob_key: "logs/x/7".to_owned(), index_size: 0 }));
        let parts = org_reads!(db, org, log_segments(build.id));
        assert_eq!(parts.len(), 2);
        for (offset, from) in [(0, 0), (6, 0), (7, 1), (13, 1), (14, 2), (99, 2)] {
            assert_eq!(org_reads!(db, org, log_segments_from(build.id, offset, 9)), parts[from..], "{offset}");
        }
        assert_eq!(org_reads!(db, org, log_segments_from(build.id, 0, 1)), parts[..1]);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), []);
        assert!(system_reads!(db, has_log_blob("logs/x/0")));
        assert!(system_reads!(db, is_blob_referenced("logs/x/0")));
        assert!(!system_reads!(db, has_log_blob("logs/x/1")));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert!(!system_reads!(db, has_log_blob("logs/x/0")));
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), []);
    }

    async fn what_is_held_back_of_a_log_is_behind_its_end(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        org_writes!(db, org, append_log(build.id, 0, b"seen"));
        assert_eq!(org_reads!(db, org, withheld_log(build.id)), None);
        org_writes!(db, org, set_withheld_log(build.id, 2, b"form"));
        org_writes!(db, org, set_withheld_log(build.id, 3, b"other form"));
        assert_eq!(org_reads!(db, org, withheld_log(build.id)), Some(b"other form".to_vec()));
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), [chunk(0, b"seen")]);
        assert_eq!(org_reads!(db, org, build(build.id)).unwrap().log_size, 4);
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 0);
        let segment = LogSegment { start: 0, size: 4, blob_key: unique("logs"), index_size: 0 };
        org_writes!(db, org, seal_log_segment(build.id, &segment));
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 4);
        assert_eq!(org_reads!(db, org, withheld_log(build.id)), Some(b"other form".to_vec()));
        org_writes!(db, org, set_withheld_log(build.id, 0, b""));
        assert_eq!(org_reads!(db, org, withheld_log(build.id)), None);
        org_writes!(db, org, append_log(build.id, 4, b" more"));
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 4);
        // Only finished builds have a log that can be sealed to its end.
        assert_eq!(system_reads!(db, unsealed_logs(10)), []);
        let (canceled, _) = build.state.apply(Transition::Cancel, NOW).unwrap();
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &canceled, &StateChange::default())));
        assert_eq!(system_reads!(db, unsealed_logs(10)), [(org, build.id)]);
    }

    async fn bytes_of_an_artifact_are_awaited_while_its_attempt_runs(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let artifact = Artifact { attempt: 1, ..new_artifact(build.id) };
        let late = new_artifact(build.id);
        org_writes!(db, org, create_artifact(&artifact));
        org_writes!(db, org, create_artifact(&late));
        assert!(!system_reads!(db, is_open_artifact(artifact.id)));
        let (running, _) = build.state.apply(Transition::Lease, NOW).unwrap();
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &running, &StateChange::default())));
        assert!(system_reads!(db, is_open_artifact(artifact.id)));
        assert!(!system_reads!(db, is_open_artifact(late.id)), "it is of another attempt");
        org_writes!(db, org, store_artifact(artifact.id, "artifacts/y", None));
        assert!(!system_reads!(db, is_open_artifact(artifact.id)));
        let stored = file("artifacts/y", Some(&artifact.sha256));
        assert_eq!(system_reads!(db, build_files_after("", 10)), [stored], "the late one has no bytes");
        org_writes!(db, org, forget_artifact(artifact.id));
        assert_eq!(org_reads!(db, org, artifacts(build.id)), [late]);
    }

    async fn a_source_is_named_by_each_build_of_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut first = new_build(org);
        first.spec.source = an_archive("sources/x");
        let second = Build { id: new_id(), ..first.clone() };
        keep(db, &first).await;
        keep(db, &second).await;
        for build in [&first, &second] {
            assert!(org_reads!(db, org, has_source("sources/x")));
            assert!(system_reads!(db, has_source_blob("sources/x")));
            assert!(system_reads!(db, is_blob_referenced("sources/x")));
            assert_eq!(system_reads!(db, build_files_after("sources/w", 10)), [file("sources/x", None)]);
            assert_eq!(system_reads!(db, build_files_after("sources/x", 10)), []);
            assert!(org_writes!(db, org, delete_build(build.id)));
        }
        assert!(!org_reads!(db, org, has_source("sources/x")));
        assert!(!system_reads!(db, is_blob_referenced("sources/x")));
    }

    async fn a_build_that_ended_is_cleared_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut build = new_build(org);
        build.spec.source = an_archive("sources/y");
        keep(db, &build).await;
        let (canceled, _) = build.state.apply(Transition::Cancel, NOW).unwrap();
        let with = StateChange { finished_at: Some(NOW + 5), ..StateChange::default() };
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &canceled, &with)));
        org_writes!(db, org, append_log(build.id, 0, b"sealed"));
        let segment = LogSegment { start: 0, size: 6, blob_key: "logs/y/0".to_owned(), index_size: 0 };
        org_writes!(db, org, seal_log_segment(build.id, &segment));
        org_writes!(db, org, append_log(build.id, 6, b"tail"));
        let artifact = new_artifact(build.id);
        org_writes!(db, org, create_artifact(&artifact));
        let found = system_reads!(db, build_files_after("", 1));
        assert_eq!(found, [file("logs/y/0", None)]);
        assert_eq!(system_reads!(db, build_files_after("logs/y/0", 10)), [file("sources/y", None)]);
        assert_eq!(system_reads!(db, builds_ended_before(NOW + 5, 10)), []);
        assert_eq!(system_reads!(db, builds_ended_before(NOW + 6, 10)), [(org, build.id)]);

        org_writes!(db, org, clear_build(build.id, &["gone".to_owned()], NOW + 6));
        assert_eq!(system_reads!(db, builds_ended_before(NOW + 9, 10)), []);
        let cleared = org_reads!(db, org, build(build.id)).unwrap();
        assert_eq!((cleared.log_size, cleared.warnings), (0, vec!["gone".to_owned()]));
        assert_eq!(cleared.spec, build.spec);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), []);
        for key in ["sources/y", "logs/y/0", artifact.blob_key.as_str()] {
            assert!(!system_reads!(db, is_blob_referenced(key)), "{key}");
        }
    }

    async fn an_artifact_is_announced_and_then_stored(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let (first, second) = (new_artifact(build.id), new_artifact(build.id));
        org_writes!(db, org, create_artifact(&first));
        org_writes!(db, org, create_artifact(&second));
        assert_eq!(org_reads!(db, org, artifact(first.id)), Some(first.clone()));
        org_writes!(db, org, store_artifact(first.id, "artifacts/x", Some(r#"{"version":"1.0"}"#)));
        let stored = Artifact {
            is_stored: true,
            blob_key: "artifacts/x".to_owned(),
            facts: Some(json!({"version": "1.0"})),
            ..first.clone()
        };
        assert_eq!(org_reads!(db, org, artifacts(build.id)), [stored.clone(), second.clone()]);
        let (other, bare) = (new_build(org), new_build(org));
        keep(db, &other).await;
        keep(db, &bare).await;
        let third = new_artifact(other.id);
        org_writes!(db, org, create_artifact(&third));
        let of_page = HashMap::from([(build.id, vec![stored, second]), (other.id, vec![third])]);
        assert_eq!(org_reads!(db, org, artifacts_of_builds(&[other.id, bare.id, build.id])), of_page);
        assert_eq!(org_reads!(db, org, artifacts_of_builds(&[])), HashMap::new());
        assert!(system_reads!(db, has_artifact_blob("artifacts/x")));
        assert!(system_reads!(db, is_blob_referenced("artifacts/x")));
        assert!(!system_reads!(db, has_artifact_blob(&first.blob_key)));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert_eq!(org_reads!(db, org, artifact(first.id)), None);
    }
}
