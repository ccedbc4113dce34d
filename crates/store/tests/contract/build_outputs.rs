//! What builds say and give: logs by offset, artifacts.

use launchway_domain::build::{Artifact, Move};
use launchway_domain::id::BuildId;
use launchway_store::{BuildMove, LogChunk, LogSegment};
use serde_json::json;

use crate::builds::{keep, new_build};
use crate::records::{NOW, an_org, new_id, unique};

fn chunk(start: i64, bytes: &[u8]) -> LogChunk {
    LogChunk {
        start,
        bytes: bytes.to_vec(),
    }
}

/// An announced artifact, not kept yet.
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
        // What lies partly behind the offset comes whole.
        assert_eq!(org_reads!(db, org, log_tail(build.id, 5, 10)), all[1..]);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 14, 10)), []);

        let segment = LogSegment { start: 0, size: 7, blob_key: "logs/x/0".to_owned() };
        org_writes!(db, org, seal_log_segment(build.id, &segment));
        assert_eq!(org_reads!(db, org, log_segments(build.id)), [segment]);
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), all[2..]);
        assert!(system_reads!(db, names_log_blob("logs/x/0")));
        assert!(!system_reads!(db, names_log_blob("logs/x/1")));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert!(!system_reads!(db, names_log_blob("logs/x/0")));
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), []);
    }

    async fn what_is_held_back_of_a_log_is_behind_its_end(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        org_writes!(db, org, append_log(build.id, 0, b"seen"));
        assert_eq!(org_reads!(db, org, held_log(build.id)), None);
        org_writes!(db, org, hold_log(build.id, 2, b"form"));
        org_writes!(db, org, hold_log(build.id, 3, b"other form"));
        assert_eq!(org_reads!(db, org, held_log(build.id)), Some(b"other form".to_vec()));
        assert_eq!(org_reads!(db, org, log_tail(build.id, 0, 10)), [chunk(0, b"seen")]);
        assert_eq!(org_reads!(db, org, build(build.id)).unwrap().log_size, 4);
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 0);
        let segment = LogSegment { start: 0, size: 4, blob_key: unique("logs") };
        org_writes!(db, org, seal_log_segment(build.id, &segment));
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 4);
        assert_eq!(org_reads!(db, org, held_log(build.id)), Some(b"other form".to_vec()));
        org_writes!(db, org, hold_log(build.id, 0, b""));
        assert_eq!(org_reads!(db, org, held_log(build.id)), None);
        org_writes!(db, org, append_log(build.id, 4, b" more"));
        assert_eq!(org_reads!(db, org, log_tail_start(build.id)), 4);
        // Only what is over has a log that could be sealed to its end.
        assert_eq!(system_reads!(db, unsealed_logs(10)), []);
        let (canceled, _) = build.standing.after(Move::Cancel, NOW).unwrap();
        assert!(org_writes!(db, org, move_build(build.id, &build.standing, &canceled, &BuildMove::default())));
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
        assert!(!system_reads!(db, artifact_is_open(artifact.id)));
        let (running, _) = build.standing.after(Move::Lease, NOW).unwrap();
        assert!(org_writes!(db, org, move_build(build.id, &build.standing, &running, &BuildMove::default())));
        assert!(system_reads!(db, artifact_is_open(artifact.id)));
        assert!(!system_reads!(db, artifact_is_open(late.id)), "it is of another attempt");
        org_writes!(db, org, store_artifact(artifact.id, "artifacts/y", None));
        assert!(!system_reads!(db, artifact_is_open(artifact.id)));
        org_writes!(db, org, forget_artifact(artifact.id));
        assert_eq!(org_reads!(db, org, artifacts(build.id)), [late]);
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
        assert_eq!(org_reads!(db, org, artifacts(build.id)), [stored, second]);
        assert!(system_reads!(db, names_artifact_blob("artifacts/x")));
        assert!(!system_reads!(db, names_artifact_blob(&first.blob_key)));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert_eq!(org_reads!(db, org, artifact(first.id)), None);
    }
}
