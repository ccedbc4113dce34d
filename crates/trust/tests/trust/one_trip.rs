//! Everything newer in one response.

use launchway_domain::time::DAY;
use launchway_trust::client::{AnnouncedVersions, Client};
use launchway_trust::one_trip::{MAX_ROOTS_OF_ANSWER, Progress, TrustAnswer};
use launchway_trust::workflow::FileRequest;

use crate::repository::{NOW, Repository, outcome, production};

/// The response of a server to a client: at most sixteen roots, and all other files.
fn answer(repository: &Repository, client: &Client) -> TrustAnswer {
    let text = |name: String| repository.files.get(&name).cloned();
    let next = client.metadata().root().version() + 1;
    let roots = (next..).map_while(|version| text(format!("{version}.root.json")));
    TrustAnswer {
        roots: roots.take(MAX_ROOTS_OF_ANSWER).collect(),
        timestamp: text(repository.name_of("timestamp")),
        snapshot: text(repository.name_of("snapshot")),
        targets: text(repository.name_of("targets")),
        delegated: [(
            "c-production".to_owned(),
            text(repository.name_of("c-production")).unwrap(),
        )]
        .into(),
    }
}

#[test]
fn one_answer_brings_everything() {
    let mut repository = Repository::new();
    repository.sign_root(&[]);
    let mut client = repository.client();
    let answer = answer(&repository, &client);
    assert_eq!(client.refresh(NOW).take_answer(&answer), Ok(Progress::Done));
    assert_eq!(client.metadata().root().version(), 2);
    assert!(client.metadata().role("c-production").is_some());
    assert_eq!(TrustAnswer::parse(answer.to_json().as_bytes()), Ok(answer));
}

#[test]
fn who_has_many_roots_to_go_asks_again() {
    let mut repository = Repository::new();
    for _ in 0..20 {
        repository.sign_root(&[]);
    }
    let mut client = repository.client();
    let first = answer(&repository, &client);
    assert_eq!(client.refresh(NOW).take_answer(&first), Ok(Progress::AskAgain));
    assert_eq!(client.metadata().root().version(), 17);
    let second = answer(&repository, &client);
    assert_eq!(client.refresh(NOW).take_answer(&second), Ok(Progress::Done));
    assert_eq!(client.metadata().root().version(), 21);
}

#[test]
fn what_an_answer_lacks_is_fetched() {
    let repository = Repository::new();
    let mut client = repository.client();
    let mut answer = answer(&repository, &client);
    answer.targets = None;
    let mut refresh = client.refresh(NOW);
    let lacks = refresh.take_answer(&answer).unwrap();
    assert_eq!(lacks, Progress::Lacks(FileRequest::Targets { version: 1 }));
    refresh.take(repository.files["1.targets.json"].as_bytes()).unwrap();
    assert_eq!(refresh.take_answer(&answer), Ok(Progress::Done));
}

#[test]
fn an_answer_is_trusted_no_more_than_files() {
    let repository = Repository::new();
    let mut client = repository.client();
    let mut answer = answer(&repository, &client);
    let role = answer.delegated.get_mut("c-production").unwrap();
    *role = role.replace("1.1.0", "1.1.1");
    let refused = outcome(client.refresh(NOW).take_answer(&answer));
    assert_eq!(refused, "c-production too-few-signatures");
    assert!(client.metadata().targets().is_some());
}

#[test]
fn answers_of_another_form_are_refused() {
    let too_many = format!("{{\"roots\":[{}\"\"]}}", "\"\",".repeat(MAX_ROOTS_OF_ANSWER));
    for text in [
        "",
        "[]",
        "{\"roots\":1}",
        "{\"timestamp\":{}}",
        "{\"delegated\":{\"any\":1}}",
        &too_many,
    ] {
        assert!(TrustAnswer::parse(text.as_bytes()).is_err(), "{text}");
    }
    assert_eq!(TrustAnswer::parse(b"{\"later\":1}"), Ok(TrustAnswer::default()));
}

#[test]
fn metadata_is_fetched_when_it_is_newer_and_once_a_day() {
    let mut repository = Repository::new();
    let mut client = repository.client();
    let none = AnnouncedVersions { root: 1, snapshot: 0 };
    assert!(!client.is_behind(none, NOW, NOW));
    assert!(client.is_behind(AnnouncedVersions { snapshot: 1, ..none }, NOW, NOW));
    repository.refresh(&mut client).unwrap();
    let snapshot = client.metadata().snapshot().unwrap().version();
    let announced = AnnouncedVersions { root: 1, snapshot };
    assert!(!client.is_behind(announced, NOW, NOW + DAY - 1));
    assert!(client.is_behind(announced, NOW, NOW + DAY));
    assert!(client.is_behind(announced, NOW, NOW - 1));
    assert!(client.is_behind(AnnouncedVersions { root: 2, snapshot }, NOW, NOW));
    repository.sign_role(&production());
    repository.publish();
    assert!(client.is_behind(
        AnnouncedVersions {
            root: 1,
            snapshot: snapshot + 1
        },
        NOW,
        NOW
    ));
}
