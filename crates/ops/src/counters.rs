//! What the process counts and times about itself (`docs/operating.md#metrics`). Labels are words of this program, never
//! what a caller chooses: no organization, no id, no raw path.

mod histogram;

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use launchway_domain::build::BuildStatus;
use launchway_domain::platform::Platform;
use launchway_domain::submission::{Store, SubmissionStatus};
use launchway_domain::time::EpochMs;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

pub use histogram::{Bounds, Histogram};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// The route of a request that matches none.
const NO_ROUTE: &str = "none";
/// One check in so many is timed: the clock costs more than all the rest of the counting.
const SAMPLE: u32 = 64;

const CHECK: Bounds = bounds(Duration::from_nanos(250), 1, 14);
const REQUEST: Bounds = bounds(Duration::from_millis(1), 2, 8);
const WAIT: Bounds = bounds(Duration::from_secs(1), 1, 14);
const LAG: Bounds = bounds(Duration::from_millis(1), 2, 12);
const SUBMISSION: Bounds = bounds(Duration::from_secs(1), 2, 11);

const fn bounds(unit: Duration, shift: u32, count: usize) -> Bounds {
    Bounds { unit, shift, count }
}

/// Something that a committed change counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A runner took a build, so many milliseconds after the build was queued.
    BuildTaken(Platform, EpochMs),
    /// An attempt ended a build, so many milliseconds after its first attempt began.
    BuildEnded(Platform, BuildStatus, EpochMs),
    /// The work on a submission ended, so many milliseconds after it was requested.
    SubmissionEnded(Store, SubmissionStatus, EpochMs),
}

/// A part of the way from an event to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookStage {
    /// From the event to its deliveries.
    FanOut,
    /// From a delivery to its first attempt.
    FirstAttempt,
}

/// The counters. They start at zero with the process.
pub struct Counters {
    checks: ByClass,
    check_times: Histogram,
    trust: ByClass,
    requests: ByClass,
    request_seconds: Counter<f64, AtomicU64>,
    request_times: Family<RequestLabels, Histogram>,
    waits: Family<PlatformLabel, Histogram>,
    builds: Family<BuildLabels, Histogram>,
    lags: Family<StageLabel, Histogram>,
    submissions: Family<SubmissionLabels, Histogram>,
    /// When the process started.
    pub started: EpochMs,
}

