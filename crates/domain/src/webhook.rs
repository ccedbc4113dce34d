//! Webhooks: the record, the events that it receives, and the states of a delivery (`docs/reference/webhooks.md`).

use crate::bundle_id::BundleId;
use crate::id::{DeliveryId, EventId, OrgId, WebhookId};
use crate::time::{DAY, EpochMs};

/// The maximum number of webhooks of an organization.
pub const MAX_WEBHOOKS: i64 = 50;
/// The maximum number of bundle ids of a webhook.
pub const MAX_BUNDLE_IDS: usize = 100;
/// How long a rotated secret continues to sign.
pub const OLD_SECRET_LIFE: EpochMs = DAY;
/// The maximum number of old secrets that sign in addition to the current one; beyond it, the oldest stops.
pub const MAX_OLD_SECRETS: usize = 4;
/// The last characters of a URL that are shown, of one with as many characters after its host.
const SHOWN_LAST: usize = 4;
const MIN_SECRET: usize = 16;
/// What stands for the hidden part of a URL.
pub const HIDDEN: char = '…';
/// How long fanned-out events and finished deliveries are kept.
pub const DELIVERY_LIFE: EpochMs = 30 * DAY;

words! {
    /// The kind of an event.
    EventKind, error = "must be one of the kinds of events",
    /// A build waits for a runner.
    BuildQueued = "build.queued",
    /// A runner claimed a build.
    BuildStarted = "build.started",
    /// A build succeeded.
    BuildSucceeded = "build.succeeded",
    /// A build failed.
    BuildFailed = "build.failed",
    /// A build was canceled.
    BuildCanceled = "build.canceled",
    /// A submission began.
    SubmissionStarted = "submission.started",
    /// A submission succeeded.
    SubmissionSucceeded = "submission.succeeded",
    /// A submission failed.
    SubmissionFailed = "submission.failed",
    /// The app store's review refused a submission.
    SubmissionRejected = "submission.rejected",
    /// An over-the-air update was published.
    UpdatePublished = "update.published",
    /// An update was paused, resumed, or its rollout, urgency or notes changed.
    UpdateChanged = "update.changed",
    /// An update was withdrawn.
    UpdateWithdrawn = "update.withdrawn",
    /// An update awaits its signature.
    UpdateAwaitingSignature = "update.awaiting_signature",
    /// The metadata of an app's signed updates changed.
    TrustChanged = "trust.changed",
    /// A role of an app's signed updates expires soon.
    TrustExpiring = "trust.expiring",
    /// A credential expires soon.
    CredentialExpiring = "credential.expiring",
    /// A test of a webhook. It is sent to that webhook only, whatever its events.
    WebhookTest = "webhook.test",
}

words! {
    /// The format of a delivery's body.
    WebhookType:
    /// `{type, timestamp, data}`, for programs.
    Generic = "generic",
    /// A message for a Slack channel.
    Slack = "slack",
    /// A message for a Teams channel.
    Teams = "teams",
}

words! {
    /// Whether a webhook receives events.
    WebhookStatus:
    /// It receives events.
    Active = "active",
    /// It receives nothing until somebody enables it again.
    Disabled = "disabled",
}

words! {
    /// The status of a delivery.
    DeliveryStatus:
    /// It will be attempted, or attempted again.
    Pending = "pending",
    /// The receiver accepted it.
    Succeeded = "succeeded",
    /// The receiver did not accept it, and no further attempt follows.
    Failed = "failed",
    /// Its webhook was disabled before the receiver accepted it.
    Canceled = "canceled",
}

/// The events that a webhook receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// Every event, including future kinds: `*`.
    All,
    /// Events of these kinds, in the order of the reference, without duplicates, never empty.
    Only(Vec<EventKind>),
}

/// Why a list of events is invalid. The message follows the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    /// The list is empty.
    #[error("must contain one or more of {}, or *", all_kinds())]
    Empty,
    /// The event does not exist.
    #[error("must not contain `{0}`; the events are {all}, and * for all of them", all = all_kinds())]
    Unknown(String),
}

fn all_kinds() -> String {
    let names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    names.join(", ")
}

