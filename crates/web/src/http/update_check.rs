//! The public check (`docs/reference/updates.md#the-public-check`): answered from memory, with no query, lock, log line
//! or counter row.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use launchway_api::open;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::build_number::CurrentBuild;
use launchway_domain::ota::{self, Caller, Decision};
use launchway_domain::percent::decode_path;
use launchway_domain::time::{EpochMs, iso_bytes};
use launchway_domain::version::Version;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{Entry, TrustSet, Updates};

use crate::http::check_query::{CheckQuery, Parameter};

/// The path of the check, before the bundle identifier.
pub const PREFIX: &str = "/api/update/check/";
const MAX_LABEL: usize = 128;
const NO_UPDATES_FOUND: &[u8] = br#"{"updateAvailable":false,"message":"No updates found for this bundle"}"#;
const NO_UPDATE: &[u8] = br#"{"updateAvailable":false,"message":"No update available"}"#;
/// The room for most answers.
const ANSWER_BYTES: usize = 1536;

/// The parsed parameters of a check.
struct Question<'q> {
    caller: Caller<'q>,
    /// The update that the app reports as running.
    current_update: Option<&'q str>,
}

impl<'q> Question<'q> {
    /// The caller. If it does not send its build, the build of its running update is used.
    fn caller(&self, updates: &Updates<'_>) -> Caller<'q> {
        let mut caller = self.caller.clone();
        if caller.build.is_none() {
            caller.running = self.current_update.and_then(|id| updates.running(&caller, id));
        }
        caller
    }

    fn wants_device_fields(&self) -> bool {
        self.caller.device_id.is_some() || self.current_update.is_some()
    }

    /// Writes the end of an answer: the versions of the app's metadata for a caller that names itself, and the bracket.
    fn write_end(&self, trust: Option<&TrustSet>, out: &mut Vec<u8>) {
        if let Some(trust) = trust.filter(|_| self.wants_device_fields()) {
            out.extend_from_slice(br#","trust":"#);
            out.extend_from_slice(trust.announcement().as_bytes());
        }
        out.push(b'}');
    }

    /// Writes the answer without an update.
    fn write_no_update(&self, answer: &'static [u8], trust: Option<&TrustSet>, out: &mut Vec<u8>) {
        out.extend_from_slice(answer.strip_suffix(b"}").unwrap_or(answer));
        self.write_end(trust, out);
    }
}

/// Checks whether there is an update for an installed app.
///
/// Needs no authentication. `url` is valid for 1 hour; afterwards check again. The response must not be cached.
#[utoipa::path(
    get,
    path = "/update/check/{bundleId}",
    tag = "Update",
    params(
        ("bundleId" = String, Path, description = "App bundle identifier, in any letter case", example = "com.example.app"),
        ("currentVersion" = String, Query, description = "Installed app version; `1` and `1.2` are read as `1.0.0` and `1.2.0`", example = "1.0.0"),
        ("currentBuild" = Option<String>, Query, description = "Installed build number: digits, also dotted (`1.0.3`), at most 64 characters. Without it, the build of `currentUpdateId` is used if that update is known and has this version; otherwise no update of the same version is offered."),
        ("platform" = Option<open::Platform>, Query, description = "Without it, updates for every platform are considered"),
        ("fingerprint" = Option<String>, Query, description = "Hash of the installed runtime fingerprint, at most 128 visible ASCII characters"),
        ("configuration" = Option<String>, Query, description = "Deployment target, such as `production`; without it, only updates for every configuration are considered"),
        ("deviceId" = Option<String>, Query, description = "Any stable id of the device, at most 128 bytes. Only a caller that sends it is offered an update whose rollout is below 100 %; it also gets `id`, `sha256`, `size`, `mandatory` and `reportToken`, and `trust` for an app with a root."),
        ("currentUpdateId" = Option<String>, Query, description = "The update that the app runs. A caller that sends it also gets `id`, `sha256`, `size` and `mandatory`, and `trust` for an app with a root. Without `currentBuild` it determines the installed build, so an app must forget it when the store replaces the app. An unknown id is ignored."),
    ),
    responses(
        (status = 200, description = "Whether there is an update; never cached", body = launchway_api::check::CheckResult),
        (status = 400, description = "`currentVersion is required`, or a malformed parameter", body = launchway_api::error::ErrorBody),
        (status = 500, description = "An internal error", body = launchway_api::error::ErrorBody),
        (status = 429, description = "The rate limit of the client address is exceeded", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn check(
    State(app): State<Arc<App>>,
    origin: axum::Extension<Origin>,
    request: Request,
) -> axum::response::Response {
    let bundle = request.uri().path().strip_prefix("/update/check/").unwrap_or_default();
    let answer = answer(
        &app,
        bundle,
        request.uri().query().unwrap_or_default(),
        origin.0.address,
    );
    answer.map(axum::body::Body::from)
}

/// The check without a bundle identifier: always the same 400.
pub async fn check_without_bundle(
    State(app): State<Arc<App>>,
    origin: axum::Extension<Origin>,
) -> axum::response::Response {
    answer(&app, "", "", origin.0.address).map(axum::body::Body::from)
}

/// Answers one check. `bundle` is the last part of the path, still percent-encoded; `query` is the text after `?`.
pub fn answer(app: &App, bundle: &str, query: &str, address: IpAddr) -> Response<Bytes> {
    let mut body = Vec::with_capacity(ANSWER_BYTES);
    match write(app, bundle, query, address, app.clock.now(), &mut body) {
        Ok(()) => respond(StatusCode::OK, body, None),
        Err(failure) => refuse(&failure),
    }
}

/// Appends the body of the answer to one check, like [`answer`]. What it appended before an error is worthless.
///
/// # Errors
/// The refusal of a check that is malformed or one too many.
pub fn write(
    app: &App,
    bundle: &str,
    query: &str,
    address: IpAddr,
    now: EpochMs,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    app.addresses.count(address, now).map_err(ApiError::RateLimited)?;
    write_answer(app, bundle, query, now, out)
}

/// The refusal of a request of an app, whose page may have any origin.
pub fn refuse(failure: &ApiError) -> Response<Bytes> {
    let body = serde_json::to_vec(&failure.body()).unwrap_or_default();
    let wait = match failure {
        ApiError::RateLimited(seconds) => Some(*seconds),
        _ => None,
    };
    respond(failure.status().0, body, wait)
}

/// Any page may send checks, without credentials (`docs/reference/conventions.md#cors`).
pub async fn preflight() -> axum::response::Response {
    let mut response = respond(StatusCode::OK, Bytes::new(), None).map(axum::body::Body::from);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("*, Content-Type"),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

fn respond(status: StatusCode, body: impl Into<Bytes>, wait: Option<u64>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-store, must-revalidate"),
    );
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Some(seconds) = wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn write_answer(app: &App, bundle: &str, query: &str, now: EpochMs, out: &mut Vec<u8>) -> Result<(), ApiError> {
    let bundle_id = decode_path(bundle);
    if bundle_id.trim_ascii().is_empty() {
        return Err(ApiError::bad("Bundle ID is required"));
    }
    let query = CheckQuery::parse(query);
    let question = read_question(&query)?;
    // No app has an id that is not text.
    let asked = std::str::from_utf8(&bundle_id).unwrap_or_default();
    let tells_build = question.caller.build.is_some() || question.current_update.is_some();
    app.index
        .read_for_device(asked, tells_build, |updates, trust| match updates {
            Some(updates) => choose(app, &question, &updates, trust, asked, now, out),
            None => {
                question.write_no_update(NO_UPDATES_FOUND, trust, out);
                Ok(())
            }
        })
}

/// Calls `look` with the caller of this query and the updates that the check decides on, which are those of
/// [`write_answer`]. `None` for a bundle without updates.
///
/// # Errors
/// The refusal of a malformed check.
pub fn look<T>(
    app: &App,
    bundle_id: &str,
    query: &str,
    look: impl FnOnce(&Caller<'_>, &Updates<'_>) -> T,
) -> Result<Option<T>, ApiError> {
    let query = CheckQuery::parse(query);
    let question = read_question(&query)?;
    Ok(app
        .index
        .read(bundle_id, |updates| look(&question.caller(&updates), &updates)))
}

/// Writes the answer for a bundle that has updates.
fn choose(
    app: &App,
    question: &Question<'_>,
    updates: &Updates<'_>,
    trust: Option<&TrustSet>,
    bundle_id: &str,
    now: EpochMs,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    let (entry, reason) = match ota::decide(&question.caller(updates), updates) {
        Decision::NoUpdate => {
            question.write_no_update(NO_UPDATE, trust, out);
            return Ok(());
        }
        Decision::Update(entry) => (entry, None),
        Decision::StoreUpdate(entry) => {
            let installed = question.caller.fingerprint.unwrap_or_default();
            let reason = entry.reason(installed);
            (entry, Some(reason))
        }
    };
    write_update(app, question, &entry, reason, bundle_id, now, out)?;
    question.write_end(trust, out);
    Ok(())
}

/// Writes the answer with an update, up to its [end](Question::write_end).
fn write_update(
    app: &App,
    question: &Question<'_>,
    entry: &Entry<'_>,
    reason: Option<&str>,
    bundle_id: &str,
    now: EpochMs,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    out.extend_from_slice(match reason {
        None => br#"{"updateAvailable":true,"requiresStoreUpdate":false,"#,
        Some(_) => br#"{"updateAvailable":true,"requiresStoreUpdate":true,"#,
    });
    entry
        .write_fields(out)
        .map_err(|error| ApiError::Internal(format!("reading release notes: {error}")))?;
    out.extend_from_slice(br#","url":""#);
    let sign = |out: &mut Vec<u8>| {
        let (key, name) = (entry.blob_key()?, entry.file_name());
        Some(app.blob.presign_get_into(out, &key, &name, now, SIGNED_URL_SECONDS))
    };
    let expires_at = app
        .hot_urls
        .push(out, entry.update_id, now, sign)
        .ok_or_else(|| ApiError::Internal("the key of a package is not readable".to_owned()))?;
    out.extend_from_slice(br#"","expiresAt":""#);
    out.extend_from_slice(&iso_bytes(expires_at));
    out.extend_from_slice(br#"","compatibilityReason":"#);
    match reason {
        None => out.extend_from_slice(b"null"),
        Some(reason) => serde_json::to_writer(&mut *out, reason)
            .map_err(|error| ApiError::Internal(format!("writing a reason: {error}")))?,
    }
    if question.wants_device_fields() {
        entry.write_device_fields(out);
        if let Some(device) = question.caller.device_id {
            out.extend_from_slice(br#","reportToken":""#);
            app.report_tokens.sign(out, bundle_id, entry.update_id, device, now);
            out.push(b'"');
        }
    }
    Ok(())
}

fn read_question<'q>(query: &'q CheckQuery<'_>) -> Result<Question<'q>, ApiError> {
    let version = query
        .get(Parameter::CurrentVersion)?
        .ok_or_else(|| ApiError::bad("currentVersion is required"))?;
    let build = query.get(Parameter::CurrentBuild)?;
    let platform = query
        .get(Parameter::Platform)?
        .map(str::parse)
        .transpose()
        .map_err(|_| ApiError::bad("platform must be ios, android or visionos"))?;
    let fingerprint = query.get(Parameter::Fingerprint)?;
    let configuration = query.get(Parameter::Configuration)?;
    let device_id = query.get(Parameter::DeviceId)?;
    let current_update = query.get(Parameter::CurrentUpdateId)?;
    // A plus sign that was not escaped arrives as a space, which no version contains.
    let version = if version.contains(' ') {
        version.replace(' ', "+").into()
    } else {
        std::borrow::Cow::from(version)
    };
    let version = Version::parse(&version)
        .map_err(|_| ApiError::bad("currentVersion must be a semantic version such as 1.2.3"))?;
    let build = build.map(CurrentBuild::parse).transpose().map_err(|_| {
        ApiError::bad("currentBuild must be numerals, also dotted such as 1.0.3, at most 64 characters")
    })?;
    if fingerprint.is_some_and(|hash| hash.len() > MAX_LABEL || !hash.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(ApiError::bad("fingerprint must be 1 to 128 visible ASCII characters"));
    }
    for (name, value) in [
        ("configuration", configuration),
        ("deviceId", device_id),
        ("currentUpdateId", current_update),
    ] {
        if value.is_some_and(|text| text.len() > MAX_LABEL) {
            return Err(ApiError::bad(format!("{name} must have at most {MAX_LABEL} bytes")));
        }
    }
    let caller = Caller {
        platform,
        version,
        build,
        running: None,
        fingerprint,
        configuration,
        device_id,
    };
    Ok(Question { caller, current_update })
}
