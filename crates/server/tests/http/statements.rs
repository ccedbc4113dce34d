//! A list runs as many statements for fifty rows as for one: every list of the API, and every page of the dashboard.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use launchway_store::STATEMENTS;
use launchway_testing::traced::Traced;
use launchway_web::{dashboard, router};
use serde_json::json;

use crate::pages::page;
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, TestApp};
use rows::Lists;

/// The number of rows of a long list in these tests.
const MANY: usize = 50;

/// The cost of reading a path.
#[derive(Debug)]
struct Cost {
    status: u16,
    /// The rows of a response of the API.
    rows: usize,
    statements: Vec<String>,
}

/// Reads a path twice: the first time may fill caches and write collected data.
async fn cost(app: &TestApp, cookie: &str, path: &str, statements: &Traced) -> Cost {
    let read = || async {
        match path.starts_with("/o/") {
            true => page(app, path, cookie).await,
            false => app.get(cookie, path).await,
        }
    };
    read().await;
    statements.take();
    let answer = read().await;
    let items = match path.starts_with("/o/") {
        true => 0,
        false => answer.ok()["items"].as_array().unwrap().len(),
    };
    Cost { status: answer.status.as_u16(), rows: items, statements: without_totals(statements.take()) }
}

/// Removes one statement of each list's total: only a page that is full asks for it.
fn without_totals(statements: Vec<String>) -> Vec<String> {
    let mut totals = BTreeSet::new();
    let mut is_first_total =
        |statement: &String| statement.contains("FROM list_totals") && totals.insert(statement.clone());
    statements.into_iter().filter_map(|statement| (!is_first_total(&statement)).then_some(statement)).collect()
}

/// Every list of the API: the endpoints that accept an offset and a limit.
fn api_lists(lists: &Lists) -> Vec<String> {
    let document = serde_json::to_value(router::openapi_document()).unwrap();
    let mut paths = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        let names: Vec<_> = parameters.filter_map(|parameter| parameter["name"].as_str()).collect();
        // The drafts of an app are few, and have a test of their own below.
        let is_long = names.contains(&"offset") && names.contains(&"limit") && path != "/trust/drafts";
        if is_long {
            let of = match path.as_str() {
                "/webhooks/deliveries" => format!("&id={}", lists.webhook),
                _ => String::new(),
            };
            paths.push(format!("{path}?limit=100&orgId={}{of}", lists.org));
        }
    }
    paths
}

/// Every page of the dashboard, with the ids of rows that exist from the start. Endless pages, and those that name two
/// resources, are left out: they have no lists of their own.
async fn pages(app: &TestApp, lists: &Lists) -> Vec<String> {
    let mut paths = Vec::new();
    for page in dashboard::pages() {
        let path = page.path;
        let is_endless = path.ends_with("/live") || path.ends_with("/log/stream");
        if is_endless || path.contains("{artifact}") || path.contains("{delivery}") {
            continue;
        }
        let mut path = path.replace("{org}", &lists.org.to_string());
        if path.contains("{id}") {
            let thing = path.split('/').nth(3).unwrap_or_default();
            let id = match lists.ids.get(thing) {
                Some(id) => id.clone(),
                None => {
                    let list = match thing {
                        "builds" => "/build".to_owned(),
                        "invitations" | "members" => format!("/orgs/{thing}"),
                        "profile" => "/auth/sessions".to_owned(),
                        thing => format!("/{thing}"),
                    };
                    let items = app.get(&lists.cookie, &format!("{list}?orgId={}", lists.org)).await.ok();
                    items["items"][0].id().to_owned()
                }
            };
            path = path.replace("{id}", &id);
        }
        paths.push(path);
    }
    paths
}

/// How many more times each statement runs in `after` than in `before`.
fn added(before: &[String], after: &[String]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for (statements, each) in [(before, -1), (after, 1)] {
        for statement in statements {
            *counts.entry(statement.clone()).or_default() += each;
        }
    }
    counts.retain(|_, count| *count != 0);
    counts
}

#[tokio::test]
async fn a_list_of_fifty_costs_as_many_statements_as_of_one() {
    // The service of a test runs on the test's own thread.
    let statements = Traced::of(STATEMENTS);
    let app = TestApp::start().await;
    let mut lists = Lists::new(&app).await;
    let (api, pages) = (api_lists(&lists), pages(&app, &lists).await);
    assert!(api.len() >= 16, "{api:?}");
    let mut before = Vec::new();
    for path in api.iter().chain(&pages) {
        before.push(cost(&app, &lists.cookie, path, &statements).await);
    }
    let read: Vec<_> = before.iter().filter(|cost| cost.status == 200).collect();
    assert!(read.len() > api.len() + 20, "{}", read.len());
    assert!(read.iter().all(|cost| !cost.statements.is_empty()), "the session alone costs some");
    lists.grow(&app, MANY).await;
    let mut failures = Vec::new();
    for (path, before) in api.iter().chain(&pages).zip(before) {
        let after = cost(&app, &lists.cookie, path, &statements).await;
        assert_eq!(after.status, before.status, "{path}");
        let is_list = !path.starts_with("/o/");
        let has_grown = (1..MANY).contains(&before.rows) && after.rows >= MANY;
        assert!(!is_list || has_grown, "{path}: {} to {}", before.rows, after.rows);
        if after.statements.len() > before.statements.len() {
            failures.push(format!("{path}: {:#?}", added(&before.statements, &after.statements)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn an_app_of_many_roles_costs_as_many_statements_as_of_one() {
    let statements = Traced::of(STATEMENTS);
    let mut counts = Vec::new();
    for roles in [1, 3] {
        let stage = Stage::new().await;
        let names: Vec<_> = (0..roles).map(|number| format!("role-{number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        stage.developers(&names).await;
        // One that waits makes the draft of its role.
        for name in &names {
            stage.published(&stage.key, json!({"bundleId": BUNDLE, "configuration": name})).await;
        }
        let trust = format!("/trust?bundleId={BUNDLE}");
        assert_eq!(stage.get(&stage.key, &trust).await.ok()["drafts"].as_array().unwrap().len(), roles);
        let check = format!("/update/check/{BUNDLE}?currentVersion=1.0.0&deviceId=a");
        for path in [trust, format!("/trust/drafts?bundleId={BUNDLE}"), check] {
            // The first time may fill caches and write collected data.
            for _ in 0..2 {
                statements.take();
                stage.get(&stage.key, &path).await.ok();
            }
            counts.push(statements.take().len());
        }
    }
    let (one, many) = counts.split_at(3);
    assert_eq!(one, many);
    assert!(one[0] > 0 && one[2] == 0, "{one:?}");
}
