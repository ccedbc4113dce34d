//! Webhooks: the record, the events that it receives, and the states of a delivery (`docs/reference/webhooks.md`).

use crate::bundle_id::BundleId;
use crate::id::{DeliveryId, EventId, OrgId, WebhookId};
use crate::time::{DAY, EpochMs};

/// An organization has at most this many webhooks.
pub const MAX_WEBHOOKS: i64 = 50;
/// A webhook names at most this many bundle identifiers.
pub const MAX_BUNDLE_IDS: usize = 100;
/// How long the secret before a rotation goes on signing.
pub const OLD_SECRET_LIFE: EpochMs = DAY;
/// So many secrets at most sign beside the present one; when there are more, the oldest stops.
pub const MAX_OLD_SECRETS: usize = 4;
/// How long events that are fanned out and deliveries that ended are kept.
pub const DELIVERY_LIFE: EpochMs = 30 * DAY;

words! {
    /// What a webhook can be told of.
    EventKind, "the kinds of events",
    /// A build waits for a runner.
    BuildQueued = "build.queued",
    /// A runner took a build.
    BuildStarted = "build.started",
    /// A build made its artifacts.
    BuildSucceeded = "build.succeeded",
    /// A build failed.
    BuildFailed = "build.failed",
    /// Somebody stopped a build.
    BuildCanceled = "build.canceled",
    /// A submission began.
    SubmissionStarted = "submission.started",
    /// A store took a submission.
    SubmissionSucceeded = "submission.succeeded",
    /// A submission failed.
    SubmissionFailed = "submission.failed",
    /// A store refused a submission.
    SubmissionRejected = "submission.rejected",
    /// An over-the-air update can be had.
    UpdatePublished = "update.published",
    /// An update was paused, resumed, or its rollout, urgency or notes changed.
    UpdateChanged = "update.changed",
    /// An update cannot be had any more.
    UpdateWithdrawn = "update.withdrawn",
    /// A credential ends soon.
    CredentialExpiring = "credential.expiring",
    /// Somebody tries the webhook. It goes to that webhook only, whatever its events.
    WebhookTest = "webhook.test",
}

words! {
    /// How the body of a delivery looks.
    WebhookType, "generic, slack, teams",
    /// `{type, timestamp, data}`, for programs.
    Generic = "generic",
    /// A message for a Slack channel.
    Slack = "slack",
    /// A message for a Teams channel.
    Teams = "teams",
}

words! {
    /// Whether a webhook is told anything.
    WebhookStatus, "active, disabled",
    /// It is.
    Active = "active",
    /// It is not, until somebody turns it on again.
    Disabled = "disabled",
}

words! {
    /// How far a delivery is.
    DeliveryStatus, "pending, succeeded, failed, canceled",
    /// It will be tried, or tried again.
    Pending = "pending",
    /// The receiver took it.
    Succeeded = "succeeded",
    /// The receiver did not take it, and it is not tried again.
    Failed = "failed",
    /// Its webhook was disabled before the receiver took it.
    Canceled = "canceled",
}

/// The events a webhook is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// Every event, also of kinds to come: `*`.
    All,
    /// Events of these kinds: in the order of the reference, each once, never empty.
    Only(Vec<EventKind>),
}

/// Why a list of events cannot be used. The message is made to follow the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    /// The list is empty.
    #[error("must hold one or more of {}, or *", all_kinds())]
    Empty,
    /// There is no such event.
    #[error("must not hold `{0}`; the events are {all}, and * for all of them", all = all_kinds())]
    Unknown(String),
}

fn all_kinds() -> String {
    let names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    names.join(", ")
}

impl EventFilter {
    /// Reads a list of event kinds; `*` stands for all, and twice the same counts once.
    ///
    /// # Errors
    /// An empty list, or a name that is no event.
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

    /// The list as [`EventFilter::parse`] reads it.
    pub fn names(&self) -> Vec<String> {
        match self {
            EventFilter::All => vec!["*".to_owned()],
            EventFilter::Only(kinds) => kinds.iter().map(EventKind::to_string).collect(),
        }
    }

    /// Whether events of this kind are among them.
    pub fn holds(&self, kind: &str) -> bool {
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
    /// Whether it is told anything.
    pub status: WebhookStatus,
    /// Why it is disabled; `None` while it is active.
    pub disabled_reason: Option<String>,
    /// What people call it.
    pub name: String,
    /// Where it is told. Part of it may be a secret.
    pub url: String,
    /// How it is told.
    pub kind: WebhookType,
    /// What it is told of.
    pub events: EventFilter,
    /// Of which apps; empty: of all.
    pub bundle_ids: Vec<BundleId>,
    /// Since when every try has failed; `None` when the last one succeeded.
    pub failing_since: Option<EpochMs>,
    /// The actor that made it, as text.
    pub created_by: String,
    /// When it was made.
    pub created_at: EpochMs,
}

impl Webhook {
    /// Whether it is told of an event. One that belongs to no app is told to every webhook that asks for its kind.
    pub fn wants(&self, kind: &str, bundle_id: Option<&str>) -> bool {
        let of_its_apps = bundle_id.is_none_or(|bundle| {
            self.bundle_ids.is_empty()
                || self
                    .bundle_ids
                    .iter()
                    .any(|wanted| wanted.as_str().eq_ignore_ascii_case(bundle))
        });
        self.status == WebhookStatus::Active && self.events.holds(kind) && of_its_apps
    }
}

/// One event on its way to one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// Where it goes.
    pub webhook_id: WebhookId,
    /// The event: what receivers know it by, over tries and redeliveries.
    pub event_id: EventId,
    /// The kind of the event.
    pub kind: String,
    /// The body in its generic form, byte for byte the same at every try.
    pub body: String,
    /// How far it is.
    pub status: DeliveryStatus,
    /// Why it is no longer tried, where its tries do not say so.
    pub reason: Option<String>,
    /// How often it was tried.
    pub tries: i64,
    /// When it is tried next, while it is pending.
    pub due_at: EpochMs,
    /// When it was made.
    pub created_at: EpochMs,
}

/// One try of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// When it began.
    pub at: EpochMs,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// The status of the answer; `None` when there was none.
    pub response_status: Option<u16>,
    /// Why it failed; `None` when it succeeded.
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
    fn the_events_are_those_of_the_reference() {
        let names: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let reference = "build.queued, build.started, build.succeeded, build.failed, build.canceled, submission.started, \
                        submission.succeeded, submission.failed, submission.rejected, update.published, update.changed, \
                        update.withdrawn, credential.expiring, webhook.test";
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
            message.starts_with("must hold one or more of build.queued, "),
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
            assert_eq!(one.wants(kind, bundle), wanted, "{kind} {bundle:?}");
        }
        let all = webhook(&["*"], &[]);
        assert!(all.wants("of.the.future", Some("com.example.app")) && all.wants("build.failed", None));
        let disabled = Webhook {
            status: WebhookStatus::Disabled,
            ..all
        };
        assert!(!disabled.wants("build.failed", None));
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
                prop_assert_eq!(filter.holds(kind.as_str()), all || names.contains(&kind.as_str()));
            }
        }
    }
}
