//! The decision at a start. The numbered comments are the rules of `docs/reference/sdk.md#at-each-start`.

use super::{
    Attempt, BootEvent, BootEventKind, BootState, Content, Decision, Ending, Reason, SlotId, Soundness, StartFacts,
};

/// So many hard failures of a trial are one too many.
const MAX_HARD: u32 = 1;
/// So many unexplained deaths of a trial are one too many.
const MAX_SOFT: u32 = 2;
/// So many early crashes in a row of confirmed content are one too many.
const MAX_EARLY_CRASHES: u32 = 3;

/// Decides what a start runs, from what is remembered, what became of the previous attempt, and what is known now.
#[must_use]
pub fn decide(state: &BootState, previous: Option<&Attempt>, facts: &StartFacts<'_>) -> Decision {
    let last_number = previous.map_or(0, |attempt| attempt.number).max(state.judged);
    let new_binary = state.binary != facts.binary;
    let mut start = Start {
        state: state.clone(),
        facts,
        events: Vec::new(),
        reason: None,
    };
    if new_binary {
        // 1. A new store binary makes slots and quarantine void, and nothing of the old one is judged.
        start.state = BootState::new(facts.binary.clone());
        start.state.judged = last_number;
    } else if let Some(previous) = previous {
        start.count(previous);
    }
    if facts.window {
        // 2. Only a start with a window judges and promotes.
        start.judge();
    }
    start.replace_unusable();
    if facts.window {
        start.promote();
    }
    let state = start.state;
    Decision {
        attempt: Attempt {
            number: last_number + 1,
            content: state.current,
            window: facts.window,
            foreground: facts.window,
            settled: false,
            crashed: false,
            hung: false,
        },
        unwritten: if state.trial {
            content_or_embedded(&state, facts, state.last_good)
        } else {
            state.current
        },
        events: start.events,
        new_binary,
        state,
    }
}

/// `content` if it can run, else the embedded app.
fn content_or_embedded(state: &BootState, facts: &StartFacts<'_>, content: Content) -> Content {
    match content {
        Content::Slot(slot)
            if !state.quarantine.contains(&slot)
                && !(facts.revoked)(slot)
                && (facts.soundness)(slot, false) == Soundness::Sound =>
        {
            content
        }
        _ => Content::Embedded,
    }
}

/// A decision in the making.
struct Start<'a> {
    state: BootState,
    facts: &'a StartFacts<'a>,
    events: Vec<BootEvent>,
    /// Why the trial last failed.
    reason: Option<Reason>,
}

impl Start<'_> {
    /// 3. Counts how the previous attempt ended, once.
    fn count(&mut self, previous: &Attempt) {
        if previous.number <= self.state.judged {
            return;
        }
        self.state.judged = previous.number;
        let ending = self.facts.ending;
        let crashed = previous.crashed || ending.is_crash();
        if crashed {
            self.report(BootEventKind::Crash, previous.content, None);
        }
        if previous.content != self.state.current {
            // It stood in for content that could not be recorded, and says nothing about it.
            return;
        }
        if !self.state.trial {
            let early = crashed && !previous.settled;
            self.state.early_crashes = if early { self.state.early_crashes + 1 } else { 0 };
        } else if crashed || previous.hung {
            self.state.hard += 1;
            self.reason = Some(if crashed { Reason::Crashed } else { Reason::Hung });
        } else if ending == Ending::Unexplained && previous.window && previous.foreground {
            self.state.soft += 1;
        }
    }

    /// 4. Quarantines a trial that failed, and confirmed content in a crash loop.
    fn judge(&mut self) {
        let Content::Slot(slot) = self.state.current else {
            return;
        };
        let reason = if self.state.trial && self.state.hard >= MAX_HARD {
            // A crash that a start without a window counted can no longer be distinguished from a hang.
            self.reason.unwrap_or(Reason::Crashed)
        } else if self.state.trial && self.state.soft >= MAX_SOFT {
            Reason::DiedTwice
        } else if !self.state.trial && self.state.early_crashes >= MAX_EARLY_CRASHES {
            Reason::CrashLoop
        } else {
            return;
        };
        self.state.ban(slot);
        self.fall_back(BootEventKind::RolledBack, reason);
    }

    /// Replaces content that is revoked or cannot be handed over, at a start without a window too.
    fn replace_unusable(&mut self) {
        let Content::Slot(slot) = self.state.current else {
            return;
        };
        if (self.facts.revoked)(slot) {
            self.fall_back(BootEventKind::RolledBack, Reason::Revoked);
        } else if let Some(reason) = reason_for((self.facts.soundness)(slot, false)) {
            self.fall_back(BootEventKind::Failed, reason);
        }
    }

    /// Goes back to the last good content, else to the embedded app.
    fn fall_back(&mut self, kind: BootEventKind, reason: Reason) {
        self.report(kind, self.state.current, Some(reason));
        let to = content_or_embedded(&self.state, self.facts, self.state.last_good);
        self.state.run(to, false);
        self.state.last_good = Content::Embedded;
    }

    /// 5. Makes `next` the trial if it can be handed over.
    fn promote(&mut self) {
        let Some(next) = self.state.next.take() else { return };
        if self.state.current == Content::Slot(next) || self.state.quarantine.contains(&next) {
            return;
        }
        if let Some(reason) = self.obstacle(next) {
            return self.report(BootEventKind::Failed, Content::Slot(next), Some(reason));
        }
        if !self.state.trial {
            self.state.last_good = self.state.current;
        }
        self.state.run(Content::Slot(next), true);
        self.report(BootEventKind::Installed, Content::Slot(next), None);
    }

    fn obstacle(&self, slot: SlotId) -> Option<Reason> {
        if (self.facts.revoked)(slot) {
            return Some(Reason::Revoked);
        }
        reason_for((self.facts.soundness)(slot, true))
    }

    fn report(&mut self, kind: BootEventKind, content: Content, reason: Option<Reason>) {
        self.events.push(BootEvent { kind, content, reason });
    }
}

const fn reason_for(soundness: Soundness) -> Option<Reason> {
    match soundness {
        Soundness::Sound => None,
        Soundness::Incomplete => Some(Reason::Incomplete),
        Soundness::NoEntryFile => Some(Reason::NoEntryFile),
        Soundness::Damaged => Some(Reason::Damaged),
    }
}
