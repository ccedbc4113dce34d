//! Forms that were sent after their session had ended. What was typed is sealed for the user whose page the form comes from,
//! and shown again, filled in, once that user has signed in; it is never sent on by itself. Files and secrets are not kept.

use axum::extract::Request;
use axum::http::header;
use http_body_util::{BodyExt, Limited};
use launchway_domain::env_var::Visibility;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::org::SESSION_LIFE;
use launchway_domain::time::{EpochMs, HOUR};
use launchway_store::KeptForm;

use super::form_data::{FormData, LARGEST, content_type};
use super::parts::FormParts;
use super::visitor::form_token;
use crate::api_error::ApiError;
use crate::app::App;
use crate::vault::Place;
use subtle::ConstantTimeEq;

/// How long a form is kept.
pub const KEPT_FOR: EpochMs = HOUR;
/// Forms that are kept for one user; the oldest goes first.
const MOST: i64 = 5;
/// Bytes of what was typed. A value of an environment variable has up to 64 KiB.
const LARGEST_KEPT: usize = 256 << 10;
/// The parameter that names a kept form.
pub const KEPT: &str = "kept";
/// Within so many bytes of a form stands its token: pages send it first.
const BEFORE_TOKEN: usize = 4096;
/// Fields that are not kept: what proves where the form comes from, and secrets.
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

/// The session and the user whose page a form comes from: its token, which only this server can write, names them. A token is
/// worth nothing once its session must be over, so that one that leaked does not name its user for ever.
pub fn owner(app: &App, form_data: &FormData) -> Option<(SessionId, UserId)> {
    let given = form_data.text("token").ok()?;
    let mut parts = given.split('.');
    let (session, user): (SessionId, UserId) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let expected = form_token(app, session, user);
    let is_ours = bool::from(given.as_bytes().ct_eq(expected.as_bytes()));
    (is_ours && app.clock.now() < session.made_at() + SESSION_LIFE).then_some((session, user))
}

/// The fields of a form whose session has ended, without its files. `None` where nothing of it can be read.
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

/// Reads the pairs of a form. Whoever sends more than the token needs must have sent one of this server first: strangers
/// must not fill the memory.
async fn pairs(app: &App, request: Request) -> Option<Vec<u8>> {
    let mut body = Limited::new(request.into_body(), LARGEST);
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

/// Reads the fields of a form with files. The files of a form that streams are read to their end, as browsers show no answer
/// before they have sent all, but only behind a token of this server. Without one, no more is read than the token needs.
async fn of_parts(app: &App, request: Request, streams: bool) -> Option<FormData> {
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse::<usize>()
        .ok()?;
    if !streams && announced > LARGEST {
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
            (room, is_ours) = (LARGEST_KEPT, true);
        }
    }
    Some(form_data)
}

/// What of a form is kept: name and value of each field.
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

/// What people typed of a form, to be shown to them where the form itself cannot be.
pub fn typed(form_data: &FormData) -> Vec<(String, String)> {
    let fields = kept_fields(form_data).into_iter();
    fields
        .filter(|(name, value)| !["revision", "seen"].contains(&name.as_str()) && !value.is_empty())
        .collect()
}

/// Keeps a form for its user; gives its name. `None` where nothing was typed, or too much.
pub async fn keep(app: &App, user: UserId, form_data: &FormData) -> Result<Option<String>, ApiError> {
    let fields = kept_fields(form_data);
    let text = serde_json::to_vec(&fields).map_err(|error| ApiError::Internal(error.to_string()))?;
    if fields.is_empty() || text.len() > LARGEST_KEPT {
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
    let kept = tx.system(REASON).keep_form(&form, MOST).await?;
    tx.commit().await?;
    Ok(kept.then_some(form.id))
}

/// A form that is kept for this user; `None` when it is another's, or its time is over.
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
