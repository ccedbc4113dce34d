//! Builds while everything around them fails: runners and servers are killed, connections cut, responses delayed,
//! leases of living runners lost, the network taken away, PostgreSQL restarted, builds canceled and deleted. Whatever happens, every
//! build ends once and its result does not change, an attempt has one runner, the log contains each byte once and in order,
//! artifacts are complete, a deleted build stays away, and nothing of a build is left on a runner.

mod trouble;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use launchway_testing::postgres::Postgres;
use launchway_testing::says::Fields;
use launchway_testing::wait::pass;
use serde_json::{Value, json};

use crate::api::Api;
use crate::builds::calls::{artifact, create, is_over, log, request, wait};
use crate::builds::runner_process::RunnerProcess;
use crate::deployment::{Deployment, Ground, Turn};
use crate::dice::Dice;
use crate::proxy::Proxy;
use trouble::Troubles;
use watch::Watch;

/// After this time nothing changes any more.
const LIMIT: Duration = Duration::from_secs(180);
/// The number of lines that a build prints.
const LINES: usize = 200;
/// The number of builds requested without a pause.
const AT_ONCE: usize = 30;
/// The minimum size of an artifact in bytes.
const SIZE: usize = 100_000;

/// The size of a run.
struct Scale {
    builds: usize,
    runners: usize,
    troubles: usize,
    /// The number of servers on PostgreSQL.
    nodes: usize,
}

const SHORT: Scale = Scale {
    builds: 20,
    runners: 2,
    troubles: 8,
    nodes: 1,
};
const LONG: Scale = Scale {
    builds: 240,
    runners: 4,
    troubles: 200,
    nodes: 2,
};

