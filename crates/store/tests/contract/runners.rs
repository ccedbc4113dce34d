//! Runners: enrolled with a token that works once, found by their own token, revoked at once.

use std::collections::HashMap;

use launchway_domain::build::Runner;
use launchway_domain::id::OrgId;

use crate::records::{ALL, NOW, an_org, new_id, unique};

/// A runner, not stored yet.
pub fn new_runner(org: Option<OrgId>) -> Runner {
    Runner {
        id: new_id(),
        org_id: org,
        name: unique("mac"),
        labels: vec!["os=macos".to_owned(), "xcode=26".to_owned()],
        slots: 2,
        version: "0.1.0".to_owned(),
        created_by: "operator".to_owned(),
        created_at: NOW,
        last_seen_at: NOW,
        revoked_at: None,
    }
}

contract! {
    async fn a_token_lets_one_runner_in(db: &TestDb) {
        let org = an_org(db).await.id;
        system_writes!(db, create_runner_token("own", Some(org), "operator", NOW, NOW + 10));
        system_writes!(db, create_runner_token("shared", None, "operator", NOW, NOW + 10));
        system_writes!(db, create_runner_token("old", Some(org), "operator", NOW, NOW + 5));
        assert!(system_reads!(db, is_valid_runner_token("own", NOW + 9)));
        assert!(!system_reads!(db, is_valid_runner_token("own", NOW + 10)));
        assert!(!system_reads!(db, is_valid_runner_token("none", NOW)));
        assert_eq!(system_writes!(db, use_runner_token("own", NOW + 9)), Some((Some(org), "operator".to_owned())));
        assert_eq!(system_writes!(db, use_runner_token("own", NOW + 9)), None);
        assert_eq!(system_writes!(db, use_runner_token("shared", NOW + 9)), Some((None, "operator".to_owned())));
        assert_eq!(system_writes!(db, use_runner_token("old", NOW + 5)), None);
        assert_eq!(system_writes!(db, use_runner_token("none", NOW)), None);
        system_writes!(db, create_runner_token("late", Some(org), "operator", NOW, NOW + 5));
        system_writes!(db, forget_runner_tokens(NOW + 5));
        assert_eq!(system_writes!(db, use_runner_token("late", NOW)), None);
    }

    async fn one_of_many_uses_a_token(db: &TestDb) {
        system_writes!(db, create_runner_token("once", None, "operator", NOW, NOW + 10));
        let used = db
            .at_once(8, |db, _| async move { system_writes!(db, use_runner_token("once", NOW)).is_some() })
            .await;
        assert_eq!(used.into_iter().filter(|used| *used).count(), 1);
    }

    async fn a_runner_is_found_by_its_token_until_it_is_shut_out(db: &TestDb) {
        let org = an_org(db).await.id;
        let (own, shared) = (new_runner(Some(org)), new_runner(None));
        system_writes!(db, create_runner(&own, "own token"));
        system_writes!(db, create_runner(&shared, "shared token"));
        assert_eq!(system_reads!(db, runner_by_token("own token")), Some(own.clone()));
        assert_eq!(system_reads!(db, runner_by_token("shared token")), Some(shared.clone()));
        assert_eq!(system_reads!(db, runner_by_token("no token")), None);
        assert_eq!(org_reads!(db, org, runners(ALL)).items, std::slice::from_ref(&own));
        assert_eq!(org_reads!(db, org, runner(own.id)), Some(own.clone()));
        assert_eq!(org_reads!(db, org, runner(shared.id)), None);
        let names = HashMap::from([(own.id, own.name.clone()), (shared.id, shared.name.clone())]);
        assert_eq!(org_reads!(db, org, runner_names(&[own.id, new_id(), shared.id, own.id])), names);
        assert_eq!(org_reads!(db, org, runner_names(&[])), HashMap::new());
        let labels = vec!["os=macos".to_owned(), "xcode=27".to_owned()];
        system_writes!(db, note_runner(own.id, &labels, "0.2.0", NOW + 100));
        assert_eq!(org_reads!(db, org, live_runner_labels(NOW + 100, None, 9)), std::slice::from_ref(&labels));
        assert_eq!(org_reads!(db, org, live_runner_labels(NOW, None, 9)), [shared.labels.clone(), labels.clone()]);
        let told = Runner { labels, version: "0.2.0".to_owned(), last_seen_at: NOW + 100, ..own.clone() };
        assert_eq!(system_reads!(db, runner_by_token("own token")), Some(told));
        assert!(org_writes!(db, org, revoke_runner(own.id, NOW + 200)));
        assert!(!org_writes!(db, org, revoke_runner(own.id, NOW + 300)));
        assert!(!org_writes!(db, org, revoke_runner(shared.id, NOW)));
        assert_eq!(system_reads!(db, runner_by_token("own token")), None);
        assert_eq!(org_reads!(db, org, runner(own.id)).unwrap().revoked_at, Some(NOW + 200));
        assert_eq!(org_reads!(db, org, live_runner_labels(0, None, 9)), [shared.labels]);
        assert_eq!(system_reads!(db, any_runner(own.id)).unwrap().revoked_at, Some(NOW + 200));
        assert_eq!(system_reads!(db, any_runner(new_id())), None);
    }

    async fn the_labels_of_live_runners_come_in_pages(db: &TestDb) {
        let org = an_org(db).await.id;
        for labels in ["", "a=1", "a=1 b=2", "b=2", "a=1", ""] {
            let labels = labels.split_whitespace().map(str::to_owned).collect();
            let runner = Runner { labels, ..new_runner(Some(org)) };
            system_writes!(db, create_runner(&runner, &runner.name));
        }
        let mut pages = vec![org_reads!(db, org, live_runner_labels(NOW, None, 2))];
        while let Some(last) = pages[pages.len() - 1].last().cloned() {
            pages.push(org_reads!(db, org, live_runner_labels(NOW, Some(last.as_slice()), 2)));
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 0]);
        let lists: Vec<_> = pages.concat().iter().map(|labels| labels.join(",")).collect();
        assert_eq!(lists, ["", "a=1", "a=1,b=2", "b=2"], "each list once");
    }

    async fn a_runner_comes_back_under_another_token(db: &TestDb) {
        let org = an_org(db).await.id;
        let runner = new_runner(Some(org));
        system_writes!(db, create_runner(&runner, "old token"));
        assert!(org_writes!(db, org, revoke_runner(runner.id, NOW)));
        system_writes!(db, readmit_runner(runner.id, None, "new token"));
        assert_eq!(system_reads!(db, runner_by_token("old token")), None);
        let back = Runner { org_id: None, ..runner };
        assert_eq!(system_reads!(db, runner_by_token("new token")), Some(back));
    }
}
