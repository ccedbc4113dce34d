//! Reading the data of the index: one bundle or all, and fingerprint documents.

use launchway_domain::configuration::Configuration;
use launchway_domain::fingerprint::Fingerprint;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{OfferedUpdate, RetiredUpdate};

use crate::records::{NOW, an_org, an_update, bundle, new_app, unpublish};

/// The expected row of an update in the index.
fn offered(update: &Update) -> String {
    let update = update.clone();
    shown(&OfferedUpdate {
        id: update.id,
        org_id: update.org_id,
        status: update.status,
        bundle_id: update.bundle_id,
        platform: update.platform,
        version: update.version,
        version_text: update.version_text,
        build_number: update.build_number,
        configuration: update
            .configuration
            .as_ref()
            .map(Configuration::as_str)
            .map(str::to_owned),
        fingerprint: update.fingerprint.as_ref().map(Fingerprint::as_str).map(str::to_owned),
        release_notes: update.release_notes,
        mandatory: update.mandatory,
        rollout: update.rollout,
        size: update.size,
        sha256: update.sha256,
        blob_key: update.blob_key,
        trust_role: update.trust_role,
        created_at: update.published_at.unwrap_or(update.created_at),
    })
}

fn shown(update: &OfferedUpdate) -> String {
    format!("{update:#?}")
}

fn all_shown(updates: &[OfferedUpdate]) -> Vec<String> {
    updates.iter().map(shown).collect()
}