/// A counter for each class of status.
struct ByClass {
    family: Family<ClassLabel, Counter>,
    /// The same counters: an array needs no lock.
    counters: [Counter; CLASSES.len()],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClassLabel {
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PlatformLabel {
    platform: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    platform: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StageLabel {
    stage: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SubmissionLabels {
    store: &'static str,
    status: &'static str,
}

impl Counters {
    /// Counters for a process that starts now.
    pub fn new(now: EpochMs) -> Counters {
        Counters {
            checks: ByClass::new(),
            check_times: Histogram::new(CHECK),
            trust: ByClass::new(),
            requests: ByClass::new(),
            request_seconds: Counter::default(),
            request_times: Family::new_with_constructor(|| Histogram::new(REQUEST)),
            waits: Family::new_with_constructor(|| Histogram::new(WAIT)),
            builds: Family::new_with_constructor(|| Histogram::new(WAIT)),
            lags: Family::new_with_constructor(|| Histogram::new(LAG)),
            submissions: Family::new_with_constructor(|| Histogram::new(SUBMISSION)),
            started: now,
        }
    }

    /// The start of a check that is to be timed: one in 64 of each thread.
    pub fn check_start() -> Option<Instant> {
        thread_local! {
            static TURN: Cell<u32> = const { Cell::new(0) };
        }
        let turn = TURN.get();
        TURN.set(turn.wrapping_add(1));
        turn.is_multiple_of(SAMPLE).then(Instant::now)
    }

    /// Counts a public check, without a lock. `start` is what [`Counters::check_start`] returned before it.
    pub fn check(&self, status: StatusCode, start: Option<Instant>) {
        self.checks.counters[class(status)].inc();
        if let Some(start) = start {
            self.check_times.observe(start.elapsed());
        }
    }

    /// Counts a request for signed metadata, without a lock.
    pub fn trust(&self, status: StatusCode) {
        self.trust.counters[class(status)].inc();
    }

    /// Counts any other request. `route` is the template of the path that it matched.
    pub fn request(&self, route: Option<&str>, method: &Method, status: StatusCode, took: Duration) {
        self.requests.counters[class(status)].inc();
        self.request_seconds.inc_by(took.as_secs_f64());
        let labels = RequestLabels {
            route: route.unwrap_or(NO_ROUTE).to_owned(),
            // A caller could otherwise add a series to every route by each method that the route lacks.
            method: match (route, status) {
                (None, _) | (_, StatusCode::METHOD_NOT_ALLOWED) => "other",
                _ => word(method),
            },
            status: CLASSES[class(status)],
        };
        self.request_times.get_or_create(&labels).observe(took);
    }

    /// Counts what a committed change observed.
    pub fn observe(&self, observation: Observation) {
        match observation {
            Observation::BuildTaken(platform, millis) => {
                let platform = platform.as_str();
                self.waits
                    .get_or_create(&PlatformLabel { platform })
                    .observe(span(millis));
            }
            Observation::BuildEnded(platform, status, millis) => {
                let (platform, status) = (platform.as_str(), status.as_str());
                let labels = BuildLabels { platform, status };
                self.builds.get_or_create(&labels).observe(span(millis));
            }
            Observation::SubmissionEnded(store, status, millis) => {
                let (store, status) = (store.as_str(), status.as_str());
                let labels = SubmissionLabels { store, status };
                self.submissions.get_or_create(&labels).observe(span(millis));
            }
        }
    }

    /// Counts the milliseconds that a webhook's message waited.
    pub fn webhook(&self, stage: WebhookStage, millis: EpochMs) {
        let stage = match stage {
            WebhookStage::FanOut => "fan_out",
            WebhookStage::FirstAttempt => "first_attempt",
        };
        self.lags.get_or_create(&StageLabel { stage }).observe(span(millis));
    }

    /// All of them by their names. The library adds `_total` to counters, and a full stop to descriptions.
    pub fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("launchway");
        let checks = self.checks.family.clone();
        registry.register("checks", "Public checks by status class", checks);
        let help = "Duration of one in 64 public checks, without the connection";
        registry.register("check_seconds", help, self.check_times.clone());
        let trust = self.trust.family.clone();
        registry.register("trust_requests", "Requests for signed metadata by status class", trust);
        let requests = self.requests.family.clone();
        registry.register("requests", "All other requests by status class", requests);
        let help = "Time that all other requests took together";
        registry.register("request_seconds", help, self.request_seconds.clone());
        let help = "Duration of all other requests until the head of the response";
        registry.register("http_request_seconds", help, self.request_times.clone());
        let help = "Time that builds waited for a runner";
        registry.register("build_wait_seconds", help, self.waits.clone());
        let help = "Time from the first attempt of a build to its end";
        registry.register("build_seconds", help, self.builds.clone());
        let help = "Time that messages to webhooks waited";
        registry.register("webhook_lag_seconds", help, self.lags.clone());
        let help = "Time from the request of a submission to its end";
        registry.register("submission_seconds", help, self.submissions.clone());
        registry
    }
}

impl ByClass {
    fn new() -> ByClass {
        let family = Family::default();
        let counters = CLASSES.map(|status| Family::get_or_create_owned(&family, &ClassLabel { status }));
        ByClass { family, counters }
    }
}

fn class(status: StatusCode) -> usize {
    usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1
}

/// The method as a label. Callers may send any word.
fn word(method: &Method) -> &'static str {
    const WORDS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let known = WORDS.into_iter().find(|word| method.as_str() == *word);
    known.unwrap_or("other")
}

fn span(millis: EpochMs) -> Duration {
    // Clocks of other nodes may be ahead.
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn text(counters: &Counters) -> String {
        let mut text = String::new();
        encode(&mut text, &counters.registry()).expect("a text");
        text
    }

    fn has(text: &str, line: &str) {
        assert!(text.lines().any(|have| have == line), "{line} in {text}");
    }

    #[test]
    fn counts_by_status_class() {
        let counters = Counters::new(5_000);
        counters.check(StatusCode::OK, None);
        counters.check(StatusCode::BAD_REQUEST, None);
        let took = Duration::from_millis(1500);
        counters.request(Some("/api/build"), &Method::POST, StatusCode::CREATED, took);
        let text = text(&counters);
        has(&text, "launchway_checks_total{status=\"2xx\"} 1");
        has(&text, "launchway_checks_total{status=\"4xx\"} 1");
        has(&text, "launchway_checks_total{status=\"5xx\"} 0");
        has(&text, "launchway_requests_total{status=\"2xx\"} 1");
        has(&text, "launchway_request_seconds_total 1.5");
        let labels = "route=\"/api/build\",method=\"POST\",status=\"2xx\"";
        has(
            &text,
            &format!("launchway_http_request_seconds_bucket{{le=\"4.096\",{labels}}} 1"),
        );
        has(
            &text,
            &format!("launchway_http_request_seconds_bucket{{le=\"1.024\",{labels}}} 0"),
        );
    }

    #[test]
    fn callers_add_no_series_by_methods_and_paths() {
        let counters = Counters::new(0);
        for number in 0..1000 {
            let method = Method::from_bytes(format!("M{number}").as_bytes()).expect("a method");
            for (route, status) in [
                (None, StatusCode::NOT_FOUND),
                (Some("/api/build"), StatusCode::METHOD_NOT_ALLOWED),
                (Some("/files/{*key}"), StatusCode::FORBIDDEN),
            ] {
                counters.request(route, &method, status, Duration::ZERO);
            }
        }
        let series = text(&counters).matches("launchway_http_request_seconds_count").count();
        assert_eq!(series, 3);
    }

    #[test]
    fn one_check_in_sixty_four_is_timed() {
        let timed = (0..640).filter(|_| Counters::check_start().is_some()).count();
        assert_eq!(timed, 10);
        let counters = Counters::new(0);
        counters.check(StatusCode::OK, Some(Instant::now()));
        counters.check(StatusCode::OK, None);
        has(&text(&counters), "launchway_check_seconds_count 1");
    }

    #[test]
    fn a_clock_that_is_ahead_counts_as_no_time() {
        let counters = Counters::new(0);
        counters.observe(Observation::BuildTaken(Platform::Ios, -5));
        has(
            &text(&counters),
            "launchway_build_wait_seconds_bucket{le=\"1.0\",platform=\"ios\"} 1",
        );
    }
}
