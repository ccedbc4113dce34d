//! Forms that were sent after their session had ended. The typed values are sealed for the user of the form's page, and
//! shown again, filled in, once that user has signed in; they are never submitted automatically. Files and secrets are
//! not kept.

use axum::extract::Request;
use axum::http::header;
use http_body_util::{BodyExt, Limited};
use launchway_domain::env_var::Visibility;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::SESSION_LIFE;
use launchway_domain::time::{EpochMs, HOUR};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_store::KeptForm;
use launchway_vault::Place;

use super::form_data::{FormData, MAX_FORM_BYTES, content_type};
use super::parts::FormParts;
use super::visitor::form_token;
use subtle::ConstantTimeEq;

/// How long a form is kept.
pub const KEPT_FOR: EpochMs = HOUR;
/// Forms that are kept for one user; the oldest is removed first.
const MAX_FORMS: i64 = 5;
/// The maximum size of the typed values in bytes. A value of an environment variable has up to 64 KiB.
const MAX_KEPT_BYTES: usize = 256 << 10;
/// The parameter that names a kept form.
pub const KEPT: &str = "kept";
/// A form's token is within this many bytes: pages send it first.
const BEFORE_TOKEN: usize = 4096;
/// Fields that are not kept: proofs of origin, and secrets.
const LEFT_OUT: [&str; 8] = [
    "token",
    "current",
    "password",
    "present",
    "code",
    "keyPassword",
    "once",
    "content",
];
const REASON: &str = "a kept form belongs to a user, not to a tenant";

/// The session and the user of a form's page, which its token names; only this server can create it. A token expires
/// with the longest lifetime of its session, so that a leaked one does not name its user forever.
pub fn owner(app: &App, form_data: &FormData) -> Option<(SessionId, UserId)> {
    let given = form_data.text("token").ok()?;
    let mut parts = given.split('.');
    let (session, user): (SessionId, UserId) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let expected = form_token(app, session, user);
    let is_ours = bool::from(given.as_bytes().ct_eq(expected.as_bytes()));
    (is_ours && app.clock.now() < session.created_at() + SESSION_LIFE).then_some((session, user))
}

/// The fields of a form whose session has ended, without its files. `None` if it cannot be read.
pub async fn read(app: &App, request: Request, streams: bool) -> Option<FormData> {
    let kind = content_type(request.headers());
    if kind == "multipart/form-data" {
        return of_parts(app, request, streams).await;
    }
    if kind != "application/x-www-form-urlencoded" {
        return None;
    }
    let body = pairs(app, request).await?;
    FormData::of_form(&body).ok()
}

/// Reads a URL-encoded form. Beyond the size of the token, it must have shown a token of this server first: strangers
/// must not fill the memory.
async fn pairs(app: &App, request: Request) -> Option<Vec<u8>> {
    let mut body = Limited::new(request.into_body(), MAX_FORM_BYTES);
    let (mut read, mut is_ours) = (Vec::new(), false);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.ok()?.into_data() {
            read.extend_from_slice(&data);
        }
        if !is_ours && read.len() > BEFORE_TOKEN {
            let whole = read[..BEFORE_TOKEN].iter().rposition(|byte| *byte == b'&')?;
            owner(app, &FormData::of_pairs(std::str::from_utf8(&read[..whole]).ok()?))?;
            is_ours = true;
        }
    }
    Some(read)
}

/// Reads the fields of a form with files. The files of a streaming form are read to their end, because browsers show no
/// response before they have sent everything, but only after a token of this server. Without one, no more is read than
/// the token needs.
async fn of_parts(app: &App, request: Request, streams: bool) -> Option<FormData> {
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse::<usize>()
        .ok()?;
    if !streams && announced > MAX_FORM_BYTES {
        return None;
    }
    let mut parts = FormParts::of_stranger(request).await.ok()?;
    let (mut form_data, mut room, mut is_ours) = (FormData::default(), BEFORE_TOKEN, false);
    while let Some(part) = parts.next().await.ok()? {
        if part.file_name().is_some() {
            if !is_ours {
                return None;
            }
            part.skip().await.ok()?;
            continue;
        }
        let name = part.name();
        let value = part.whole(room).await.ok()?;
        room -= value.len();
        form_data.add(name, value);
        if !is_ours && owner(app, &form_data).is_some() {
            (room, is_ours) = (MAX_KEPT_BYTES, true);
        }
    }
    Some(form_data)
}

/// The kept fields of a form: name and value.
fn kept_fields(form_data: &FormData) -> Vec<(String, String)> {
    let is_secret = form_data
        .text("visibility")
        .is_ok_and(|visibility| visibility.parse() == Ok(Visibility::Secret));
    let fields = form_data.fields().into_iter();
    fields
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .filter(|(name, _)| name != "value" || !is_secret)
        .collect()
}

/// What the user typed into a form, for display where the form itself cannot be shown.
pub fn typed_fields(form_data: &FormData) -> Vec<(String, String)> {
    let fields = kept_fields(form_data).into_iter();
    fields
        .filter(|(name, value)| !["revision", "seen"].contains(&name.as_str()) && !value.is_empty())
        .collect()
}

/// Keeps a form for its user and returns its id. `None` if nothing was typed, or too much.
pub async fn keep(app: &App, user: UserId, form_data: &FormData) -> Result<Option<String>, ApiError> {
    let fields = kept_fields(form_data);
    let text = serde_json::to_vec(&fields).map_err(|error| ApiError::Internal(error.to_string()))?;
    if fields.is_empty() || text.len() > MAX_KEPT_BYTES {
        return Ok(None);
    }
    let id = app.random.token();
    let form = KeptForm {
        sealed: app.vault.seal_kept_form(user, &Place::new(&id, "kept form"), &text),
        expires_at: app.clock.now() + KEPT_FOR,
        user_id: user,
        id,
    };
    let mut tx = app.db.write().await?;
    let kept = tx.system(REASON).keep_form(&form, MAX_FORMS).await?;
    tx.commit().await?;
    Ok(kept.then_some(form.id))
}

/// A kept form of this user; `None` if it belongs to another user or has expired.
pub async fn find(app: &App, user: UserId, id: &str) -> Result<Option<FormData>, ApiError> {
    let mut tx = app.db.read().await?;
    let sealed = tx.system(REASON).kept_form(id, user, app.clock.now()).await?;
    let Some(sealed) = sealed else { return Ok(None) };
    let text = app.vault.open_kept_form(user, &Place::new(id, "kept form"), &sealed)?;
    let fields: Vec<(String, String)> =
        serde_json::from_slice(&text).map_err(|error| ApiError::Internal(error.to_string()))?;
    let mut form_data = FormData::default();
    for (name, value) in fields {
        form_data.add(name, value.into_bytes());
    }
    Ok(Some(form_data))
}