#[tokio::test(flavor = "multi_thread")]
async fn twenty_builds_on_sqlite() {
    survive(Ground::SqliteDirectory, &SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_builds_on_postgres() {
    survive(Ground::PostgresS3, &SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn hundreds_of_builds_on_sqlite() {
    survive(Ground::SqliteDirectory, &LONG).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn hundreds_of_builds_on_postgres() {
    survive(Ground::PostgresS3, &LONG).await;
}

/// A step that numbers its lines, prints who runs it, and leaves a file that identifies it.
fn step() -> String {
    format!(
        "for i in $(seq {LINES}); do echo \"line $LAUNCHWAY_ATTEMPT $LAUNCHWAY_WORKSPACE $i\"; (( i % 20 )) || sleep 0.05; done
        {{ echo \"$LAUNCHWAY_BUILD_ID $LAUNCHWAY_ATTEMPT\"; head -c {SIZE} /dev/zero | tr '\\0' x; }} > out.bin"
    )
}

async fn survive(ground: Ground, scale: &Scale) {
    let turn = Turn::beside_others().await;
    let proxy = Proxy::start().await;
    let more =
        |builder: launchway_testing::server_process::ServerBuilder| builder.env("LAUNCHWAY_PUBLIC_URL", proxy.origin());
    let (postgres, deployment) = match ground {
        Ground::SqliteDirectory => (None, Deployment::with(ground, turn, more)),
        Ground::PostgresS3 => {
            let postgres = Postgres::start_own();
            let deployment = Deployment::on_database(&postgres.fresh_database(), scale.nodes, turn, more);
            (Some(postgres), deployment)
        }
    };
    proxy.lead_to(&deployment.node().origin());
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    let url = format!("{}/api", proxy.origin());
    let mut runners = Vec::new();
    for number in 0..scale.runners {
        let name = format!("runner-{number}");
        runners.push(RunnerProcess::start(deployment.node(), &api, &team.id, &url, &name, &[]).await);
    }
    let mut builds = Vec::new();
    for number in 0..scale.builds {
        if number > 0 && number % AT_ONCE == 0 {
            // Faster calls would exceed the rate limit.
            pass(Duration::from_secs(10)).await;
        }
        let mut body = request(&api, &[("work", &step())]).await;
        body["plan"]["artifacts"] = json!([{"path": "out.bin", "kind": "bin"}]);
        builds.push(create(&api, body).await);
    }

    let start = Instant::now();
    let watch = Arc::new(Watch::of(&builds));
    let watching = tokio::spawn(Arc::clone(&watch).look(api.clone()));
    proxy.is_bad(true);
    let mut troubles = Troubles {
        deployment,
        postgres,
        runners,
        proxy,
        dice: Dice::roll(),
        made: BTreeMap::new(),
    };
    for _ in 0..scale.troubles {
        if watch.all_are_over() {
            break;
        }
        troubles.make(&api, &builds, &watch).await;
    }
    troubles.proxy.is_bad(false);
    troubles.end_well(&watch).await;
    assert!(!watching.is_finished(), "what was seen once did not hold: see above");
    watching.abort();

    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in &builds {
        let status = match read(&api, id).await {
            Some(build) if !watch.is_deleted(id) => {
                watch.agrees(&build);
                check(&api, &build).await;
                build.text("status").to_owned()
            }
            None if watch.is_deleted(id) => "deleted".to_owned(),
            other => panic!("{id} was deleted: {}; now it is {other:?}", watch.is_deleted(id)),
        };
        *counts.entry(status).or_default() += 1;
    }
    one_end_for_each(&troubles.deployment, &builds).await;
    nothing_is_left(&troubles).await;
    assert!(
        counts.get("success").is_some_and(|count| *count > 0),
        "nothing was ever built: {counts:?}"
    );
    println!(
        "summary: {} builds by {} runners on {ground} in {} s: {counts:?}; {} connections cut; {:?}",
        builds.len(),
        scale.runners,
        start.elapsed().as_secs(),
        troubles.proxy.cut(),
        troubles.made
    );
}

/// The build, from a server that may still be in trouble; `None` if there is none.
async fn read(api: &Api, id: &str) -> Option<Value> {
    let path = format!("/build?id={id}");
    let look = async || {
        let answer = api.try_call(reqwest::Method::GET, &path, None, None).await.ok()?;
        match answer.status.as_u16() {
            200 => Some(Some(answer.json())),
            404 => Some(None),
            _ => None,
        }
    };
    wait(LIMIT, "the server answers", look).await.0
}

/// The expected state of an ended build.
async fn check(api: &Api, build: &Value) {
    assert!(is_over(build), "{build}");
    let id = build.id();
    let text = log(api, id).await;
    assert_eq!(build["logSize"], text.len(), "{id}");
    let attempts = attempts_in(&text);
    let last = build["attempt"].as_u64().unwrap();
    assert!(attempts.keys().all(|attempt| *attempt <= last), "{id}: {attempts:?}");
    if build["status"] != "success" {
        assert!(build["artifacts"].as_array().unwrap().is_empty(), "{build}");
        return;
    }
    assert_eq!(
        attempts.get(&last),
        Some(&LINES),
        "the log of {id} is not whole: {attempts:?}"
    );
    let bytes = artifact(api, build).await;
    let expected = format!("{id} {last}\n{}", "x".repeat(SIZE));
    assert!(bytes == expected.as_bytes(), "the artifact of {id} is another's");
}

/// The number of lines of each attempt in a log. They are numbered without a gap, in order, and come from one runner.
fn attempts_in(text: &str) -> BTreeMap<u64, usize> {
    let mut seen: BTreeMap<u64, (String, usize)> = BTreeMap::new();
    let mut latest = 0;
    for line in text.lines().filter(|line| line.starts_with("line ")) {
        let words: Vec<&str> = line.split(' ').collect();
        // An attempt may have ended in the middle of a line.
        let [_, attempt, workspace, number] = words.as_slice() else {
            continue;
        };
        let (Ok(attempt), Ok(number)) = (attempt.parse::<u64>(), number.parse::<usize>()) else {
            continue;
        };
        assert!(attempt >= latest, "attempt {attempt} after {latest}: {text}");
        latest = attempt;
        let (place, count) = seen.entry(attempt).or_insert_with(|| ((*workspace).to_owned(), 0));
        assert_eq!(place.as_str(), *workspace, "two runners had attempt {attempt}");
        if number != *count + 1 {
            let cut = (*count + 1).to_string();
            assert!(
                cut.starts_with(&number.to_string()),
                "line {number} after {count}: {text}"
            );
            continue;
        }
        *count = number;
    }
    seen.into_iter().map(|(attempt, (_, count))| (attempt, count)).collect()
}

/// Each build has reported its end once.
async fn one_end_for_each(deployment: &Deployment, builds: &[String]) {
    let ends = "SELECT data FROM events WHERE type IN ('build.succeeded', 'build.failed', 'build.canceled')";
    let told = deployment.texts(ends).await;
    for id in builds {
        let of_this = told.iter().filter(|data| data.contains(id.as_str())).count();
        assert_eq!(of_this, 1, "{id} told its end {of_this} times");
    }
    assert_eq!(told.len(), builds.len());
}

/// Runners have removed every workspace and everything that they had to deliver.
async fn nothing_is_left(troubles: &Troubles) {
    for runner in &troubles.runners {
        let entries = |folder: &str| {
            let entries = std::fs::read_dir(runner.work_dir().join(folder)).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
        };
        let is_clean = async || {
            [entries("builds"), entries("journal")]
                .concat()
                .is_empty()
                .then_some(())
        };
        wait(LIMIT, &format!("{} has nothing left", runner.name), is_clean).await;
    }
}