impl EventFilter {
    /// Parses a list of event kinds; `*` matches all, and duplicates are removed.
    ///
    /// # Errors
    /// An empty list, or a name that is not an event.
    pub fn parse<T: AsRef<str>>(names: &[T]) -> Result<EventFilter, EventsError> {
        let mut kinds = Vec::with_capacity(names.len());
        let mut all = false;
        for name in names.iter().map(AsRef::as_ref) {
            match name.parse() {
                Ok(kind) => kinds.push(kind),
                Err(_) if name == "*" => all = true,
                Err(_) => return Err(EventsError::Unknown(name.chars().take(100).collect())),
            }
        }
        kinds.sort_unstable_by_key(|kind: &EventKind| *kind as usize);
        kinds.dedup();
        match (all, kinds.is_empty()) {
            (true, _) => Ok(EventFilter::All),
            (false, false) => Ok(EventFilter::Only(kinds)),
            (false, true) => Err(EventsError::Empty),
        }
    }

    /// The list in the form that [`EventFilter::parse`] reads.
    pub fn names(&self) -> Vec<String> {
        match self {
            EventFilter::All => vec!["*".to_owned()],
            EventFilter::Only(kinds) => kinds.iter().map(EventKind::to_string).collect(),
        }
    }

    /// Whether the filter includes events of this kind.
    pub fn includes(&self, kind: &str) -> bool {
        match self {
            EventFilter::All => true,
            EventFilter::Only(kinds) => kinds.iter().any(|known| known.as_str() == kind),
        }
    }
}

/// A webhook, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// Whether it receives events.
    pub status: WebhookStatus,
    /// Why it is disabled; `None` while it is active.
    pub disabled_reason: Option<String>,
    /// Its display name.
    pub name: String,
    /// The receiver's URL as it is shown ([`shown_url`]).
    pub url: String,
    /// The form of its deliveries.
    pub kind: WebhookType,
    /// The events it receives.
    pub events: EventFilter,
    /// The apps whose events it receives; empty for all apps.
    pub bundle_ids: Vec<BundleId>,
    /// Since when every attempt has failed; `None` if the last one succeeded.
    pub failing_since: Option<EpochMs>,
    /// The actor that created it, as text.
    pub created_by: String,
    /// When it was created.
    pub created_at: EpochMs,
}

/// What is shown of a webhook's URL, which is a credential: scheme, host and the last characters, if they reveal little.
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, secret) = rest.split_at(end);
    let length = secret.chars().count();
    match length {
        0 | 1 => url.to_owned(),
        _ if secret.trim_start_matches('/').starts_with(HIDDEN) => url.to_owned(),
        2..MIN_SECRET => format!("{scheme}://{host}/{HIDDEN}"),
        _ => {
            let last: String = secret.chars().skip(length - SHOWN_LAST).collect();
            format!("{scheme}://{host}/{HIDDEN}{last}")
        }
    }
}

impl Webhook {
    /// Whether it receives an event. An event without an app is sent to every webhook that receives its kind.
    pub fn is_subscribed_to(&self, kind: &str, bundle_id: Option<&str>) -> bool {
        let of_its_apps = bundle_id.is_none_or(|bundle| {
            self.bundle_ids.is_empty()
                || self
                    .bundle_ids
                    .iter()
                    .any(|wanted| wanted.as_str().eq_ignore_ascii_case(bundle))
        });
        self.status == WebhookStatus::Active && self.events.includes(kind) && of_its_apps
    }
}

