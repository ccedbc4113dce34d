//! A second implementation of the rules, independent of the machine: it keeps the whole history of what ran and
//! searches it, where the machine counts.

use serde_json::{Value, json};

use super::trace::{Facts, Step, Unwritten};
use launchway_device::boot::{Ending, Soundness};

/// A running process.
#[derive(Clone, Default)]
struct Process {
    content: Option<String>,
    had_window: bool,
    visible: bool,
    lasted: bool,
    marker: bool,
    timeout: bool,
}

/// How a process of the current content ended.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    CrashEarly,
    CrashLate,
    Hang,
    Lost,
    Fine,
}

/// The state of a phone according to the rules. `None` is the embedded app.
#[derive(Clone, Default)]
pub struct Model {
    binary: Option<String>,
    current: Option<String>,
    proven: bool,
    good_before: Option<String>,
    next: Option<String>,
    banned: Vec<String>,
    /// Since `current` became the current one: current, or proven.
    deaths: Vec<Death>,
    /// The last process that was written down and nobody has buried.
    process: Option<Process>,
    /// The process that runs was not written down: nobody hears what it says.
    is_mute: bool,
}

impl Model {
    pub fn apply(&mut self, step: &Step) -> Option<Value> {
        match step {
            Step::Start(facts) => return Some(self.start(facts)),
            Step::Stage(slot) if !self.banned.contains(slot) => self.next = Some(slot.clone()),
            Step::Stage(_) => {}
            Step::Reset => {
                self.become_(None, true);
                (self.good_before, self.next) = (None, None);
            }
            Step::Confirm => {
                let runs = self
                    .process
                    .as_ref()
                    .is_some_and(|process| process.content == self.current && process.had_window);
                let confirmed = runs && !self.is_mute && self.current.is_some() && !self.proven;
                if confirmed {
                    (self.proven, self.deaths) = (true, Vec::new());
                }
                return Some(json!({"confirmed": confirmed}));
            }
            Step::Foreground => self.mark(|process| (process.had_window, process.visible) = (true, true)),
            Step::Background => self.mark(|process| process.visible = false),
            Step::Crash => self.mark(|process| process.marker = true),
            Step::Hang => self.mark(|process| process.timeout = true),
            Step::Settle => self.mark(|process| process.lasted = true),
        }
        None
    }

    fn mark(&mut self, change: impl Fn(&mut Process)) {
        if !self.is_mute {
            self.process.as_mut().map(change);
        }
    }

    fn become_(&mut self, content: Option<String>, proven: bool) {
        (self.current, self.proven, self.deaths) = (content, proven, Vec::new());
    }

    fn start(&mut self, facts: &Facts) -> Value {
        let before = self.clone();
        let mut events = Vec::new();
        let dead = self.process.take();
        let mut death = None;
        let first = Some("1".to_owned());
        if *self.binary.as_ref().or(first.as_ref()).unwrap() == facts.binary {
            if let Some(dead) = dead {
                death = self.bury(&dead, facts.ending, &mut events);
            }
        } else {
            *self = Self::default();
        }
        self.binary = Some(facts.binary.clone());
        if facts.window {
            self.judge(facts, death, &mut events);
        }
        self.leave_what_cannot_run(facts, &mut events);
        if facts.window {
            self.try_next(facts, &mut events);
        }
        let stand_in = self.stand_in(facts);
        let runs = if facts.fails.is_some() {
            &stand_in
        } else {
            &self.current
        };
        let runs = shown(runs);
        match facts.fails {
            None => {
                self.process = Some(Process {
                    content: self.current.clone(),
                    had_window: facts.window,
                    visible: facts.window,
                    ..Process::default()
                });
            }
            Some(Unwritten::State) => *self = before,
            Some(Unwritten::Attempt) => {}
        }
        self.is_mute = facts.fails.is_some();
        json!({"run": runs, "unwritten": shown(&stand_in), "events": events, "state": self.answer()})
    }

    /// Returns how a process of the current content ended.
    fn bury(&mut self, dead: &Process, ending: Ending, events: &mut Vec<Value>) -> Option<Death> {
        let crash = dead.marker || !matches!(ending, Ending::Unexplained | Ending::Explained);
        if crash {
            events.push(json!({"type": "crash", "content": shown(&dead.content)}));
        }
        let death = (dead.content == self.current).then_some(match (crash, dead.lasted, dead.timeout) {
            (true, false, _) => Death::CrashEarly,
            (true, true, _) => Death::CrashLate,
            (false, _, true) => Death::Hang,
            _ if ending == Ending::Unexplained && dead.had_window && dead.visible => Death::Lost,
            _ => Death::Fine,
        });
        self.deaths.extend(death);
        death
    }

