//! Invitations: links that allow one address to join, once.

use launchway_domain::id::InvitationId;
use launchway_domain::org::Invitation;

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

row! {
    pub(crate) struct InvitationRow {
        id: String,
        org_id: String,
        email: String,
        role: String,
        created_at: i64,
        expires_at: i64,
        accepted_at: Option<i64>,
    }
}

impl InvitationRow {
    pub(crate) fn read(self) -> Result<Invitation, StoreError> {
        Ok(Invitation {
            id: typed("invitations.id", &self.id)?,
            org_id: typed("invitations.org_id", &self.org_id)?,
            email: self.email,
            role: typed("invitations.role", &self.role)?,
            created_at: self.created_at,
            expires_at: self.expires_at,
            accepted_at: self.accepted_at,
        })
    }
}

/// Condition: the creator of an invitation may still create such invitations. The creator need not be a member if it is a
/// key or the operator.
macro_rules! inviter_may {
    () => {
        "(created_by NOT LIKE 'user_%' OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = invitations.org_id \
         AND m.user_id = invitations.created_by AND m.role IN ('owner', CASE invitations.role WHEN 'owner' THEN 'owner' \
         ELSE 'admin' END)))"
    };
}

impl Org<'_> {
    /// Stores an invitation under the hash of its token.
    pub async fn create_invitation(
        &mut self,
        invitation: &Invitation,
        token_hash: &str,
        by: &str,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO invitations (id, org_id, email, role, token_hash, created_by, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            invitation.id.to_string(),
            &self.id,
            &invitation.email,
            invitation.role.as_str(),
            token_hash,
            by,
            invitation.created_at,
            invitation.expires_at
        )?;
        Ok(())
    }

    /// The invitations, newest first.
    pub async fn invitations(&mut self, paging: Paging) -> Result<Rows<Invitation>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            InvitationRow,
            "SELECT id, org_id, email, role, created_at, expires_at, accepted_at FROM invitations \
             WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM invitations WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, InvitationRow::read)
    }

    /// One invitation.
    pub async fn invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            InvitationRow,
            "SELECT id, org_id, email, role, created_at, expires_at, accepted_at FROM invitations \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(InvitationRow::read).transpose()
    }

    /// Deletes an invitation; returns false if there is none.
    pub async fn delete_invitation(&mut self, id: InvitationId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM invitations WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }
}

impl System<'_> {
    /// The invitation with a token's hash, whatever its state.
    pub async fn invitation_by_token(&mut self, token_hash: &str) -> Result<Option<Invitation>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            InvitationRow,
            "SELECT id, org_id, email, role, created_at, expires_at, accepted_at FROM invitations WHERE token_hash = $1",
            token_hash
        )?;
        row.map(InvitationRow::read).transpose()
    }

    /// The oldest invitation of an address that is pending at this time.
    pub async fn invitation_by_email(&mut self, email: &str, now: i64) -> Result<Option<Invitation>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            InvitationRow,
            concat!(
                "SELECT id, org_id, email, role, created_at, expires_at, accepted_at FROM invitations \
                 WHERE email = $1 AND accepted_at IS NULL AND expires_at > $2 AND ",
                inviter_may!(),
                " ORDER BY id LIMIT 1"
            ),
            email,
            now
        )?;
        row.map(InvitationRow::read).transpose()
    }

    /// Accepts an invitation; returns false if it was accepted before, or if its creator may no longer invite.
    pub async fn accept_invitation(&mut self, id: InvitationId, now: i64) -> Result<bool, StoreError> {
        let taken = execute!(
            self.tx,
            concat!(
                "UPDATE invitations SET accepted_at = $2 \
                 WHERE id = $1 AND accepted_at IS NULL AND expires_at > $2 AND ",
                inviter_may!()
            ),
            id.to_string(),
            now
        )?;
        Ok(taken == 1)
    }
}
