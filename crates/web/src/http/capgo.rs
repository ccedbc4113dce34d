//! The routes of Capgo's clients (`docs/reference/capgo.md`). Requests for an update are answered from memory like the public check,
//! with no query, lock or log line.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use http_body::Body as HttpBody;
use http_body_util::BodyExt;
use launchway_domain::platform::Platform;
use launchway_domain::release::Protocol;
use launchway_domain::report::ReportKind;
use launchway_domain::time::EpochMs;
use launchway_foreign::capgo::{
    ChannelAnswer, ChannelRequest, Choice, Device, DevicePlatform, ErrorCode, MAX_BODY_BYTES, MAX_STATS_BYTES,
    Response as Answer, StatsEvent, UpdateAnswer, UpdateRequest, choose, current, read_stats, stats_answer,
};
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ota::{ForeignBundle, NamedRelease};
use launchway_store::Report;

use crate::http::foreign;

/// The path of all apps, before the bundle identifier of one.
pub const PREFIX: &str = "/capgo/";
/// Where clients ask for an update.
pub const UPDATES: &str = "/capgo/updates";
/// Where clients report.
pub const STATS: &str = "/capgo/stats";
/// Where devices choose their channel.
pub const CHANNEL_SELF: &str = "/capgo/channel_self";

/// How much of a body is taken from its connection, in bytes. What is beyond the limit of a route is not kept.
const MAX_TAKEN: usize = 1 << 20;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NEVER: HeaderValue = HeaderValue::from_static("no-store");

/// `POST` [`UPDATES`].
pub async fn updates(State(app): State<Arc<App>>, origin: Extension<Origin>, request: Request) -> Response<Body> {
    let body = read_request(request.into_body()).await;
    answer(&app, &body, origin.0.address).map(Body::from)
}

/// The body of a request for an update.
pub async fn read_request<B: HttpBody<Data = Bytes>>(body: B) -> Bytes {
    read_start(body, MAX_BODY_BYTES + 1).await
}

/// Answers one request for an update.
pub fn answer(app: &App, body: &[u8], address: IpAddr) -> Response<Bytes> {
    let now = app.clock.now();
    if let Err(seconds) = app.addresses.count(address, now) {
        return respond(UpdateAnswer::TooManyRequests(seconds).respond());
    }
    let request = match UpdateRequest::read(body) {
        Ok(request) => request,
        Err(answer) => return respond(answer.respond()),
    };
    let bundle_id = request.device.app_id.as_deref().unwrap_or_default();
    let found = app
        .index
        .foreign()
        .check(bundle_id, |bundle| decide(app, bundle, &request, now));
    respond(found.unwrap_or_else(|| UpdateAnswer::Error(ErrorCode::UnknownApp).respond()))
}

fn decide(app: &App, bundle: &ForeignBundle, request: &UpdateRequest<'_>, now: EpochMs) -> Answer {
    let device = &request.device;
    let Some(platform) = device.platform.map(DevicePlatform::releases) else {
        return UpdateAnswer::Error(ErrorCode::UnsupportedPlatform).respond();
    };
    let running = current(device, named(bundle, device, platform).map(NamedRelease::held));
    let release = match choose(request, platform, running, bundle.offered()) {
        Choice::Update(release) => release,
        Choice::BuiltIn => return UpdateAnswer::BuiltIn.respond(),
        Choice::NeedsNewApp(release) => return UpdateAnswer::NeedsNewApp(&release.name).respond(),
        Choice::Keep(code) => return UpdateAnswer::Error(code).respond(),
    };
    let update = UpdateAnswer::Update {
        name: &release.name,
        url: &foreign::package_url(app, release, now),
        sha256: &release.sha256,
        files: bundle
            .capgo()
            .get(release.update_id)
            .filter(|_| device.installs_files()),
    };
    update.respond()
}

/// The release that a device says it runs.
fn named<'b>(bundle: &'b ForeignBundle, device: &Device<'_>, platform: Platform) -> Option<&'b NamedRelease> {
    bundle.named(Protocol::Capgo, platform, device.update_name()?)
}

