//! What is signed for an update, and which drafts of a server are not.

use launchway_domain::build_number::BuildNumber;
use launchway_domain::version::Version;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Delegations, Header};

use super::*;
use crate::trust::fixture::{Fixture, NOW, production};

/// An update of version 1.0.0 with this build.
fn wanted(build: u64, fingerprint: &str) -> WantedTarget {
    let number = BuildNumber::from_value(build).expect("a number");
    let version = Version::parse("1.0.0").expect("a version");
    let manifest = Sha256::of(b"a list of files");
    WantedTarget {
        platform: Platform::Android,
        update: Update::new(version, number, Some(fingerprint.to_owned()), manifest),
        sha256: Sha256::of(&build.to_be_bytes()),
        length: 1000 + build,
    }
}

/// A repository whose role has signed these updates as version 2, and revoked one package.
async fn with(updates: &[WantedTarget]) -> Fixture {
    let mut fixture = Fixture::new().await;
    let mut body = Targets::default();
    for update in updates {
        let (sha256, length) = (update.sha256, update.length);
        body.publish(&production(), update.platform, &update.update, sha256, length);
    }
    body.revoke(Sha256::of(b"revoked")).expect("room");
    let header = Header {
        version: 2,
        expires: NOW + 180 * DAY,
        identity: Some(fixture.identity.clone()),
    };
    fixture.publish(&header, &body);
    fixture
}

fn unsigned(next: &NextVersion<Targets>) -> Metadata<Targets> {
    let text = Draft::new(&next.header, &next.body).to_text().expect("a short file");
    Metadata::parse(text.as_bytes()).expect("a role")
}

fn message(outcome: Result<impl Sized, Failure>) -> String {
    outcome.map(|_| ()).expect_err("refused").message
}

/// All updates count as published lately.
fn lately(_: &str) -> Option<EpochMs> {
    None
}

#[tokio::test]
async fn the_next_version_is_the_present_one_and_the_update() {
    let fixture = with(&[wanted(1, "a"), wanted(2, "a")]).await;
    let repository = fixture.verified();
    let next = compose(&repository, &production(), &[wanted(3, "a")], &lately).expect("the next version");
    assert_eq!(
        (next.header.version, next.header.expires),
        (3, NOW + UPDATE_ROLE_LIFETIME)
    );
    let paths: Vec<&str> = next.body.targets.keys().map(String::as_str).collect();
    let expected = [1, 2, 3].map(|build| format!("c-production/android/1.0.0_{build}.zip"));
    assert_eq!(paths, expected);
    assert_eq!(next.body.revoked, [Sha256::of(b"revoked")]);
    assert!(!is_listed(&repository, &production(), &wanted(3, "a")));
    assert!(is_listed(&repository, &production(), &wanted(2, "a")));
    check_draft(&repository, &production(), &[wanted(3, "a")], &unsigned(&next)).expect("exactly that");
}

#[tokio::test]
async fn what_must_not_be_signed_is_not_composed() {
    let many: Vec<_> = (11..=19).map(|build| wanted(build, "a")).collect();
    let fixture = with(&many).await;
    let repository = fixture.verified();
    let revoked = WantedTarget {
        sha256: Sha256::of(b"revoked"),
        ..wanted(20, "a")
    };
    let replaced = WantedTarget {
        sha256: Sha256::of(b"other"),
        ..wanted(19, "a")
    };
    let staging: UpdateRole = "c-staging".parse().expect("a role");
    let rows = [
        (production(), revoked, "was revoked"),
        (
            production(),
            replaced,
            "signed another package as c-production/android/1.0.0_19.zip",
        ),
        (production(), wanted(1, "a"), "is older than what c-production keeps"),
        (staging, wanted(20, "a"), "nobody signs for c-staging yet"),
    ];
    for (role, update, expected) in rows {
        let found = message(compose(&repository, &role, &[update], &lately));
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test]
async fn a_draft_that_does_anything_else_is_not_signed() {
    let fixture = with(&[wanted(1, "a"), wanted(2, "a")]).await;
    let repository = fixture.verified();
    let asked = [wanted(3, "a")];
    let honest = compose(&repository, &production(), &asked, &lately).expect("the next version");
    let path = |build: u64| wanted(build, "a").path(&production());
    type Change<'c> = Box<dyn Fn(&mut NextVersion<Targets>) + 'c>;
    let list = |next: &mut NextVersion<Targets>, update: &WantedTarget| {
        next.body.targets.insert(update.path(&production()), update.target());
    };
    let other_package = |build| WantedTarget {
        sha256: Sha256::of(b"evil"),
        ..wanted(build, "a")
    };
    let content = "does more than publish what was asked for";
    let rows: Vec<(&str, Change<'_>, &str)> = vec![
        ("another update", Box::new(|next| list(next, &wanted(4, "a"))), content),
        (
            "another package for it",
            Box::new(|next| list(next, &other_package(3))),
            content,
        ),
        (
            "another package for an old one",
            Box::new(|next| list(next, &other_package(1))),
            content,
        ),
        (
            "another native app",
            Box::new(|next| list(next, &wanted(3, "b"))),
            content,
        ),
        (
            "one less",
            Box::new(|next| drop(next.body.targets.remove(&path(1)))),
            content,
        ),
        (
            "not the update",
            Box::new(|next| drop(next.body.targets.remove(&path(3)))),
            content,
        ),
        (
            "a revocation",
            Box::new(|next| next.body.revoked.push(Sha256::of(b"good"))),
            content,
        ),
        ("a revocation less", Box::new(|next| next.body.revoked.clear()), content),
        (
            "a delegation",
            Box::new(|next| next.body.delegations = Some(Delegations::default())),
            "breaks a rule: `c-production` must not delegate",
        ),
        (
            "a version ahead",
            Box::new(|next| next.header.version += 1),
            "has version 4",
        ),
        (
            "years",
            Box::new(|next| next.header.expires += 900 * DAY),
            "is valid until ",
        ),
    ];
    for (what, change, expected) in rows {
        let mut draft = honest.clone();
        change(&mut draft);
        let found = message(check_draft(&repository, &production(), &asked, &unsigned(&draft)));
        assert!(found.contains(expected), "{what}: {found}");
    }
}

#[tokio::test]
async fn a_draft_may_drop_only_what_is_pruned() {
    // The oldest two are kept for their fingerprints.
    let mut updates: Vec<_> = (3..=11).map(|build| wanted(build, "new")).collect();
    updates.extend([wanted(1, "old"), wanted(2, "older")]);
    let fixture = with(&updates).await;
    let repository = fixture.verified();
    let asked = [wanted(12, "new")];
    let path = |build: u64| wanted(build, "new").path(&production());
    let all = compose(&repository, &production(), &asked, &lately).expect("the next version");
    let has = |next: &NextVersion<Targets>, build| next.body.targets.contains_key(&path(build));
    assert!(
        has(&all, 1) && has(&all, 2) && has(&all, 5) && !has(&all, 4),
        "{:?}",
        all.body.targets.keys()
    );
    check_draft(&repository, &production(), &asked, &unsigned(&all)).expect("the server keeps both");
    // The server knows that one of them was published long ago.
    let mut fewer = all.clone();
    fewer.body.targets.remove(&path(1));
    check_draft(&repository, &production(), &asked, &unsigned(&fewer)).expect("it was pruned");
    for build in [5, 8, 11] {
        let mut draft = all.clone();
        draft.body.targets.remove(&path(build));
        let found = message(check_draft(&repository, &production(), &asked, &unsigned(&draft)));
        assert!(found.contains("does more than publish"), "{build}: {found}");
    }
}
