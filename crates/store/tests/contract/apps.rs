//! Apps: a bundle id has one organization, also under concurrent claims, and only the operator transfers it.

use launchway_domain::app::App;
use launchway_store::{Changes, Claim, Paging};

use crate::records::{ALL, NOW, a_package, an_org, an_update, bundle, new_app, new_id, new_update, publish};

contract! {
    async fn claims_a_free_identifier(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("Com.Example.App");
        let app = new_app(org, &name);
        assert_eq!(org_writes!(db, org, claim_app(&name, &app)), Claim::Claimed(app.clone()));
        assert_eq!(org_reads!(db, org, app(app.id)), Some(app.clone()));
        assert_eq!(org_reads!(db, org, app_by_bundle(&bundle("com.example.app"))), Some(app));
        assert_eq!(org_reads!(db, org, app(new_id())), None);
        assert_eq!(org_reads!(db, org, app_by_bundle(&bundle("com.example.ap"))), None);
        assert!(!org_reads!(db, org, is_foreign_app(&bundle("com.example.app"))));
        let other = an_org(db).await.id;
        assert!(org_reads!(db, other, is_foreign_app(&bundle("com.example.app"))));
        assert!(!org_reads!(db, other, is_foreign_app(&bundle("com.example.ap"))));
    }

    async fn an_identifier_is_one_whatever_its_letter_case(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let (first, again) = (bundle("com.Example.app"), bundle("COM.example.APP"));
        let app = new_app(org, &first);
        org_writes!(db, org, claim_app(&first, &app));
        assert_eq!(org_writes!(db, org, claim_app(&again, &new_app(org, &again))), Claim::AlreadyOwned(app.clone()));
        assert_eq!(org_writes!(db, other, claim_app(&again, &new_app(other, &again))), Claim::Foreign);
        assert_eq!(org_reads!(db, org, apps(ALL)).items, [app]);
        assert_eq!(org_reads!(db, other, apps(ALL)).total, 0);
    }

    async fn a_deleted_app_stays_with_its_organization(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        let app = new_app(org, &name);
        org_writes!(db, org, claim_app(&name, &app));
        assert!(org_writes!(db, org, delete_app(app.id, NOW)));
        assert!(!org_writes!(db, org, delete_app(app.id, NOW)));
        assert_eq!(org_reads!(db, org, app(app.id)), None);
        assert_eq!(org_reads!(db, org, app_by_bundle(&name)), None);
        assert_eq!(org_reads!(db, org, apps(ALL)).total, 0);
        assert_eq!(org_writes!(db, other, claim_app(&name, &new_app(other, &name))), Claim::Foreign);
        let again = new_app(org, &name);
        let revived = App { name: again.name.clone(), ..app };
        assert_eq!(org_writes!(db, org, claim_app(&name, &again)), Claim::Claimed(revived.clone()));
        assert_eq!(org_reads!(db, org, apps(ALL)).items, [revived]);
    }

    async fn lists_the_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let made: Vec<_> = (0..4).map(|at| new_app(org, &bundle(&format!("com.example.app{at}")))).collect();
        for at in [1, 3, 0, 2] {
            org_writes!(db, org, claim_app(&bundle(&made[at].bundle_id), &made[at]));
        }
        let newest_first: Vec<_> = made.iter().rev().cloned().collect();
        assert_eq!(org_reads!(db, org, apps(ALL)).items, newest_first);
        let page = org_reads!(db, org, apps(Paging { limit: 2, offset: 1 }));
        assert_eq!((page.items.as_slice(), page.total), (&newest_first[1..3], 4));
    }

    async fn one_of_many_claims_at_once_wins(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let claims = db
            .at_once(12, |db, number| async move {
                // Not even and odd: that distinguishes the nodes, and both organizations are on both.
                let org = orgs[number / 2 % 2];
                let name = bundle(if number % 3 == 0 { "com.Example.App" } else { "com.example.app" });
                (org, org_writes!(db, org, claim_app(&name, &new_app(org, &name))))
            })
            .await;
        let claimed: Vec<_> =
            claims.iter().filter_map(|(org, claim)| matches!(claim, Claim::Claimed(_)).then_some(*org)).collect();
        assert_eq!(claimed.len(), 1, "{claims:?}");
        for (org, claim) in &claims {
            let right = match claim {
                Claim::Claimed(app) | Claim::AlreadyOwned(app) => *org == claimed[0] && app.org_id == claimed[0],
                Claim::Foreign => *org != claimed[0],
            };
            assert!(right, "{org} of {claims:?}");
        }
    }

    async fn its_own_organization_never_finds_it_foreign(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let app = new_app(org, &name);
        org_writes!(db, org, claim_app(&name, &app));
        let claims = db
            .at_once(10, |db, number| {
                let (name, id) = (name.clone(), app.id);
                async move {
                    let mut claims = Vec::new();
                    for _ in 0..20 {
                        if number < 4 {
                            org_writes!(db, org, delete_app(id, NOW));
                        } else {
                            claims.push(org_writes!(db, org, claim_app(&name, &new_app(org, &name))));
                        }
                    }
                    claims
                }
            })
            .await;
        assert!(claims.iter().flatten().all(|claim| *claim != Claim::Foreign));
    }

    async fn the_operator_moves_an_app_with_updates_and_packages(db: &TestDb) {
        let (from, to) = (an_org(db).await.id, an_org(db).await.id);
        let (name, other_name) = (bundle("com.Example.app"), bundle("com.example.other"));
        let (app, other_app) = (new_app(from, &name), new_app(from, &other_name));
        org_writes!(db, from, claim_app(&name, &app));
        org_writes!(db, from, claim_app(&other_name, &other_app));
        let update = an_update(db, from, &name, |_| ()).await;
        let other_update = an_update(db, from, &other_name, |_| ()).await;
        let seen = system_reads!(db, revision());

        assert_eq!(system_writes!(db, transfer_app(&bundle("com.example.APP"), to, NOW)), Some(from));

        assert_eq!(org_reads!(db, from, apps(ALL)).items, [other_app]);
        assert_eq!(org_reads!(db, to, apps(ALL)).items, [App { org_id: to, ..app }]);
        assert!(org_reads!(db, from, update(update.id)).is_none());
        assert_eq!(org_reads!(db, to, update(update.id)).unwrap().org_id, to);
        assert!(org_reads!(db, from, update(other_update.id)).is_some());
        let changes = Changes { revision: seen + 1, bundle_keys: Some(vec![name.key()]), has_more: false };
        assert_eq!(system_reads!(db, changes_since(seen, 100)), changes, "each node has to hear of it");
        // The package has moved too: deleting its only update there releases it.
        let moved = org_reads!(db, to, update(update.id)).unwrap();
        org_writes!(db, to, delete_update(&moved, NOW));
        let unused = system_reads!(db, unused_packages(NOW, 10));
        assert_eq!(unused.iter().map(|package| (package.id, package.org_id)).collect::<Vec<_>>(), [(moved.package_id, to)]);
    }

    async fn a_move_brings_a_deleted_app_back_and_knows_what_nobody_has(db: &TestDb) {
        let (from, to) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        let app = new_app(from, &name);
        org_writes!(db, from, claim_app(&name, &app));
        org_writes!(db, from, delete_app(app.id, NOW));
        assert_eq!(system_writes!(db, transfer_app(&name, to, NOW)), Some(from));
        assert_eq!(org_reads!(db, to, app_by_bundle(&name)), Some(App { org_id: to, ..app }));
        assert_eq!(org_writes!(db, from, claim_app(&name, &new_app(from, &name))), Claim::Foreign);
        let seen = system_reads!(db, revision());
        assert_eq!(system_writes!(db, transfer_app(&bundle("com.example.none"), to, NOW)), None);
        assert_eq!(system_reads!(db, revision()), seen);
    }

    async fn identities_stay_taken_after_a_move(db: &TestDb) {
        let (from, to) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        org_writes!(db, from, claim_app(&name, &new_app(from, &name)));
        an_update(db, from, &name, |_| ()).await;
        system_writes!(db, transfer_app(&name, to, NOW));
        let package = a_package(db, to).await;
        assert!(!publish(db, &name, &new_update(&name, &package)).await);
    }
}
