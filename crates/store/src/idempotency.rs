//! Responses stored for `Idempotency-Key`, in the transaction of the change (`docs/reference/conventions.md#kept-responses`).

use crate::{Org, StoreError, System};

/// The identity of an idempotent request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The caller: a key id or user id.
    pub caller: String,
    /// The HTTP method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of query and body: the same key with another body is refused.
    pub body_hash: String,
}

/// The first response to an idempotent request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The hash of the body of that request.
    pub body_hash: String,
    /// The HTTP status.
    pub status: i64,
    /// The response's body, without secrets.
    pub body: String,
}

impl Org<'_> {
    /// The stored response to a request made after `since`.
    pub async fn kept_answer(&mut self, request: &RequestKey, since: i64) -> Result<Option<KeptAnswer>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, i64, String),
            "SELECT body_hash, status, body FROM idempotency \
             WHERE org_id = $1 AND caller = $2 AND method = $3 AND path = $4 AND key = $5 AND created_at > $6",
            &self.id,
            &request.caller,
            &request.method,
            &request.path,
            &request.key,
            since
        )?;
        Ok(row.map(|(body_hash, status, body)| KeptAnswer {
            body_hash,
            status,
            body,
        }))
    }

    /// Reserves the row for a request's response. A concurrent duplicate waits here until this transaction ends. Returns
    /// false if a response stored after `since` already exists.
    pub async fn claim_answer(&mut self, request: &RequestKey, now: i64, since: i64) -> Result<bool, StoreError> {
        let claimed = execute!(
            self.tx,
            "INSERT INTO idempotency (org_id, caller, method, path, key, body_hash, status, body, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, 0, '', $7) ON CONFLICT (org_id, caller, method, path, key) DO UPDATE \
             SET body_hash = excluded.body_hash, status = 0, body = '', created_at = excluded.created_at \
             WHERE idempotency.created_at <= $8",
            &self.id,
            &request.caller,
            &request.method,
            &request.path,
            &request.key,
            &request.body_hash,
            now,
            since
        )?;
        Ok(claimed == 1)
    }

    /// Stores the response in the row that [`Org::claim_answer`] reserved.
    pub async fn keep_answer(&mut self, request: &RequestKey, status: u16, body: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE idempotency SET status = $6, body = $7 \
             WHERE org_id = $1 AND caller = $2 AND method = $3 AND path = $4 AND key = $5",
            &self.id,
            &request.caller,
            &request.method,
            &request.path,
            &request.key,
            i64::from(status),
            body
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// Deletes responses stored before `time`.
    pub async fn forget_answers_before(&mut self, time: i64) -> Result<u64, StoreError> {
        forget!(
            self.tx,
            "idempotency",
            "org_id, caller, method, path, key",
            "created_at < $1",
            time
        )
    }
}
