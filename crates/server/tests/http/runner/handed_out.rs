//! What a lease hands out: the credentials of the source's repository, and the caches of builds that trust each other.

use launchway_domain::build::SourceRecord;
use serde_json::json;

use crate::support::{Fields, TestApp};

fn git(url: &str, reference: &str) -> SourceRecord {
    SourceRecord::Git { url: url.to_owned(), reference: reference.to_owned() }
}

fn archive() -> SourceRecord {
    SourceRecord::Archive {
        blob_key: "sources/x".to_owned(),
        file_name: "app.zip".to_owned(),
        size: 1,
        sha256: "0".repeat(64),
    }
}

#[tokio::test]
async fn what_opens_a_repository_is_leased_for_a_repository_alone() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    for name in ["LAUNCHWAY_GIT_TOKEN", "LAUNCHWAY_GIT_SSH_KEY", "LAUNCHWAY_GIT_SSH_KNOWN_HOSTS", "OTHER"] {
        app.post(&key, "/env", json!({"name": name, "value": "hunter2"})).await.created();
    }
    let git = |url: &str| git(url, "main");
    let ours = || git("https://git.example.com/team/app.git");
    let leased = async |source| {
        app.queue(org, |build| build.spec.source = source).await;
        let held = app.take(&runner).await;
        let names = held.lease["env"].as_array().unwrap().iter();
        let mut names: Vec<_> = names.map(|variable| variable.text("name").to_owned()).collect();
        names.sort();
        names
    };
    // The credentials are not bound to any repositories yet.
    assert_eq!(leased(ours()).await, ["LAUNCHWAY_GIT_SSH_KNOWN_HOSTS", "OTHER"]);
    let set = async |urls: &str| {
        let body = json!({"name": "LAUNCHWAY_GIT_URLS", "value": urls, "visibility": "plain"});
        app.post(&key, "/env", body).await
    };
    let answer = set("git.example.com/team/ https://").await;
    let problem = "value: `https://` is not the start of a repository's address, such as github.com/acme/app, \
                   https://github.com/acme/ or git@github.com:acme/app.git";
    answer.refused(400, problem);
    set("git.example.com/team/").await.created();
    let all = [
        "LAUNCHWAY_GIT_SSH_KEY",
        "LAUNCHWAY_GIT_SSH_KNOWN_HOSTS",
        "LAUNCHWAY_GIT_TOKEN",
        "LAUNCHWAY_GIT_URLS",
        "OTHER",
    ];
    for source in [ours(), git("https://GIT.example.com:443/team/app"), git("git@git.example.com:team/app")] {
        assert_eq!(leased(source).await, all);
    }
    for source in [
        git("https://evil.example/team/app.git"),
        git("https://git.example.com.evil.example/team/app.git"),
        git("https://git.example.com./team/app.git"),
        git("https://git.example.com:8443/team/app.git"),
        git("https://git.example.com/evil/app.git"),
        git("https://git.example.com/team/../evil/app.git"),
        git("git@evil.example:team/app.git"),
    ] {
        let shown = format!("{source:?}");
        let names = leased(source).await;
        let without_credentials = ["LAUNCHWAY_GIT_SSH_KNOWN_HOSTS", "LAUNCHWAY_GIT_URLS", "OTHER"];
        assert_eq!(names, without_credentials, "{shown}");
    }
    assert_eq!(leased(archive()).await, ["OTHER"]);
}

#[tokio::test]
async fn caches_are_shared_by_builds_that_trust_each_other() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let git = |reference: &str| git("https://example.com/app.git", reference);
    let parent = app.queue(org, |_| ()).await;
    app.take(&runner).await;
    let mut scopes = Vec::new();
    let (of_source, of_request) = (None, Some("request"));
    for (source, plan, configuration, by, parent) in [
        (git("main"), of_source, "production", "key_1", None),
        (git("main"), of_source, "production", "key_2", Some(parent)),
        (git("pull/7/head"), of_source, "production", "key_1", None),
        (git("main"), of_source, "preview", "key_1", None),
        (archive(), of_source, "production", "key_1", None),
        (archive(), of_request, "production", "key_1", None),
        (archive(), of_source, "production", "key_2", None),
        // An upload by another key, retried.
        (archive(), of_source, "production", "key_1", Some(parent)),
        // The request brought its own steps, whatever the ref.
        (git("main"), of_request, "production", "key_1", None),
        (git("main"), of_request, "production", "key_2", None),
        // Steps of a request by another key, retried.
        (git("main"), of_request, "production", "key_1", Some(parent)),
    ] {
        app.queue(org, |build| {
            build.spec.source = source;
            build.plan_origin = plan.map(str::to_owned);
            build.plan = build.plan.take().filter(|_| plan.is_some());
            build.configuration = Some(configuration.parse().unwrap());
            build.created_by = by.to_owned();
            build.parent_id = parent;
        })
        .await;
        app.advance(1);
        let held = app.take(&runner).await;
        scopes.push(held.lease.text("cacheScope").to_owned());
    }
    let (first, same) = (scopes.remove(0), scopes.remove(0));
    assert_eq!(first, same);
    let uploads = scopes.remove(2);
    assert_eq!(uploads, scopes[2]);
    scopes.push(first);
    let count = scopes.len();
    scopes.sort();
    scopes.dedup();
    assert_eq!(scopes.len(), count, "{scopes:?}");
}
