//! Drafts of roles: one of each role of an app.

use launchway_store::{NewTrustDraft, TrustDraft};

use crate::records::{NOW, an_org, bundle, new_id};
use crate::trust_files::REPOSITORY;
use crate::trust_repositories::an_app_with_a_root;

/// A draft of a role without signatures.
pub fn new_draft(role: &str) -> TrustDraft {
    TrustDraft {
        role: role.to_owned(),
        version: 4,
        content: "{\"signatures\": []}".to_owned(),
        update_ids: vec![new_id(), new_id()],
        created_at: NOW,
        created_by: "user_x".to_owned(),
    }
}

contract! {
    async fn a_role_has_one(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        let first = new_draft("c-production");
        assert!(org_writes!(db, org, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &first })));
        assert_eq!(org_reads!(db, org, trust_draft(&name, "c-production")), Some(first.clone()));
        let next = TrustDraft { version: 5, update_ids: vec![], created_at: NOW + 1, ..first };
        let other = new_draft("any");
        for draft in [&next, &other] {
            assert!(org_writes!(db, org, put_trust_draft(&NewTrustDraft { bundle: &name, draft })));
        }
        assert_eq!(org_reads!(db, org, trust_drafts(&name)), [other, next]);
        assert_eq!(org_reads!(db, org, trust_draft(&name, "c-Production")), None);
    }

    async fn is_deleted_once_or_with_its_repository(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        for role in ["any", "c-production"] {
            let draft = new_draft(role);
            org_writes!(db, org, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &draft }));
        }
        assert!(org_writes!(db, org, delete_trust_draft(&name, "any")));
        assert!(!org_writes!(db, org, delete_trust_draft(&name, "any")));
        assert_eq!(org_reads!(db, org, trust_drafts(&name)).len(), 1);
        org_writes!(db, org, retire_trust_repository(&name, REPOSITORY));
        assert_eq!(org_reads!(db, org, trust_drafts(&name)), []);
    }

    async fn only_who_claimed_the_app_makes_one(db: &TestDb) {
        let (ours, theirs) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        an_app_with_a_root(db, theirs, "com.example.app").await;
        let draft = new_draft("any");
        assert!(!org_writes!(db, ours, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &draft })));
        assert!(org_writes!(db, theirs, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &draft })));
        assert!(!org_writes!(db, ours, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &draft })));
        assert_eq!(org_reads!(db, theirs, trust_draft(&name, "any")), Some(draft));
    }
}
