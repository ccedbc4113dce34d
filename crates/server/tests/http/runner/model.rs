//! Leases and fencing under random interleavings, over HTTP: several runners lease, renew, log, finish, repeat
//! themselves and fall silent, builds are canceled, and leases expire, all concurrently. Afterwards no attempt belonged
//! to two runners, no build left a final state, and every acknowledged byte of a log is stored once and in order.
//!
//! The setting `LAUNCHWAY_TEST_SEED` repeats a run, `MODEL_STEPS` makes it longer.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use launchway_domain::build::{Build, BuildStatus, Transition};
use launchway_domain::id::BuildId;
use launchway_domain::time::SECOND;
use launchway_jobs::expire_leases::expire_leases;
use launchway_testing::settings::setting;
use serde_json::json;

use crate::stage::runners::{Held, Runner};
use crate::support::TestApp;

const RUNNERS: usize = 4;
const BUILDS: usize = 6;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// What the server accepted.
#[derive(Default)]
struct Seen {
    /// The runner of each attempt, according to its lease.
    holders: HashMap<(String, u64), usize>,
    /// The final states that were observed.
    ends: HashMap<BuildId, (BuildStatus, u32)>,
    /// The acknowledged lines, by build.
    lines: HashMap<String, Vec<String>>,
}

impl Seen {
    fn holds(&mut self, id: &str, attempt: u64, runner: usize) {
        let holder = *self.holders.entry((id.to_owned(), attempt)).or_insert(runner);
        assert_eq!(holder, runner, "attempt {attempt} of {id} was two runners'");
    }

    fn looks(&mut self, build: &Build) {
        let state = &build.state;
        if let Some(end) = self.ends.get(&build.id) {
            assert_eq!(*end, (state.status, state.attempt), "{} left its end", build.id);
        } else if state.status.is_final() {
            self.ends.insert(build.id, (state.status, state.attempt));
        }
    }
}

/// The random actions of one runner; it continues with every build that it ever leased, whoever has it by now.
async fn work(app: &TestApp, number: usize, runner: &Runner, seen: &Mutex<Seen>, seed: u64, steps: usize) {
    let mut dice = Dice(seed);
    let mut had: Vec<(Held<'_>, u64)> = Vec::new();
    for step in 0..steps {
        if had.is_empty() || dice.below(4) == 0 {
            let lease = app.ask(runner).await;
            if let Some(id) = lease["buildId"].as_str() {
                let (id, attempt) = (id.to_owned(), lease["attempt"].as_u64().unwrap());
                seen.lock().unwrap().holds(&id, attempt, number);
                let offset = lease["logOffset"].as_u64().unwrap();
                let held = Held { app, token: &runner.token, id, attempt, lease };
                had.push((held, offset));
            }
            continue;
        }
        let pick = dice.below(had.len() as u64) as usize;
        let (held, offset) = &mut had[pick];
        let accepted = match dice.below(8) {
            0 => {
                let (status, error) = match dice.below(3) {
                    0 => ("failed", json!({"code": "STEP_FAILED", "phase": null, "message": "x"})),
                    1 => ("canceled", json!(null)),
                    _ => ("success", json!(null)),
                };
                let answer = held.finish(json!({"status": status, "error": error, "logSize": *offset})).await.status;
                assert!(answer == 200 || answer == 400, "{answer}");
                answer == 200
            }
            1..=4 => {
                let line = format!("{number} {step} {}\n", held.attempt);
                let answer = held.log(*offset as usize, line.clone()).await;
                assert!(answer.status == 200 || answer.status == 400, "{}", answer.text());
                if answer.status == 200 {
                    assert_eq!(answer.json()["logOffset"], *offset + line.len() as u64);
                    *offset += line.len() as u64;
                    seen.lock().unwrap().lines.entry(held.id.clone()).or_default().push(line);
                }
                answer.status == 200
            }
            _ => {
                let answer = held.renew().await.status;
                assert!(answer == 200 || answer == 400, "{answer}");
                answer == 200
            }
        };
        if accepted {
            seen.lock().unwrap().holds(&held.id, held.attempt, number);
        }
    }
}

/// The actions of others: time passes, leases expire, builds are canceled. Checks that no final state is left.
async fn meddle(app: &TestApp, builds: &[BuildId], seen: &Mutex<Seen>, seed: u64, steps: usize) {
    let mut dice = Dice(seed);
    for _ in 0..steps {
        let id = builds[dice.below(builds.len() as u64) as usize];
        match dice.below(8) {
            0..=3 => app.advance(dice.below(40) as i64 * SECOND),
            4..=5 => {
                expire_leases(&app.app).await.unwrap();
            }
            6 => cancel(app, id).await,
            _ => {}
        }
        let build = app.build(id).await;
        seen.lock().unwrap().looks(&build);
    }
}

async fn cancel(app: &TestApp, id: BuildId) {
    let org = app.build(id).await.org_id;
    let mut tx = app.app.db.write().await.unwrap();
    let build = tx.org(org).lock_build(id).await.unwrap().unwrap();
    if let Ok((to, _)) = build.state.apply(Transition::Cancel, app.app.clock.now()) {
        let moved = tx.org(org).set_build_state(id, &build.state, &to, &Default::default()).await;
        assert!(moved.unwrap());
    }
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_has_one_runner_and_each_end_stays() {
    let steps = setting("MODEL_STEPS").map_or(60, |steps| steps.parse().expect("MODEL_STEPS is a number"));
    let seed = setting("LAUNCHWAY_TEST_SEED").map(|seed| seed.parse().expect("LAUNCHWAY_TEST_SEED is a number"));
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one("seed"));
    println!("LAUNCHWAY_TEST_SEED={seed}");
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let mut runners = Vec::new();
        for _ in 0..RUNNERS {
            runners.push(app.runner(&key, &["os=linux"]).await);
        }
        let mut builds = Vec::new();
        for _ in 0..BUILDS {
            builds.push(app.queue(org, |_| ()).await);
        }
        let seen = Mutex::new(Seen::default());
        let mut dice = Dice(seed);
        let seeds: Vec<_> = (0..RUNNERS).map(|_| dice.below(u64::MAX)).collect();
        let working =
            runners.iter().enumerate().map(|(number, runner)| work(&app, number, runner, &seen, seeds[number], steps));
        let meddling = meddle(&app, &builds, &seen, dice.below(u64::MAX), steps);
        tokio::join!(futures::future::join_all(working), meddling);
        // Silences runners until no build is running.
        for _ in 0..4 {
            app.advance(91 * SECOND);
            expire_leases(&app.app).await.unwrap();
        }
        let seen = seen.into_inner().unwrap();
        for id in &builds {
            let build = app.build(*id).await;
            assert_ne!(build.state.status, BuildStatus::Running);
            if let Some(end) = seen.ends.get(id) {
                assert_eq!(*end, (build.state.status, build.state.attempt), "{id} left its end");
            }
            let log = String::from_utf8(app.log(*id).await).unwrap();
            let own: Vec<_> = log.split_inclusive('\n').filter(|line| !line.starts_with("==> ")).collect();
            let mut told = seen.lines.get(&id.to_string()).cloned().unwrap_or_default();
            // Lines of several attempts came from several runners: their order is defined only within an attempt.
            told.sort_by_key(|line| line.trim().rsplit(' ').next().unwrap().parse::<u64>().unwrap());
            assert_eq!(own, told, "{id}");
            assert_eq!(build.log_size as usize, log.len());
        }
        assert!(!seen.holders.is_empty());
    }
}
