//! Enums of words that exist only on the wire. The others are those of the domain.

use launchway_domain::webhook::EventKind;
use launchway_domain::words;
use launchway_domain::words::{UnknownWordError, Word};

words! {
    /// Whether something can be used.
    ActiveStatus, "active",
    /// It can, as long as it is there.
    Active = "active",
}

words! {
    /// Whether an announced file is there.
    PendingStatus, "pending",
    /// Its bytes are to come.
    Pending = "pending",
}

words! {
    /// What a call made of the thing that it names.
    DoneStatus, "deleted, revoked, changed",
    /// It is gone.
    Deleted = "deleted",
    /// It does not work any more.
    Revoked = "revoked",
    /// It has another value.
    Changed = "changed",
}

words! {
    /// What became of what was sent.
    AcceptedStatus, "accepted",
    /// It was taken.
    Accepted = "accepted",
}

words! {
    /// How an upload is sent.
    UploadMethod, "PUT",
    /// As the body of a PUT.
    Put = "PUT",
}

words! {
    /// What authenticates a caller.
    CallerKind, "session, apiKey",
    /// The session of a browser.
    Session = "session",
    /// An API key.
    ApiKey = "apiKey",
}

words! {
    /// How the service is.
    HealthStatus, "ok",
    /// It serves.
    Ok = "ok",
}

words! {
    /// Which of the two services this is.
    ServiceEnvironment, "production, development",
    /// The one for apps that people use.
    Production = "production",
    /// The one to try things out.
    Development = "development",
}

words! {
    /// Whether a month is over.
    UsageStatus, "running, complete",
    /// It is the present one.
    Running = "running",
    /// It is over.
    Complete = "complete",
}

words! {
    /// What became of a browser sign-in.
    LoginOutcome, "pending, approved, denied, expired",
    /// Nobody has decided yet.
    Pending = "pending",
    /// A user approved it.
    Approved = "approved",
    /// A user refused it.
    Denied = "denied",
    /// Its time is over, or its key was fetched.
    Expired = "expired",
}

words! {
    /// What a difference between two fingerprints is about.
    FingerprintPart, "framework, platform, plugin, resources, native",
    /// What the app is made with.
    Framework = "framework",
    /// What it runs on.
    Platform = "platform",
    /// A native plugin.
    Plugin = "plugin",
    /// The folder of the app's resources.
    Resources = "resources",
    /// The native source.
    Native = "native",
}

words! {
    /// The status of a build or of an update.
    BuildOrUpdateStatus, "queued, running, success, failed, canceled, published, paused, withdrawn",
    /// A build that waits for a runner.
    Queued = "queued",
    /// A build that a runner has.
    Running = "running",
    /// A build that gave what it promised.
    Success = "success",
    /// A build that did not.
    Failed = "failed",
    /// A build that somebody stopped.
    Canceled = "canceled",
    /// An update that is offered.
    Published = "published",
    /// An update that is kept back.
    Paused = "paused",
    /// An update that was taken back.
    Withdrawn = "withdrawn",
}

words! {
    /// The kinds of events that a build is followed by.
    BuildStreamEvent, "log, build, end",
    /// More of the log.
    Log = "log",
    /// Its status or phase changed.
    Build = "build",
    /// It is over.
    End = "end",
}

words! {
    /// Where the plan of a build comes from.
    PlanOrigin, "request, launchway.toml or a framework",
    /// The request for the build.
    Request = "request",
    /// The file in the source.
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

/// What a webhook is told of: everything, or the events of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// `*`.
    All,
    /// The events of this kind.
    Of(EventKind),
}

impl Word for EventName {
    const NAME: &'static str = "EventName";
    const ABOUT: &'static str = "What a webhook is told of: the events of a kind, or `*` for all.";
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