contract! {
    async fn offers_published_and_paused_ones_of_a_bundle(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        let mut made = Vec::new();
        for (build, status) in ["1", "2", "3", "4", "5"].into_iter().zip(UpdateStatus::ALL.into_iter().cycle()) {
            made.push(
                an_update(db, org, &name, |update| {
                    update.build_number = build.parse().unwrap();
                    update.status = status;
                })
                .await,
            );
        }
        an_update(db, org, &bundle("com.example.other"), |_| ()).await;
        unpublish(db, &name, &made[4], NOW).await;
        let given = system_reads!(db, offered_updates("com.example.app"));
        assert_eq!(all_shown(&given), [offered(&made[1]), offered(&made[0])], "not the others");
        assert!(system_reads!(db, offered_updates("com.Example.app")).is_empty(), "the key is in lower case");
        assert!(system_reads!(db, offered_updates("com.example.%")).is_empty());
    }

    async fn gives_each_published_and_paused_one_of_all_bundles(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let mut made = Vec::new();
        for (at, name) in ["com.b-a", "com.B.a", "Com.c"].into_iter().enumerate() {
            let name = bundle(name);
            for (build, status) in ["1", "2", "3", "4", "5"].into_iter().zip(UpdateStatus::ALL.into_iter().cycle()) {
                let update = an_update(db, orgs[at % 2], &name, |update| {
                    update.build_number = build.parse().unwrap();
                    update.status = status;
                });
                made.push(update.await);
            }
            unpublish(db, &name, &made.pop().unwrap(), NOW).await;
        }
        made.retain(|update| matches!(update.status, UpdateStatus::Published | UpdateStatus::Paused));
        let mut given = Vec::new();
        system_reads!(db, for_each_offered_update(|update| given.push(update)));
        let mut given = all_shown(&given);
        let mut made: Vec<_> = made.iter().map(offered).collect();
        given.sort_unstable();
        made.sort_unstable();
        assert_eq!(given.len(), 6);
        assert_eq!(given, made);
    }

    /// Whoever starts a node with a million updates must find the one that stops it.
    async fn an_update_that_cannot_be_read_is_named(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |_| ()).await;
        for (change, column) in [("rollout = 101", "rollout"), ("platform = 'palm'", "platform")] {
            db.raw(&format!("UPDATE updates SET {change}")).await;
            let expected = format!("cannot read the value of the column updates.{column} of the update {}", update.id);
            let mut tx = db.read().await.unwrap();
            let mut system = tx.system("a test");
            let errors = [
                system.for_each_offered_update(|_| ()).await.unwrap_err(),
                system.offered_updates("com.example.app").await.unwrap_err(),
            ];
            assert_eq!(errors.map(|error| error.to_string()), [expected.clone(), expected]);
        }
        unpublish(db, &name, &update, NOW).await;
        let mut tx = db.read().await.unwrap();
        let mut system = tx.system("a test");
        let errors = [
            system.for_each_retired_update(9, |_, _| ()).await.unwrap_err(),
            system.retired_updates("com.example.app", 9).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.to_string().ends_with(&update.id.to_string())), "{errors:?}");
    }

    /// SQLite reads many rows at a time: here are more, with a gap, and with texts that need escapes.
    async fn gives_all_of_many_with_any_text(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let notes = ["", "\"two\"\nlines\r\n", "\u{1f}\t\\ \u{7f}\u{2028}", "ünïcödé 🚀", "[null]"];
        let mut made = Vec::new();
        for (number, notes) in (1..=300_u32).zip(notes.into_iter().cycle()) {
            let update = an_update(db, org, &name, |update| {
                update.build_number = number.to_string().parse().unwrap();
                update.release_notes = notes.to_owned();
                update.fingerprint = None;
            });
            let update = update.await;
            match number {
                80..250 => unpublish(db, &name, &update, NOW).await,
                _ => made.push(update),
            }
        }
        let mut given = Vec::new();
        system_reads!(db, for_each_offered_update(|update| given.push(update)));
        given.sort_by_key(|update| update.build_number.value());
        let mut made: Vec<_> = made.iter().map(offered).collect();
        assert_eq!(all_shown(&given), made);
        made.reverse();
        assert_eq!(all_shown(&system_reads!(db, offered_updates("com.example.app"))), made, "newest first");
    }

    async fn gives_nothing_of_an_empty_database(db: &TestDb) {
        let mut given = 0;
        system_reads!(db, for_each_offered_update(|_| given += 1));
        assert_eq!(given, 0);
    }

    async fn tells_the_newest_updates_that_are_offered_to_nobody(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        let mut retired = Vec::new();
        for (build, status) in ["1", "2", "03", "4", "5"].into_iter().zip(UpdateStatus::ALL.into_iter().cycle()) {
            let made = an_update(db, org, &name, |update| {
                update.build_number = build.parse().unwrap();
                update.status = status;
            })
            .await;
            if build == "5" {
                unpublish(db, &name, &made, NOW).await;
            }
            if made.status == UpdateStatus::Withdrawn || build == "5" {
                let build = made.build_number.value();
                retired.push(RetiredUpdate { id: made.id, platform: made.platform, version: made.version, build });
            }
        }
        an_update(db, org, &bundle("com.example.other"), |update| update.status = UpdateStatus::Withdrawn).await;
        retired.reverse();
        assert_eq!(retired.len(), 2);
        assert_eq!(system_reads!(db, retired_updates("com.example.app", 9)), retired);
        assert_eq!(system_reads!(db, retired_updates("com.example.app", 1)), retired[..1]);
        for limit in [9, 1] {
            let mut given = Vec::new();
            system_reads!(db, for_each_retired_update(limit, |key, update| given.push((key, update))));
            assert_eq!(given.len(), if limit == 9 { 3 } else { 2 });
            given.retain(|(key, _)| key == "com.example.app");
            given.sort_by_key(|(_, update)| std::cmp::Reverse(update.id.to_string()));
            let given: Vec<_> = given.into_iter().map(|(_, update)| update).collect();
            assert_eq!(given, retired[..given.len()]);
        }
    }

    async fn gives_each_bundles_newest_fingerprint_documents(db: &TestDb) {
        let org = an_org(db).await.id;
        for (name, hash, at) in [("com.b", "1", 0), ("com.A", "2", 2), ("com.b", "3", 1), ("com.b", "4", 1), ("com.a", "5", 3)] {
            org_writes!(db, org, keep_fingerprint(&bundle(name), hash, "{}", NOW + at));
        }
        let mut given = Vec::new();
        system_reads!(db, for_each_fingerprint(2, |key, hash, document| given.push([key, hash, document])));
        let given: Vec<_> = given.iter().map(|texts| texts.each_ref().map(String::as_str)).collect();
        assert_eq!(given, [["com.a", "5", "{}"], ["com.a", "2", "{}"], ["com.b", "3", "{}"], ["com.b", "4", "{}"]]);
    }

    async fn keeps_fingerprint_documents_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        assert!(org_writes!(db, org, keep_fingerprint(&name, "b", r#"{"n":"é"}"#, NOW)));
        org_writes!(db, org, keep_fingerprint(&name, "c", "{}", NOW + 1));
        org_writes!(db, org, keep_fingerprint(&name, "a", "{}", NOW));
        assert!(!org_writes!(db, org, keep_fingerprint(&name, "b", "another", NOW + 2)));
        org_writes!(db, org, keep_fingerprint(&bundle("com.example.other"), "d", "{}", NOW));
        let kept = system_reads!(db, fingerprints("com.example.app", 10));
        let kept: Vec<_> = kept.iter().map(|(hash, document)| (hash.as_str(), document.as_str())).collect();
        assert_eq!(kept, [("c", "{}"), ("a", "{}"), ("b", r#"{"n":"é"}"#)], "the first document of a hash stays");
        assert_eq!(system_reads!(db, fingerprints("com.example.app", 1)).len(), 1);
        let of = async |name: &str, hash: &str| org_reads!(db, org, fingerprint_document(&bundle(name), hash));
        assert_eq!(of("COM.example.app", "b").await.as_deref(), Some(r#"{"n":"é"}"#));
        assert_eq!(of("com.example.app", "d").await, None);
        assert_eq!(of("com.example.other", "d").await.as_deref(), Some("{}"));
    }

    async fn pairs_of_fingerprints_are_of_the_apps_owner(db: &TestDb) {
        let org = an_org(db).await.id;
        let (name, other) = (bundle("com.Example.app"), bundle("com.example.free"));
        org_writes!(db, org, claim_app(&name, &new_app(org, &name)));
        for (name, hash, at) in [(&name, "a", 0), (&name, "b", 1), (&name, "c", 2), (&other, "a", 0)] {
            org_writes!(db, org, keep_fingerprint(name, hash, "{}", NOW + at));
        }
        assert!(org_writes!(db, org, pair_fingerprint(&name, "a", "2")));
        assert!(org_writes!(db, org, pair_fingerprint(&name, "b", "2")));
        assert!(!org_writes!(db, org, pair_fingerprint(&name, "a", "3")), "the first one stays");
        assert!(!org_writes!(db, org, pair_fingerprint(&name, "unknown", "2")));
        assert!(!org_writes!(db, org, pair_fingerprint(&other, "a", "2")), "nobody has claimed that app");
        assert_eq!(org_reads!(db, org, paired_fingerprint(&name, "a")).as_deref(), Some("2"));
        assert_eq!(org_reads!(db, org, paired_fingerprint(&name, "c")), None);
        let stranger = an_org(db).await.id;
        assert!(!org_writes!(db, stranger, pair_fingerprint(&name, "c", "2")));
        assert_eq!(org_reads!(db, stranger, paired_fingerprint(&name, "a")), None);
        let pairs = [("b".to_owned(), "2".to_owned()), ("a".to_owned(), "2".to_owned())];
        assert_eq!(system_reads!(db, fingerprint_pairs("com.example.app", 10)), pairs);
        assert_eq!(system_reads!(db, fingerprint_pairs("com.example.app", 1)), pairs[..1]);
        let mut given = Vec::new();
        system_reads!(db, for_each_fingerprint_pair(1, |key, hash, lwfp2| given.push((key, hash, lwfp2))));
        assert_eq!(given, [("com.example.app".to_owned(), "b".to_owned(), "2".to_owned())]);
    }
}
