//! Invitations: listed by their organization, accepted once by the holder of the link.

use launchway_domain::org::Invitation;
use launchway_domain::tenancy::Role;
use launchway_store::{Paging, StoreError};

use crate::records::{ALL, NOW, an_org, new_id, new_invitation};

contract! {
    async fn keeps_an_invitation_and_finds_it_by_its_token(db: &TestDb) {
        let org = an_org(db).await.id;
        for role in Role::ALL {
            let invitation = Invitation { role, ..new_invitation(org) };
            let token = format!("token of {role}");
            org_writes!(db, org, create_invitation(&invitation, &token, "operator"));
            assert_eq!(org_reads!(db, org, invitation(invitation.id)), Some(invitation.clone()));
            assert_eq!(system_reads!(db, invitation_by_token(&token)), Some(invitation));
        }
        assert_eq!(org_reads!(db, org, invitation(new_id())), None);
        assert_eq!(system_reads!(db, invitation_by_token("token of")), None);
    }

    async fn an_address_finds_the_oldest_that_waits(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let email = new_invitation(org).email;
        let to = |org| Invitation { email: email.clone(), ..new_invitation(org) };
        let made = [to(org), Invitation { expires_at: NOW, ..to(other) }, to(other)];
        assert_eq!(system_reads!(db, invitation_by_email(&email, NOW)), None);
        for (at, invitation) in made.iter().enumerate().rev() {
            org_writes!(db, invitation.org_id, create_invitation(invitation, &format!("to one {at}"), "operator"));
        }
        assert_eq!(system_reads!(db, invitation_by_email(&email, NOW)), Some(made[0].clone()));
        assert!(system_writes!(db, accept_invitation(made[0].id, NOW)));
        assert_eq!(system_reads!(db, invitation_by_email(&email, NOW)), Some(made[2].clone()), "one is over");
        assert_eq!(system_reads!(db, invitation_by_email(&email, made[2].expires_at)), None);
    }

    async fn a_token_opens_one_invitation_only(db: &TestDb) {
        let org = an_org(db).await.id;
        org_writes!(db, org, create_invitation(&new_invitation(org), "token", "operator"));
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(org).create_invitation(&new_invitation(org), "token", "operator").await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn lists_the_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let made: Vec<_> = (0..4).map(|_| new_invitation(org)).collect();
        for at in [2, 0, 3, 1] {
            org_writes!(db, org, create_invitation(&made[at], &format!("token {at}"), "operator"));
        }
        let newest_first: Vec<_> = made.iter().rev().cloned().collect();
        assert_eq!(org_reads!(db, org, invitations(ALL)).items, newest_first);
        let page = org_reads!(db, org, invitations(Paging { limit: 2, offset: 1 }));
        assert_eq!((page.items.as_slice(), page.total), (&newest_first[1..3], 4));
    }

    async fn is_taken_once_and_in_time(db: &TestDb) {
        let org = an_org(db).await.id;
        let (timely, late) = (new_invitation(org), new_invitation(org));
        org_writes!(db, org, create_invitation(&timely, "timely", "operator"));
        org_writes!(db, org, create_invitation(&late, "late", "operator"));
        assert!(system_writes!(db, accept_invitation(timely.id, timely.expires_at - 1)));
        assert!(!system_writes!(db, accept_invitation(timely.id, NOW)));
        assert!(!system_writes!(db, accept_invitation(late.id, late.expires_at)), "it has expired");
        assert!(!system_writes!(db, accept_invitation(new_id(), NOW)));
        let taken = Invitation { accepted_at: Some(timely.expires_at - 1), ..timely };
        assert_eq!(org_reads!(db, org, invitation(taken.id)), Some(taken));
        assert_eq!(org_reads!(db, org, invitation(late.id)), Some(late));
    }

    async fn is_taken_by_one_of_many_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let invitation = new_invitation(org);
        org_writes!(db, org, create_invitation(&invitation, "token", "operator"));
        let taken = db
            .at_once(8, |db, _| async move { system_writes!(db, accept_invitation(invitation.id, NOW)) })
            .await;
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    }

    async fn is_gone_when_deleted(db: &TestDb) {
        let org = an_org(db).await.id;
        let (gone, stays) = (new_invitation(org), new_invitation(org));
        org_writes!(db, org, create_invitation(&gone, "gone", "operator"));
        org_writes!(db, org, create_invitation(&stays, "stays", "operator"));
        assert!(org_writes!(db, org, delete_invitation(gone.id)));
        assert!(!org_writes!(db, org, delete_invitation(gone.id)));
        assert_eq!(system_reads!(db, invitation_by_token("gone")), None);
        assert_eq!(org_reads!(db, org, invitations(ALL)).items, [stays]);
    }
}