/// `POST` [`STATS`]: what happened on devices. Every body is accepted, also while reports cannot be stored: clients send what was
/// refused again every second.
pub async fn stats(State(app): State<Arc<App>>, origin: Extension<Origin>, request: Request) -> Response<Body> {
    let now = app.clock.now();
    let is_counted = app.addresses.count(origin.0.address, now).is_ok();
    let body = read_start(request.into_body(), MAX_STATS_BYTES).await;
    if is_counted {
        let events = read_stats(&body);
        let reports: Vec<Report> = events.iter().filter_map(|event| report(&app, event, now)).collect();
        if !reports.is_empty() {
            let _ = app.reports.count(reports).await;
        }
    }
    respond(stats_answer()).map(Body::from)
}

/// The report that an event stands for, of a device that names itself, about an update that its app can have.
fn report(app: &App, event: &StatsEvent<'_>, now: EpochMs) -> Option<Report> {
    let device = &event.device;
    let platform = device.platform?.releases();
    let update_id = app.index.foreign().read(device.app_id.as_deref()?, |bundle| {
        named(bundle, device, platform).map(|named| named.update_id)
    })??;
    let tells = matches!(event.kind, ReportKind::Failed | ReportKind::RolledBack);
    let reason = tells.then(|| event.action.to_owned());
    let device = device.device_id.as_deref()?;
    Some(foreign::report(app, update_id, device, event.kind, reason, now))
}

/// [`CHANNEL_SELF`]: the device keeps its choice; here it learns whether there is such a channel.
pub async fn channel_self(State(app): State<Arc<App>>, origin: Extension<Origin>, request: Request) -> Response<Body> {
    if let Err(seconds) = app.addresses.count(origin.0.address, app.clock.now()) {
        return respond(UpdateAnswer::TooManyRequests(seconds).respond()).map(Body::from);
    }
    let (head, body) = request.into_parts();
    let body = read_start(body, MAX_BODY_BYTES + 1).await;
    let query = head.uri.query().unwrap_or_default();
    let answer = match ChannelRequest::read(head.method.as_str(), query, &body) {
        Ok(request) => answer_channel(&app, &request),
        Err(answer) => answer.respond(None),
    };
    respond(answer).map(Body::from)
}

fn answer_channel(app: &App, request: &ChannelRequest<'_>) -> Answer {
    let device = request.device();
    let Some(platform) = device.platform else {
        return ChannelAnswer::Error(ErrorCode::UnsupportedPlatform).respond(None);
    };
    let bundle_id = device.app_id.as_deref().unwrap_or_default();
    let answer = app.index.foreign().read(bundle_id, |bundle| match request {
        ChannelRequest::Enter(_, channel) => {
            match bundle.has_configuration(Protocol::Capgo, platform.releases(), channel) {
                true => ChannelAnswer::Entered,
                false => ChannelAnswer::Error(ErrorCode::ChannelNotFound),
            }
        }
        ChannelRequest::Leave(_) => ChannelAnswer::Left,
        ChannelRequest::Current(_) => ChannelAnswer::Current(device.default_channel.as_deref()),
        // Anybody may ask, and names of configurations may say what is not public.
        ChannelRequest::List(_) => ChannelAnswer::List(&[]),
    });
    let answer = answer.unwrap_or(ChannelAnswer::Error(ErrorCode::UnknownApp));
    answer.respond(Some(platform))
}

/// The first `limit` bytes of a body, or what arrived of them. The rest is read as well, up to [`MAX_TAKEN`], so that a client that
/// does not read before it has sent everything gets its answer.
async fn read_start<B: HttpBody<Data = Bytes>>(body: B, limit: usize) -> Bytes {
    let mut body = pin!(body);
    // Most bodies are in one piece, which is not copied.
    let (mut first, mut more, mut taken) = (Bytes::new(), Vec::new(), 0_usize);
    while taken < MAX_TAKEN && !body.is_end_stream() {
        let Some(Ok(frame)) = body.frame().await else { break };
        let Ok(data) = frame.into_data() else { continue };
        let kept = data.len().min(limit - first.len() - more.len());
        match taken {
            0 => first = data.slice(..kept),
            _ => more.extend_from_slice(&data[..kept]),
        }
        taken += data.len();
    }
    match more.is_empty() {
        true => first,
        false => [&first[..], &more].concat().into(),
    }
}

fn respond(answer: Answer) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, NEVER);
    if let Some(seconds) = answer.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