/// One event for one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// The webhook it is sent to.
    pub webhook_id: WebhookId,
    /// The event; its id is the same for all attempts and redeliveries.
    pub event_id: EventId,
    /// The kind of the event.
    pub kind: String,
    /// The body in its generic form, identical in every attempt.
    pub body: String,
    /// Its progress.
    pub status: DeliveryStatus,
    /// Why it is no longer attempted, unless its attempts show it.
    pub reason: Option<String>,
    /// Number of attempts.
    pub tries: i64,
    /// When the next attempt is due, while it is pending.
    pub due_at: EpochMs,
    /// When it was created.
    pub created_at: EpochMs,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// When it started.
    pub at: EpochMs,
    /// Its duration in milliseconds.
    pub took_ms: i64,
    /// The HTTP status of the response; `None` if there was none.
    pub response_status: Option<u16>,
    /// Why it failed; `None` if it succeeded.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn webhook(events: &[&str], bundle_ids: &[&str]) -> Webhook {
        Webhook {
            id: WebhookId::new(1, [1; 10]),
            org_id: OrgId::new(1, [1; 10]),
            status: WebhookStatus::Active,
            disabled_reason: None,
            name: "CI".to_owned(),
            url: "https://example.com".to_owned(),
            kind: WebhookType::Generic,
            events: EventFilter::parse(events).unwrap(),
            bundle_ids: bundle_ids.iter().map(|id| id.parse().unwrap()).collect(),
            failing_since: None,
            created_by: "operator".to_owned(),
            created_at: 1,
        }
    }

    #[test]
    fn a_url_is_shown_without_what_is_secret() {
        for (url, shown) in [
            ("https://example.com", "https://example.com"),
            ("https://example.com/", "https://example.com/"),
            ("https://example.com:8443/hook", "https://example.com:8443/…"),
            ("https://example.com?token=short", "https://example.com/…"),
            (
                "https://hooks.slack.com/services/T000/B000/XXXXsecretWXYZ",
                "https://hooks.slack.com/…WXYZ",
            ),
            ("https://example.com/hook?token=ééééééé", "https://example.com/…éééé"),
            ("no url at all", "no url at all"),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
            assert_eq!(shown_url(&shown_url(url)), shown, "{url}");
        }
    }

    #[test]
    fn the_events_are_those_of_the_reference() {
        let names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let reference = "build.queued, build.started, build.succeeded, build.failed, build.canceled, submission.started, \
                        submission.succeeded, submission.failed, submission.rejected, update.published, update.changed, \
                        update.withdrawn, update.awaiting_signature, trust.changed, trust.expiring, \
                        credential.expiring, webhook.test";
        assert_eq!(names.join(", "), reference);
    }

    #[test]
    fn a_list_of_events_is_folded() {
        for (given, kept) in [
            (vec!["update.published"], vec!["update.published"]),
            (
                vec!["update.changed", "build.failed", "update.changed"],
                vec!["build.failed", "update.changed"],
            ),
            (vec!["*"], vec!["*"]),
            (vec!["build.failed", "*", "*"], vec!["*"]),
        ] {
            assert_eq!(EventFilter::parse(&given).unwrap().names(), kept, "{given:?}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_used_is_told_why() {
        let empty: [&str; 0] = [];
        let message = EventFilter::parse(&empty).unwrap_err().to_string();
        assert!(
            message.starts_with("must contain one or more of build.queued, "),
            "{message}"
        );
        for wrong in ["build.done", "", "**", "Build.failed", "build.*", " *"] {
            let message = EventFilter::parse(&["build.failed", wrong]).unwrap_err().to_string();
            assert!(
                message.contains(&format!("`{wrong}`")) && message.contains("webhook.test"),
                "{message}"
            );
        }
    }

    #[test]
    fn is_told_of_its_kinds_and_apps_only() {
        let one = webhook(&["update.published"], &["com.example.App"]);
        for (kind, bundle, wanted) in [
            ("update.published", Some("com.example.app"), true),
            ("update.published", Some("COM.EXAMPLE.APP"), true),
            ("update.published", Some("com.example.app2"), false),
            ("update.published", None, true),
            ("update.changed", Some("com.example.app"), false),
        ] {
            assert_eq!(one.is_subscribed_to(kind, bundle), wanted, "{kind} {bundle:?}");
        }
        let all = webhook(&["*"], &[]);
        assert!(
            all.is_subscribed_to("of.the.future", Some("com.example.app"))
                && all.is_subscribed_to("build.failed", None)
        );
        let disabled = Webhook {
            status: WebhookStatus::Disabled,
            ..all
        };
        assert!(!disabled.is_subscribed_to("build.failed", None));
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written(picked in prop::collection::vec(0..EventKind::ALL.len(), 1..20), all: bool) {
            let mut names: Vec<&str> = picked.iter().map(|at| EventKind::ALL[*at].as_str()).collect();
            if all {
                names.push("*");
            }
            let filter = EventFilter::parse(&names).unwrap();
            prop_assert_eq!(EventFilter::parse(&filter.names()).unwrap(), filter.clone());
            for kind in EventKind::ALL {
                prop_assert_eq!(filter.includes(kind.as_str()), all || names.contains(&kind.as_str()));
            }
        }
    }
}
