//! The boot state machine (`docs/reference/sdk.md#at-each-start`): what it remembers, what it gets at a start, and
//! what it decides. It has no I/O; [`decide`] is a pure function.

mod decision;
mod run;

pub use decision::decide;
use launchway_delta::Digest;

/// An installed package, named by the SHA-256 of its bytes.
pub type SlotId = Digest;

/// What an app can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// The files inside the store binary.
    Embedded,
    /// An installed package.
    Slot(SlotId),
}

/// Identifies a store binary. Every difference makes it another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binary {
    /// The build number, or version code.
    pub code: String,
    /// The version name.
    pub name: String,
    /// When it was installed, in milliseconds since 1970.
    pub installed_at: u64,
}

/// What the machine remembers between starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootState {
    /// The store binary that everything below belongs to.
    pub binary: Binary,
    /// What the app runs.
    pub current: Content,
    /// Whether `current` still has to prove itself.
    pub trial: bool,
    /// What runs when `current` has to go.
    pub last_good: Content,
    /// What the next start with a window tries.
    pub next: Option<SlotId>,
    /// What never runs again on this binary.
    pub quarantine: Vec<SlotId>,
    /// Crashes and hangs of the trial.
    pub hard: u32,
    /// Unexplained deaths of the trial.
    pub soft: u32,
    /// Crashes in a row of confirmed content within its first ten seconds.
    pub early_crashes: u32,
    /// The last attempt whose end was counted, so that none is counted twice.
    pub judged: u64,
}

/// One start of the app and what became of it, as `boot.json` holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent marks that the run of an app leaves behind"
)]
pub struct Attempt {
    /// Counts up with each start.
    pub number: u64,
    /// What was handed over.
    pub content: Content,
    /// Whether a window was shown.
    pub window: bool,
    /// Whether the app was last seen in the foreground.
    pub foreground: bool,
    /// Whether it ran for ten seconds.
    pub settled: bool,
    /// Whether the crash handler ran.
    pub crashed: bool,
    /// Whether the watchdog ran out.
    pub hung: bool,
}

/// How the operating system says that the previous process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It does not say.
    Unexplained,
    /// By an uncaught error.
    Crash,
    /// By a crash of native code.
    NativeCrash,
    /// Because it did not respond.
    NotResponding,
    /// Because it could not be initialized.
    InitializationFailure,
    /// By anything else: the user, memory pressure, an update of the binary, its own exit.
    Explained,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 6] = [
        Self::Unexplained,
        Self::Crash,
        Self::NativeCrash,
        Self::NotResponding,
        Self::InitializationFailure,
        Self::Explained,
    ];

    /// The name in vectors and settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unexplained => "unexplained",
            Self::Crash => "crash",
            Self::NativeCrash => "native_crash",
            Self::NotResponding => "not_responding",
            Self::InitializationFailure => "initialization_failure",
            Self::Explained => "explained",
        }
    }

    const fn is_crash(self) -> bool {
        !matches!(self, Self::Unexplained | Self::Explained)
    }
}

/// Whether an installed package can be handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// It can.
    Sound,
    /// `.complete` is missing.
    Incomplete,
    /// The file that the app starts with is missing.
    NoEntryFile,
    /// A file does not have its hash.
    Damaged,
}

/// What is known at a start. The functions are asked only where the answer matters, because hashing takes time.
pub struct StartFacts<'a> {
    /// The store binary that starts.
    pub binary: Binary,
    /// Whether the start shows a window.
    pub window: bool,
    /// How the previous process ended.
    pub ending: Ending,
    /// Whether a package is revoked.
    pub revoked: &'a dyn Fn(SlotId) -> bool,
    /// Whether a package can be handed over. The second argument says that it starts for the first time.
    pub soundness: &'a dyn Fn(SlotId, bool) -> Soundness,
}

/// The result of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to remember. It is on disk before `attempt` is.
    pub state: BootState,
    /// What to hand over, to be on disk before it is.
    pub attempt: Attempt,
    /// What to hand over if state or attempt cannot be written: a trial never runs unrecorded.
    pub unwritten: Content,
    /// What to report.
    pub events: Vec<BootEvent>,
    /// Whether a new store binary has made every slot void.
    pub new_binary: bool,
}

/// Something to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootEvent {
    /// What happened.
    pub kind: BootEventKind,
    /// To which content.
    pub content: Content,
    /// Why.
    pub reason: Option<Reason>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootEventKind {
    /// A package was handed over for the first time.
    Installed,
    /// A package proved itself.
    Confirmed,
    /// A package had to give way.
    RolledBack,
    /// A package could not be used.
    Failed,
    /// Content crashed.
    Crash,
}

impl BootEventKind {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Confirmed => "confirmed",
            Self::RolledBack => "rolled_back",
            Self::Failed => "failed",
            Self::Crash => "crash",
        }
    }
}

/// Why a package gave way or could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It crashed.
    Crashed,
    /// It was not confirmed in time.
    Hung,
    /// It died twice in the foreground without explanation.
    DiedTwice,
    /// It crashed early three times in a row after it was confirmed.
    CrashLoop,
    /// Its developers revoked it.
    Revoked,
    /// Its installation was not completed.
    Incomplete,
    /// The file that the app starts with is missing.
    NoEntryFile,
    /// A file does not have its hash.
    Damaged,
}

impl Reason {
    /// The name in vectors and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::DiedTwice => "died_twice",
            Self::CrashLoop => "crash_loop",
            Self::Revoked => "revoked",
            Self::Incomplete => "incomplete",
            Self::NoEntryFile => "no_entry_file",
            Self::Damaged => "damaged",
        }
    }
}
