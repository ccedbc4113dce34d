//! Enums that exist only on the wire. The others are in the domain.

use launchway_domain::webhook::EventKind;
use launchway_domain::words;
use launchway_domain::words::{UnknownWordError, Word};

words! {
    /// The status of a resource without a life cycle.
    ActiveStatus:
    /// It exists and can be used.
    Active = "active",
}

words! {
    /// The status of an announced file.
    PendingStatus:
    /// Its bytes have not arrived yet.
    Pending = "pending",
}

words! {
    /// The effect of a request on the resource that it names.
    DoneStatus:
    /// It was deleted.
    Deleted = "deleted",
    /// It no longer works.
    Revoked = "revoked",
    /// It has another value.
    Changed = "changed",
}

words! {
    /// The status of accepted data.
    AcceptedStatus:
    /// It was accepted.
    Accepted = "accepted",
}

words! {
    /// The HTTP method of an upload.
    UploadMethod:
    /// As the body of a PUT.
    Put = "PUT",
}

words! {
    /// How a caller is authenticated.
    CallerKind:
    /// A browser session.
    Session = "session",
    /// An API key.
    ApiKey = "apiKey",
}

words! {
    /// The health of the service.
    HealthStatus:
    /// It serves requests.
    Ok = "ok",
}

words! {
    /// The environment of the service.
    ServiceEnvironment:
    /// For apps in use.
    Production = "production",
    /// For trying things out.
    Development = "development",
}

words! {
    /// Whether a month is complete.
    UsageStatus:
    /// The current month.
    Running = "running",
    /// A past month.
    Complete = "complete",
}

words! {
    /// The outcome of a browser sign-in.
    LoginOutcome:
    /// Nobody has decided yet.
    Pending = "pending",
    /// A user approved it.
    Approved = "approved",
    /// A user refused it.
    Denied = "denied",
    /// It expired, or its key was already fetched.
    Expired = "expired",
}

words! {
    /// The subject of a difference between two fingerprints.
    FingerprintPart:
    /// The framework of the app.
    Framework = "framework",
    /// The platform.
    Platform = "platform",
    /// A native plugin.
    Plugin = "plugin",
    /// The app's resources folder.
    Resources = "resources",
    /// The native source.
    Native = "native",
}

words! {
    /// The status of a build or of an update.
    BuildOrUpdateStatus:
    /// A build that is waiting for a runner.
    Queued = "queued",
    /// A build that a runner is executing.
    Running = "running",
    /// A build that succeeded.
    Success = "success",
    /// A build that failed.
    Failed = "failed",
    /// A build that was canceled.
    Canceled = "canceled",
    /// An update that is offered.
    Published = "published",
    /// An update that is paused.
    Paused = "paused",
    /// An update that was withdrawn.
    Withdrawn = "withdrawn",
    /// An update that awaits its signature.
    AwaitingSignature = "awaiting_signature",
}

words! {
    /// The kinds of events in the stream of a build.
    BuildStreamEvent:
    /// More of the log.
    Log = "log",
    /// The status or phase changed.
    Build = "build",
    /// The build has ended.
    End = "end",
}

words! {
    /// The origin of a build's plan.
    PlanOrigin, error = "must be one of request, launchway.toml or a framework",
    /// The request for the build.
    Request = "request",
    /// `launchway.toml` in the source.
    File = "launchway.toml",
    /// The preset for NativeScript.
    NativeScript = "nativescript",
    /// The preset for Capacitor.
    Capacitor = "capacitor",
    /// The preset for Expo.
    Expo = "expo",
    /// The preset for React Native.
    ReactNative = "react-native",
    /// The preset for Flutter.
    Flutter = "flutter",
    /// The preset for Gradle.
    Gradle = "gradle",
    /// The preset for Xcode.
    Xcode = "xcode",
}

/// What a webhook subscribes to: all events, or the events of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// `*`.
    All,
    /// The events of this kind.
    Of(EventKind),
}

impl Word for EventName {
    const NAME: &'static str = "EventName";
    const ABOUT: &'static str = "The events that a webhook receives: those of a kind, or `*` for all.";
    const WORDS: &'static [EventName] = &{
        let mut all = [EventName::All; EventKind::ALL.len() + 1];
        let mut at = 0;
        while at < EventKind::ALL.len() {
            all[at] = EventName::Of(EventKind::ALL[at]);
            at += 1;
        }
        all
    };
    const UNKNOWN: UnknownWordError = UnknownWordError("must be a kind of events, or *");

    fn word(self) -> &'static str {
        match self {
            EventName::All => "*",
            EventName::Of(kind) => kind.as_str(),
        }
    }
}
