//! Members and their roles; an organization keeps an owner under concurrent changes.

use std::collections::HashMap;

use launchway_domain::id::{OrgId, UserId};
use launchway_domain::org::{Member, User};
use launchway_domain::tenancy::Role;
use launchway_store::{Db, LastOwner, Paging, StoreError};

use crate::records::{ALL, NOW, a_user, an_org, new_id};

async fn a_member(db: &Db, org: OrgId, role: Role, at: i64) -> User {
    let user = a_user(db).await;
    assert!(org_writes!(db, org, add_member(user.id, role, at)));
    user
}

fn expected(user: &User, role: Role, created_at: i64) -> Member {
    Member {
        user_id: user.id,
        email: user.email.clone(),
        role,
        created_at,
    }
}

async fn owners(db: &Db, org: OrgId) -> Vec<UserId> {
    let members = org_reads!(db, org, members(ALL)).items;
    members
        .iter()
        .filter(|member| member.role == Role::Owner)
        .map(|member| member.user_id)
        .collect()
}

contract! {
    async fn lets_a_user_join_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let user = a_member(db, org, Role::Admin, NOW).await;
        assert!(!org_writes!(db, org, add_member(user.id, Role::Owner, NOW + 1)));
        assert!(!system_writes!(db, join(org, user.id, Role::Owner, NOW + 1)));
        assert_eq!(org_reads!(db, org, member(user.id)), Some(expected(&user, Role::Admin, NOW)));
        let stranger = a_user(db).await.id;
        assert_eq!(
            org_reads!(db, org, member_emails(&[stranger, user.id, new_id()])),
            HashMap::from([(user.id, user.email.clone())])
        );
        assert_eq!(org_reads!(db, org, member(new_id())), None);
    }

    async fn only_somebody_with_an_account_joins(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(org).add_member(new_id(), Role::Member, NOW).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn lists_who_joined_last_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let late = a_member(db, org, Role::Member, NOW + 2).await;
        let early = a_member(db, org, Role::Owner, NOW).await;
        let middle = a_member(db, org, Role::Admin, NOW + 1).await;
        let all = [
            expected(&late, Role::Member, NOW + 2),
            expected(&middle, Role::Admin, NOW + 1),
            expected(&early, Role::Owner, NOW),
        ];
        assert_eq!(org_reads!(db, org, members(ALL)).items, all);
        let page = org_reads!(db, org, members(Paging { limit: 1, offset: 1 }));
        assert_eq!((page.items.as_slice(), page.total), (&all[1..2], 3));
        let behind = org_reads!(db, org, members(Paging { limit: 5, offset: 3 }));
        assert_eq!((behind.items.len(), behind.total), (0, 3));
    }

    async fn tells_where_a_user_is_a_member_oldest_first(db: &TestDb) {
        let (first, second, other) = (an_org(db).await, an_org(db).await, an_org(db).await);
        let user = a_user(db).await;
        assert!(system_writes!(db, join(second.id, user.id, Role::Owner, NOW + 1)));
        assert!(system_writes!(db, join(first.id, user.id, Role::Member, NOW)));
        a_member(db, other.id, Role::Owner, NOW).await;
        assert_eq!(system_reads!(db, memberships(user.id)), [(first, Role::Member), (second, Role::Owner)]);
        assert_eq!(system_reads!(db, memberships(new_id())), []);
    }

    async fn changes_roles_and_lets_go(db: &TestDb) {
        let org = an_org(db).await.id;
        let owner = a_member(db, org, Role::Owner, NOW).await;
        let user = a_member(db, org, Role::Member, NOW).await;
        assert_eq!(org_writes!(db, org, set_role(user.id, Role::Admin)), Ok(()));
        assert_eq!(org_reads!(db, org, member(user.id)), Some(expected(&user, Role::Admin, NOW)));
        assert_eq!(org_writes!(db, org, remove_member(user.id)), Ok(()));
        assert_eq!(org_reads!(db, org, member(user.id)), None);
        assert_eq!(org_writes!(db, org, remove_member(user.id)), Ok(()), "who is no member is no last owner");
        assert_eq!(owners(db, org).await, [owner.id]);
    }

    async fn the_last_owner_stays(db: &TestDb) {
        let (org, elsewhere) = (an_org(db).await.id, an_org(db).await.id);
        let owner = a_member(db, org, Role::Owner, NOW).await;
        a_member(db, org, Role::Admin, NOW).await;
        a_member(db, elsewhere, Role::Owner, NOW).await;
        assert_eq!(org_writes!(db, org, set_role(owner.id, Role::Admin)), Err(LastOwner));
        assert_eq!(org_writes!(db, org, remove_member(owner.id)), Err(LastOwner));
        assert_eq!(org_writes!(db, org, set_role(owner.id, Role::Owner)), Ok(()));
        assert_eq!(owners(db, org).await, [owner.id]);
        let heir = a_member(db, org, Role::Owner, NOW).await;
        assert_eq!(org_writes!(db, org, remove_member(owner.id)), Ok(()));
        assert_eq!(owners(db, org).await, [heir.id]);
    }

    async fn owners_who_leave_at_once_leave_one(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut leaving = Vec::new();
        for _ in 0..8 {
            leaving.push(a_member(db, org, Role::Owner, NOW).await.id);
        }
        let answers = db
            .at_once(8, |db, number| {
                let user = leaving[number];
                async move {
                    // Half of them are removed, half become admins: both ways lose an owner.
                    if number % 4 < 2 {
                        org_writes!(db, org, remove_member(user))
                    } else {
                        org_writes!(db, org, set_role(user, Role::Admin))
                    }
                }
            })
            .await;
        let stayed: Vec<_> =
            leaving.iter().zip(&answers).filter(|(_, answer)| answer.is_err()).map(|(user, _)| *user).collect();
        assert_eq!(stayed.len(), 1);
        assert_eq!(owners(db, org).await, stayed);
    }
}
