//! Members of an organization and their roles.

use std::collections::HashMap;

use launchway_domain::id::{OrgId, UserId};
use launchway_domain::org::{Member, Org as OrgRecord};
use launchway_domain::tenancy::Role;

use crate::orgs::OrgRow;
use crate::sql::{names, typed};
use crate::{Org, Paging, Rows, StoreError, System};

/// The change would leave the organization without an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOwner;

row! {
    struct MemberRow {
        user_id: String,
        email: String,
        role: String,
        created_at: i64,
    }
}

impl MemberRow {
    fn read(self) -> Result<Member, StoreError> {
        Ok(Member {
            user_id: typed("members.user_id", &self.user_id)?,
            email: self.email,
            role: typed("members.role", &self.role)?,
            created_at: self.created_at,
        })
    }
}

impl Org<'_> {
    /// Adds a user; returns false if the user is already a member.
    pub async fn add_member(&mut self, user: UserId, role: Role, now: i64) -> Result<bool, StoreError> {
        let added = execute!(
            self.tx,
            "INSERT INTO members (org_id, user_id, role, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            &self.id,
            user.to_string(),
            role.as_str(),
            now
        )?;
        Ok(added == 1)
    }

    /// The addresses of those of these users, of a page, that are members.
    pub async fn member_emails(&mut self, users: &[UserId]) -> Result<HashMap<UserId, String>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, String),
            "SELECT u.id, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1 AND m.user_id IN",
            users,
            "",
            &self.id
        )?;
        names("users.id", rows)
    }

    /// A member, if the user is one.
    pub async fn member(&mut self, user: UserId) -> Result<Option<Member>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            MemberRow,
            "SELECT m.user_id, u.email, m.role, m.created_at FROM members m JOIN users u ON u.id = m.user_id \
             WHERE m.org_id = $1 AND m.user_id = $2",
            &self.id,
            user.to_string()
        )?;
        row.map(MemberRow::read).transpose()
    }

    /// The members, latest first.
    pub async fn members(&mut self, paging: Paging) -> Result<Rows<Member>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            MemberRow,
            "SELECT m.user_id, u.email, m.role, m.created_at FROM members m JOIN users u ON u.id = m.user_id \
             WHERE m.org_id = $1 ORDER BY m.created_at DESC, m.user_id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM members WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, MemberRow::read)
    }

    /// Changes the role of a member. The last owner keeps its role.
    pub async fn set_role(&mut self, user: UserId, role: Role) -> Result<Result<(), LastOwner>, StoreError> {
        self.lock().await?;
        if role != Role::Owner && self.is_last_owner(user).await? {
            return Ok(Err(LastOwner));
        }
        execute!(
            self.tx,
            "UPDATE members SET role = $3 WHERE org_id = $1 AND user_id = $2",
            &self.id,
            user.to_string(),
            role.as_str()
        )?;
        Ok(Ok(()))
    }

    /// Removes a member. The last owner cannot be removed.
    pub async fn remove_member(&mut self, user: UserId) -> Result<Result<(), LastOwner>, StoreError> {
        self.lock().await?;
        if self.is_last_owner(user).await? {
            return Ok(Err(LastOwner));
        }
        execute!(
            self.tx,
            "DELETE FROM members WHERE org_id = $1 AND user_id = $2",
            &self.id,
            user.to_string()
        )?;
        Ok(Ok(()))
    }

    /// The role of a member, which cannot change or be removed until this transaction ends. The lock is shared.
    pub async fn hold_member(&mut self, user: UserId) -> Result<Option<Role>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            (String,),
            "SELECT role FROM members WHERE org_id = $1 AND user_id = $2",
            " FOR SHARE",
            "",
            &self.id,
            user.to_string()
        )?;
        rows.first().map(|(role,)| typed("members.role", role)).transpose()
    }

    /// Waits for all holders of a member, and prevents new ones until this transaction ends.
    pub async fn lock_member(&mut self, user: UserId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE members SET role = role WHERE org_id = $1 AND user_id = $2",
            &self.id,
            user.to_string()
        )?;
        Ok(())
    }

    async fn is_last_owner(&mut self, user: UserId) -> Result<bool, StoreError> {
        let owners = fetch_all!(
            self.tx,
            (String,),
            "SELECT user_id FROM members WHERE org_id = $1 AND role = 'owner' LIMIT 2",
            &self.id
        )?;
        Ok(owners.len() == 1 && owners[0].0 == user.to_string())
    }
}

impl System<'_> {
    /// Adds a user to an organization; returns false if the user is already a member.
    pub async fn join(&mut self, org: OrgId, user: UserId, role: Role, now: i64) -> Result<bool, StoreError> {
        self.tx.org(org).add_member(user, role, now).await
    }

    /// The organizations a user is a member of, with the role, oldest membership first.
    pub async fn memberships(&mut self, user: UserId) -> Result<Vec<(OrgRecord, Role)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, String, i64, String),
            "SELECT o.id, o.name, o.tier, o.created_at, m.role FROM members m JOIN orgs o ON o.id = m.org_id \
             WHERE m.user_id = $1 ORDER BY m.created_at, o.id",
            user.to_string()
        )?;
        rows.into_iter()
            .map(|(id, name, tier, created_at, role)| {
                let org = OrgRow {
                    id,
                    name,
                    tier,
                    created_at,
                };
                Ok((org.read()?, typed("members.role", &role)?))
            })
            .collect()
    }
}
