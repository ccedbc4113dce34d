//! What changes the machine between starts: the marks of a run, and the work of downloads.

use super::{Attempt, Binary, BootEvent, BootEventKind, BootState, Content, SlotId};

/// The most packages in quarantine. The oldest leave first; a phone sees far fewer on one binary.
pub const MAX_QUARANTINE: usize = 64;

impl BootState {
    /// The state of a binary that has never run.
    #[must_use]
    pub const fn new(binary: Binary) -> Self {
        Self {
            binary,
            current: Content::Embedded,
            trial: false,
            last_good: Content::Embedded,
            next: None,
            quarantine: Vec::new(),
            hard: 0,
            soft: 0,
            early_crashes: 0,
            judged: 0,
        }
    }

    /// Runs `content` from now on, with fresh counters.
    pub(super) fn run(&mut self, content: Content, trial: bool) {
        self.current = content;
        self.trial = trial;
        (self.hard, self.soft, self.early_crashes) = (0, 0, 0);
    }

    /// Never runs `slot` again on this binary.
    pub fn ban(&mut self, slot: SlotId) {
        self.quarantine.retain(|other| *other != slot);
        if self.quarantine.len() == MAX_QUARANTINE {
            self.quarantine.remove(0);
        }
        self.quarantine.push(slot);
    }

    /// Makes an installed package the next trial. Answers whether it may be one: a package in quarantine may not.
    pub fn stage(&mut self, slot: SlotId) -> bool {
        let allowed = !self.quarantine.contains(&slot);
        if allowed {
            self.next = Some(slot);
        }
        allowed
    }

    /// Takes the attempt's content for good, if it is a trial that ran with a window. `recorded`: whether what runs is this
    /// attempt. Otherwise other content may stand in for it, and says nothing about it.
    pub fn confirm(&mut self, attempt: &Attempt, recorded: bool) -> Option<BootEvent> {
        if !recorded || !self.trial || attempt.content != self.current || !attempt.window {
            return None;
        }
        self.run(self.current, false);
        Some(BootEvent {
            kind: BootEventKind::Confirmed,
            content: self.current,
            reason: None,
        })
    }

    /// Goes back to the embedded app from the next start on. The quarantine stays.
    pub fn reset(&mut self) {
        self.run(Content::Embedded, false);
        self.last_good = Content::Embedded;
        self.next = None;
    }

    /// Whether this state has to be written in place of `other`. That an attempt was looked at and counted nothing does
    /// not: looking again counts nothing again.
    pub(crate) fn is_changed_from(&self, other: &Self) -> bool {
        let judged = other.judged;
        Self { judged, ..self.clone() } != *other
    }

    /// Whether a package may not be removed.
    #[must_use]
    pub fn needs(&self, slot: SlotId) -> bool {
        let content = Content::Slot(slot);
        self.current == content || self.last_good == content || self.next == Some(slot)
    }
}

impl Attempt {
    /// The app came to the foreground, perhaps in a process that was started without a window.
    pub const fn enter_foreground(&mut self) {
        (self.window, self.foreground) = (true, true);
    }

    /// The app left the foreground: a death after this is none of its fault.
    pub const fn leave_foreground(&mut self) {
        self.foreground = false;
    }
}
