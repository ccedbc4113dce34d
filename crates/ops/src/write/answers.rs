//! Answers to requests that may be repeated: claimed with the change, sealed, and found by the same request.

use axum::http::StatusCode;
use launchway_domain::id::OrgId;
use launchway_domain::time::{DAY, EpochMs};
use launchway_store::{KeptAnswer, RequestKey, Tx};
use launchway_vault::Place;
use serde::Serialize;

use super::{Write, to_json};
use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;

/// How long the first answer to an idempotent request is stored.
pub const ANSWER_LIFE: EpochMs = DAY;

/// The start of a request that creates something.
#[expect(clippy::large_enum_variant, reason = "it lives for one match; a box would only cost")]
pub enum Creation<'a> {
    /// The same request was answered before, with this answer.
    Replay(KeptAnswer),
    /// The request is new.
    New(Write<'a>),
}

impl<'a> Write<'a> {
    /// Begins a change that creates something, or finds the stored answer to the same request. A concurrent identical
    /// request waits here for the first to end.
    pub async fn begin_create(
        app: &'a App,
        caller: &Caller,
        request: Option<RequestKey>,
    ) -> Result<Creation<'a>, ApiError> {
        let home = caller.org_id()?;
        Self::begin(app, caller).await?.claim(home, request).await
    }

    /// Continues a change that creates something, or finds the stored answer to the same request in `place`.
    pub async fn claim(mut self, place: OrgId, request: Option<RequestKey>) -> Result<Creation<'a>, ApiError> {
        if let Some(request) = request {
            let (now, since) = (self.now, self.now - ANSWER_LIFE);
            let mut keeper = self.tx.org(place);
            if !keeper.claim_answer(&request, now, since).await? {
                let kept = keeper.kept_answer(&request, since).await?;
                let kept = kept.ok_or_else(|| ApiError::Internal("a claimed answer is not there".to_owned()))?;
                return read_answer(self.app, &mut self.tx, place, kept, &request)
                    .await
                    .map(Creation::Replay);
            }
            self.request = Some((place, request));
        }
        Ok(Creation::New(self))
    }

    /// Commits the change together with the answer (201) to repeated requests. `shown_again` is the answer without what
    /// is shown only once.
    pub async fn commit_created(self, shown_again: &impl Serialize) -> Result<(), ApiError> {
        self.commit_answered(StatusCode::CREATED, shown_again).await
    }

    /// Like [`Write::commit_created`], with another status.
    pub async fn commit_answered(mut self, status: StatusCode, shown_again: &impl Serialize) -> Result<(), ApiError> {
        if let Some((place, request)) = self.request.take() {
            // Sealed, because an answer may contain what is sealed elsewhere, such as the value of a plain variable.
            let body = to_json(shown_again)?;
            let at = answer_place(&request);
            let sealed = self.seal_for(place, &at, body.as_bytes()).await?;
            self.tx
                .org(place)
                .keep_answer(&request, status.as_u16(), &sealed)
                .await?;
        }
        self.commit().await
    }
}

/// The stored answer to an idempotent request, if there is one: for work before the transaction.
pub async fn kept_answer(
    app: &App,
    caller: &Caller,
    request: &Option<RequestKey>,
) -> Result<Option<KeptAnswer>, ApiError> {
    let Some(request) = request else { return Ok(None) };
    let (home, since) = (caller.org_id()?, app.clock.now() - ANSWER_LIFE);
    let mut tx = app.db.read().await?;
    match tx.org(home).kept_answer(request, since).await? {
        Some(kept) => read_answer(app, &mut tx, home, kept, request).await.map(Some),
        None => Ok(None),
    }
}

/// The stored answer to the same request. Another body under the same key is rejected.
async fn read_answer(
    app: &App,
    tx: &mut Tx,
    place: OrgId,
    kept: KeptAnswer,
    request: &RequestKey,
) -> Result<KeptAnswer, ApiError> {
    if kept.body_hash != request.body_hash {
        return Err(ApiError::bad(
            "This Idempotency-Key was used with another body. Use a new key.",
        ));
    }
    let body = app.vault.unseal(tx, place, &answer_place(request), &kept.body).await?;
    let body = std::str::from_utf8(&body).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(KeptAnswer {
        body: body.to_owned(),
        ..kept
    })
}

fn answer_place(request: &RequestKey) -> Place<'static> {
    let parts = [&request.caller, &request.method, &request.path, &request.key];
    Place::new(parts.map(String::as_str).join(" "), "answer")
}
