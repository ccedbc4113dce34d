//! Browser sessions. They belong to a user, who may be in several organizations.

use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::{SESSION_IDLE, SESSION_LIFE, Session};
use launchway_domain::tenancy::Role;

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

row! {
    struct SessionRow {
        id: String,
        user_id: String,
        user_agent: String,
        address: String,
        created_at: i64,
        last_used_at: i64,
    }
}

impl SessionRow {
    fn read(self) -> Result<Session, StoreError> {
        Ok(Session {
            id: typed("sessions.id", &self.id)?,
            user_id: typed("sessions.user_id", &self.user_id)?,
            user_agent: self.user_agent,
            address: self.address,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
        })
    }
}

impl Org<'_> {
    /// The role of an active session's user in this organization; `None` if the session or the membership has ended.
    pub async fn session_role(&mut self, session: SessionId, now: i64) -> Result<Option<Role>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT m.role FROM sessions s JOIN members m ON m.user_id = s.user_id \
             WHERE m.org_id = $1 AND s.id = $2 AND s.last_used_at > $3 AND s.created_at > $4",
            &self.id,
            session.to_string(),
            now - SESSION_IDLE,
            now - SESSION_LIFE
        )?;
        row.map(|(role,)| typed("members.role", &role)).transpose()
    }

    /// The same, with a shared lock: neither session nor membership ends or changes until this transaction ends.
    pub async fn hold_session(&mut self, session: SessionId, now: i64) -> Result<Option<Role>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            (String,),
            "SELECT m.role FROM sessions s JOIN members m ON m.user_id = s.user_id \
             WHERE m.org_id = $1 AND s.id = $2 AND s.last_used_at > $3 AND s.created_at > $4",
            " FOR SHARE OF m FOR KEY SHARE OF s",
            "",
            &self.id,
            session.to_string(),
            now - SESSION_IDLE,
            now - SESSION_LIFE
        )?;
        rows.first().map(|(role,)| typed("members.role", role)).transpose()
    }
}

impl System<'_> {
    /// Stores a new session under the hash of its cookie.
    pub async fn create_session(&mut self, session: &Session, token_hash: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO sessions (id, token_hash, user_id, user_agent, address, created_at, last_used_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            session.id.to_string(),
            token_hash,
            session.user_id.to_string(),
            &session.user_agent,
            &session.address,
            session.created_at,
            session.last_used_at
        )?;
        Ok(())
    }

    /// The active session with a cookie's hash.
    pub async fn session_by_token(&mut self, token_hash: &str, now: i64) -> Result<Option<Session>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            SessionRow,
            "SELECT id, user_id, user_agent, address, created_at, last_used_at FROM sessions \
             WHERE token_hash = $1 AND last_used_at > $2 AND created_at > $3",
            token_hash,
            now - SESSION_IDLE,
            now - SESSION_LIFE
        )?;
        row.map(SessionRow::read).transpose()
    }

    /// The active sessions of a user, newest first.
    pub async fn sessions(&mut self, user: UserId, now: i64, paging: Paging) -> Result<Rows<Session>, StoreError> {
        let (user, oldest, first) = (user.to_string(), now - SESSION_IDLE, now - SESSION_LIFE);
        let rows = fetch_all!(
            self.tx,
            SessionRow,
            "SELECT id, user_id, user_agent, address, created_at, last_used_at FROM sessions \
             WHERE user_id = $1 AND last_used_at > $2 AND created_at > $3 ORDER BY id DESC LIMIT $4 OFFSET $5",
            &user,
            oldest,
            first,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM sessions WHERE user_id = $1 AND last_used_at > $2 AND created_at > $3",
            &user,
            oldest,
            first
        )?;
        Rows::read(rows, total, SessionRow::read)
    }

    /// Ends a session of this user; returns false if there is none.
    pub async fn delete_session(&mut self, user: UserId, id: SessionId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM sessions WHERE user_id = $1 AND id = $2",
            user.to_string(),
            id.to_string()
        )?;
        Ok(deleted == 1)
    }

    /// Records when sessions were last used.
    pub async fn note_sessions_used(&mut self, used: &[(SessionId, i64)]) -> Result<(), StoreError> {
        for (id, at) in used {
            execute!(
                self.tx,
                "UPDATE sessions SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2",
                id.to_string(),
                *at
            )?;
        }
        Ok(())
    }

    /// Deletes sessions that have ended.
    pub async fn forget_sessions(&mut self, now: i64) -> Result<u64, StoreError> {
        forget!(
            self.tx,
            "sessions",
            "id",
            "(last_used_at <= $1 OR created_at <= $2)",
            now - SESSION_IDLE,
            now - SESSION_LIFE
        )
    }
}
