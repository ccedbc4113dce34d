//! `kill -9` of the server in the middle of changes, as often as configured: a confirmed change is still there
//! afterwards, an unconfirmed one is there completely or not at all and can be requested again, and no partial update
//! is ever offered.

mod keys;
mod signatures;
mod updates;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use launchway_testing::answer::Answer;
use launchway_testing::wait::pass;
use reqwest::Method;
use serde_json::Value;

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};
use crate::dice::Dice;

/// The number of kills that hit a publish before its response, and that hit each of three other changes.
struct Wanted {
    publishes: u32,
    others: u32,
}

/// Three and three, in the regular run.
const SHORT: Wanted = Wanted {
    publishes: 3,
    others: 1,
};
/// Thirty and twenty-one; kills after the response are in addition.
const LONG: Wanted = Wanted {
    publishes: 30,
    others: 7,
};

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite_and_directory() {
    kill_again_and_again(Ground::SqliteDirectory, SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_and_s3() {
    kill_again_and_again(Ground::PostgresS3, SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn often_on_sqlite_and_directory() {
    kill_again_and_again(Ground::SqliteDirectory, LONG).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn often_on_postgres_and_s3() {
    kill_again_and_again(Ground::PostgresS3, LONG).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn signed_on_sqlite_and_directory() {
    kill_signed_publishes(Ground::SqliteDirectory).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn signed_on_postgres_and_s3() {
    kill_signed_publishes(Ground::PostgresS3).await;
}

async fn kill_signed_publishes(ground: Ground) {
    let mut killer = Killer::on(ground).await;
    killer.signed_publishes(LONG.publishes).await;
    println!("summary: kill -9 of signed updates on {ground}: {}", killer.summary());
}

async fn kill_again_and_again(ground: Ground, wanted: Wanted) {
    let mut killer = Killer::on(ground).await;
    let mut publishes = 0;
    for _ in 0..wanted.others {
        killer.key_creation().await;
        killer.revocation().await;
        killer.patch().await;
    }
    while publishes < wanted.publishes {
        let fate = killer.publish().await;
        publishes += u32::from(fate != Fate::Answered);
        assert!(
            killer.rounds < 500,
            "nearly every publish is answered before the kill: {}",
            killer.summary()
        );
    }
    killer.nothing_answered_is_lost().await;
    println!("summary: kill -9 on {ground}: {}", killer.summary());
}

/// The outcome of a change during which the server was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// It was confirmed before the kill.
    Answered,
    /// It was not confirmed, and took effect.
    Done,
    /// It was not confirmed, and had no effect.
    Undone,
}

/// A server that is killed and restarted, and what the test knows about it.
struct Killer {
    deployment: Deployment,
    api: Api,
    dice: Dice,
    rounds: u32,
    counts: BTreeMap<(&'static str, Fate), u32>,
    /// Records whose creation or change was confirmed, as in the last response.
    answered: Vec<Value>,
}

/// A change during which the server dies.
struct Change<'a> {
    method: Method,
    path: &'a str,
    body: Option<Value>,
    idempotency_key: Option<&'a str>,
}

impl Killer {
    async fn on(ground: Ground) -> Killer {
        let deployment = Deployment::with(ground, Turn::beside_others().await, |builder| builder);
        Killer {
            api: deployment.api(),
            deployment,
            dice: Dice::roll(),
            rounds: 0,
            counts: BTreeMap::new(),
            answered: Vec::new(),
        }
    }

    /// Starts the change, kills the server within `usual`, the usual duration of such a change, and restarts it.
    /// Returns the response if it arrived before the kill. It must be a success: a dying server has nothing to reject.
    async fn kill_during(&mut self, change: Change<'_>, usual: Duration) -> Option<Answer> {
        self.rounds += 1;
        let Change {
            method,
            path,
            body,
            idempotency_key,
        } = change;
        let delay = self.dice.below(usual);
        let call = self.api.try_call(method, path, body, idempotency_key);
        let server = &mut self.deployment.nodes[0];
        let kill = async {
            pass(delay).await;
            server.kill9();
        };
        let (answer, ()) = tokio::join!(call, kill);
        server.restart_same_port();
        let answer = answer.ok();
        if let Some(answer) = &answer {
            assert!(matches!(answer.status.as_u16(), 200 | 201), "{path}: {}", answer.text());
        }
        answer
    }

    /// The undisturbed duration of `work` plus a margin, so that some changes complete before the kill.
    async fn usual<T>(&mut self, work: impl AsyncFnOnce(&Api) -> T) -> (T, Duration) {
        let start = Instant::now();
        let result = work(&self.api).await;
        (result, start.elapsed() * 5 / 4)
    }

    fn count(&mut self, what: &'static str, fate: Fate) {
        *self.counts.entry((what, fate)).or_default() += 1;
    }

    fn summary(&self) -> String {
        let mut text = format!("{} kills", self.rounds);
        for ((what, fate), count) in &self.counts {
            let fate = match fate {
                Fate::Answered => "answered and there",
                Fate::Done => "unanswered and there",
                Fate::Undone => "unanswered and not there",
            };
            let _ = write!(text, "; {what} {fate}: {count}");
        }
        text
    }
}

/// The outcome of a change, from its response and from whether it took effect.
#[track_caller]
fn fate(answer: Option<&Answer>, is_there: bool) -> Fate {
    match (answer, is_there) {
        (Some(_), true) => Fate::Answered,
        (None, true) => Fate::Done,
        (None, false) => Fate::Undone,
        (Some(answer), false) => panic!("answered, and lost: {}", answer.text()),
    }
}
