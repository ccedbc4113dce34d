//! A log of 1 GiB passes from a step to its reader, and neither runner nor server ever holds much of it in memory.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::calls::{create, is_over, read, request, wait};
use super::runner_process::RunnerProcess;
use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};
use crate::memory::peak;

const MIB: u64 = 1 << 20;
const SIZE: u64 = 1024 * MIB;
/// The maximum peak memory of either.
const MOST: u64 = 200 * MIB;
const LINE: &str = "a line of a log that is long beyond all reason\n";
const LIMIT: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn of_a_gibibyte_on_sqlite_and_directory() {
    passes(Ground::SqliteDirectory).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn of_a_gibibyte_on_postgres_and_s3() {
    passes(Ground::PostgresS3).await;
}

async fn passes(ground: Ground) {
    let deployment = Deployment::with(ground, Turn::beside_others().await, |builder| builder);
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    // A secret that the runner searches for in the whole log.
    api.post("/env", json!({"name": "SECRET", "value": "hunter2-of-the-log"}))
        .await
        .created();
    let url = deployment.node().base_url();
    let runner = RunnerProcess::start(deployment.node(), &api, &team.id, &url, "own", &[]).await;
    let run = format!("yes '{}' | head -c {SIZE} || true", LINE.trim());
    let id = create(&api, request(&api, &[("print", &run)]).await).await;
    let look = async || Some(read(&api, &id).await).filter(is_over);
    let (build, took) = wait(LIMIT, "the build ends", look).await;
    assert_eq!(build["status"], "success", "{build}");
    assert!(build["logSize"].as_u64().unwrap() >= SIZE);

    let request = api.request(Method::GET, &format!("/build/log?id={id}"));
    let mut answer = request.send().await.unwrap();
    let (mut hash, mut size, mut text) = (Sha256::new(), 0, false);
    while let Some(bytes) = answer.chunk().await.unwrap() {
        let mut bytes = &bytes[..];
        if !text {
            // The runner's lines before the output of the step.
            let first = LINE.as_bytes();
            let Some(start) = bytes.windows(first.len()).position(|window| window == first) else {
                continue;
            };
            bytes = &bytes[start..];
            text = true;
        }
        let rest = usize::try_from(SIZE - size).unwrap();
        let bytes = &bytes[..bytes.len().min(rest)];
        hash.update(bytes);
        size += bytes.len() as u64;
    }
    let mut expected = Sha256::new();
    let lines = LINE.repeat(1 << 16);
    let mut left = usize::try_from(SIZE).unwrap();
    while left > 0 {
        let part = left.min(lines.len());
        expected.update(&lines.as_bytes()[..part]);
        left -= part;
    }
    assert_eq!((size, hash.finalize()), (SIZE, expected.finalize()));
    let (server, own) = (peak(deployment.node().id().unwrap()), peak(runner.id()));
    println!(
        "summary: a log of {} MiB on {ground} in {} s: the server had at most {} MiB, the runner {} MiB",
        SIZE / MIB,
        took.as_secs(),
        server / MIB,
        own / MIB
    );
    assert!(server < MOST && own < MOST);
}
