//! `kill -9` of servers while events occur and are delivered, to receivers of which three in ten fail at first: no
//! event is lost, each keeps its id, and one arrives twice only if a kill loses the report of its delivery.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use launchway_testing::postgres::Postgres;
use launchway_testing::receiver::{Receiver, Reply};
use launchway_testing::says::Fields;
use launchway_testing::wait::{pass, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{publish, to_the_loopback, webhook};
use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn, team};
use crate::dice::Dice;

/// The maximum number of concurrent deliveries of a server: a kill can lose this many reports.
const ON_THEIR_WAY: usize = 64;
/// Deliveries interrupted by a kill are retried after half a minute; on a slow machine everything takes longer.
const LIMIT: Duration = Duration::from_secs(300);

/// The size of a run.
struct Wanted {
    teams: usize,
    events_of_each: usize,
    kills: usize,
}

/// Two hundred events, in the regular run.
const SHORT: Wanted = Wanted {
    teams: 10,
    events_of_each: 20,
    kills: 2,
};
/// Ten thousand.
const LONG: Wanted = Wanted {
    teams: 20,
    events_of_each: 500,
    kills: 6,
};

#[tokio::test(flavor = "multi_thread")]
async fn on_sqlite() {
    nothing_is_lost(Ground::SqliteDirectory, &SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_two_nodes_with_postgres() {
    nothing_is_lost(Ground::PostgresS3, &SHORT).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn ten_thousand_events_on_sqlite() {
    nothing_is_lost(Ground::SqliteDirectory, &LONG).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn ten_thousand_events_on_two_nodes_with_postgres() {
    nothing_is_lost(Ground::PostgresS3, &LONG).await;
}

/// What a receiver observed of one event.
#[derive(Default)]
struct Seen {
    /// The ids that it arrived with: one, if all is well.
    ids: Vec<String>,
    /// How often it was accepted with 204.
    taken: usize,
    /// How often it was refused.
    refused: usize,
}

/// What receivers observed, by the team and the text that identifies an event of it.
type Log = Arc<Mutex<HashMap<(usize, String), Seen>>>;

/// The receiver of one team. A failing one refuses each event at its first attempt.
async fn receiver(team: usize, log: Log) -> Receiver {
    let fails = team % 10 < 3;
    Receiver::start(move |request, _| {
        let event = request.json();
        let words = event["data"].text("releaseNotes").to_owned();
        let mut log = log.lock().unwrap();
        let seen = log.entry((team, words)).or_default();
        let id = request.header("webhook-id").to_owned();
        if !seen.ids.contains(&id) {
            seen.ids.push(id);
        }
        if fails && seen.refused == 0 {
            seen.refused += 1;
            Reply::status(500)
        } else {
            seen.taken += 1;
            Reply::status(204)
        }
    })
    .await
}

/// Creates events, one for each number, and repeats each request until it is answered: a change that took effect
/// already creates none.
async fn make_events(apis: Vec<Api>, team: usize, update: String, count: usize) {
    let path = format!("/update?id={update}");
    for number in 0..count {
        let body = json!({"releaseNotes": words(number)});
        let asking = ask_until_answered(&apis[team % apis.len()], &path, &body);
        let answered = tokio::time::timeout(LIMIT, asking).await;
        answered.unwrap_or_else(|_| panic!("after {LIMIT:?} a change is still not answered"));
    }
}

async fn ask_until_answered(api: &Api, path: &str, body: &Value) {
    loop {
        let answer = api.try_call(Method::PATCH, path, Some(body.clone()), None).await;
        if answer.is_ok_and(|answer| answer.status == 200) {
            return;
        }
        pass(Duration::from_millis(5)).await;
    }
}

fn words(number: usize) -> String {
    format!("change {number}")
}

async fn nothing_is_lost(ground: Ground, wanted: &Wanted) {
    let turn = Turn::beside_others().await;
    let mut deployment = match ground {
        Ground::SqliteDirectory => Deployment::with(ground, turn, to_the_loopback),
        Ground::PostgresS3 => Deployment::on_database(&Postgres::shared().fresh_database(), 2, turn, to_the_loopback),
    };
    let log = Log::default();
    let (mut receivers, mut ready) = (Vec::new(), Vec::new());
    for number in 0..wanted.teams {
        let key = team(deployment.node()).key;
        let apis: Vec<Api> = deployment.nodes.iter().map(|node| Api::new(node, &key)).collect();
        let update = publish(&apis[0], &format!("com.example.told{number}")).await;
        let receiver = receiver(number, log.clone()).await;
        webhook(&apis[0], &receiver.url("/"), "update.changed").await;
        receivers.push(receiver);
        ready.push((apis, update.id().to_owned()));
    }
    let mut making = JoinSet::new();
    for (number, (apis, update)) in ready.into_iter().enumerate() {
        making.spawn(make_events(apis, number, update, wanted.events_of_each));
    }
    let all = wanted.teams * wanted.events_of_each;
    let taken = || log.lock().unwrap().values().filter(|seen| seen.taken > 0).count();
    let start = Instant::now();
    let mut dice = Dice::roll();
    for kill in 0..wanted.kills {
        // Spread over the whole run: after each part of the events has arrived, and a random moment.
        let part = all * kill / wanted.kills;
        until(LIMIT, "events arrive", async || (taken() > part).then_some(())).await;
        pass(dice.below(Duration::from_millis(500))).await;
        let node = kill % deployment.nodes.len();
        deployment.nodes[node].kill9();
        deployment.nodes[node].restart_same_port();
    }
    while let Some(made) = making.join_next().await {
        made.unwrap();
    }
    until(LIMIT, "every event has arrived", async || {
        (taken() == all).then_some(())
    })
    .await;
    let took = start.elapsed();
    // All deliveries in flight arrive before the log is read.
    for node in &mut deployment.nodes {
        assert_eq!(node.terminate().code(), Some(0), "{}", node.stderr());
    }

    let log = log.lock().unwrap();
    assert_eq!(log.len(), all, "an event that nobody made");
    let (mut twice, mut refused) = (0, 0);
    for team in 0..wanted.teams {
        for number in 0..wanted.events_of_each {
            let seen = &log[&(team, words(number))];
            assert_eq!(
                seen.ids.len(),
                1,
                "{} of team {team} has several ids: {:?}",
                words(number),
                seen.ids
            );
            twice += seen.taken - 1;
            refused += seen.refused;
        }
    }
    let mut ids: Vec<&String> = log.values().flat_map(|seen| &seen.ids).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "two events have the same id");
    assert!(twice <= ON_THEIR_WAY * wanted.kills, "{twice} came twice");
    println!(
        "summary: webhooks on {ground}, {} nodes: {all} events, {refused} refused at first, {} kills, 0 lost, {twice} came \
         twice, {} s",
        deployment.nodes.len(),
        wanted.kills,
        took.as_secs()
    );
}