    fn is_trial(&self) -> bool {
        self.current.is_some() && !self.proven
    }

    fn hard(&self) -> usize {
        let hard = |death: &&Death| matches!(death, Death::CrashEarly | Death::CrashLate | Death::Hang);
        if self.is_trial() {
            self.deaths.iter().filter(hard).count()
        } else {
            0
        }
    }

    fn soft(&self) -> usize {
        let lost = self.deaths.iter().filter(|death| **death == Death::Lost).count();
        if self.is_trial() { lost } else { 0 }
    }

    fn early_crashes(&self) -> usize {
        let row = self
            .deaths
            .iter()
            .rev()
            .take_while(|death| **death == Death::CrashEarly)
            .count();
        if self.is_trial() { 0 } else { row }
    }

    /// `death`: how the process before this one ended. How an earlier one failed is not remembered.
    fn judge(&mut self, facts: &Facts, death: Option<Death>, events: &mut Vec<Value>) {
        let Some(current) = self.current.clone() else { return };
        let reason = if self.hard() > 0 {
            if death == Some(Death::Hang) { "hung" } else { "crashed" }
        } else if self.soft() > 1 {
            "died_twice"
        } else if self.early_crashes() > 2 {
            "crash_loop"
        } else {
            return;
        };
        self.banned.push(current);
        self.go_back(facts, "rolled_back", reason, events);
    }

    fn go_back(&mut self, facts: &Facts, what: &str, reason: &str, events: &mut Vec<Value>) {
        events.push(json!({"type": what, "content": shown(&self.current), "reason": reason}));
        let back = self.good_before.take().filter(|slot| self.can_run(slot, facts));
        self.become_(back, true);
    }

    fn can_run(&self, slot: &String, facts: &Facts) -> bool {
        !self.banned.contains(slot) && self.obstacle(slot, facts, false).is_none()
    }

    fn obstacle(&self, slot: &String, facts: &Facts, first: bool) -> Option<&'static str> {
        if facts.revoked.contains(slot) {
            return Some("revoked");
        }
        match facts.unsound.get(slot)? {
            Soundness::Incomplete => Some("incomplete"),
            Soundness::NoEntryFile => Some("no_entry_file"),
            Soundness::Damaged if first => Some("damaged"),
            _ => None,
        }
    }

    fn leave_what_cannot_run(&mut self, facts: &Facts, events: &mut Vec<Value>) {
        let Some(current) = &self.current else { return };
        if let Some(reason) = self.obstacle(current, facts, false) {
            let what = if reason == "revoked" { "rolled_back" } else { "failed" };
            self.go_back(facts, what, reason, events);
        }
    }

    fn try_next(&mut self, facts: &Facts, events: &mut Vec<Value>) {
        let Some(next) = self.next.take() else { return };
        if self.banned.contains(&next) || self.current.as_ref() == Some(&next) {
            return;
        }
        if let Some(reason) = self.obstacle(&next, facts, true) {
            events.push(json!({"type": "failed", "content": next, "reason": reason}));
            return;
        }
        if !self.is_trial() {
            self.good_before = self.current.clone();
        }
        events.push(json!({"type": "installed", "content": next}));
        self.become_(Some(next), false);
    }

    /// What runs if this start cannot be written down.
    fn stand_in(&self, facts: &Facts) -> Option<String> {
        if self.is_trial() {
            self.good_before.clone().filter(|slot| self.can_run(slot, facts))
        } else {
            self.current.clone()
        }
    }

    fn answer(&self) -> Value {
        json!({
            "current": shown(&self.current),
            "trial": self.is_trial(),
            "lastGood": shown(&self.good_before),
            "next": self.next,
            "quarantine": self.banned,
            "hard": self.hard(),
            "soft": self.soft(),
            "earlyCrashes": self.early_crashes(),
        })
    }
}

fn shown(content: &Option<String>) -> String {
    content.clone().unwrap_or_else(|| "embedded".to_owned())
}
