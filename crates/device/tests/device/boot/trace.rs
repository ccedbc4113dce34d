//! Traces: steps in the life of an app, their JSON, and the machine that executes them.

use std::collections::{BTreeMap, BTreeSet};

use launchway_delta::Digest;
use launchway_device::boot::{
    Attempt, Binary, BootEvent, BootState, Content, Ending, SlotId, Soundness, StartFacts, decide,
};
use serde_json::{Map, Value, json};

/// One step of a trace.
#[derive(Clone, Debug)]
pub enum Step {
    /// The app starts; the previous process is dead.
    Start(Facts),
    /// A download was installed.
    Stage(String),
    /// The app confirms.
    Confirm,
    /// The app comes to the foreground.
    Foreground,
    /// The app leaves the foreground.
    Background,
    /// The crash handler runs.
    Crash,
    /// The watchdog runs out.
    Hang,
    /// Ten seconds pass.
    Settle,
    /// The app requests the embedded content.
    Reset,
}

/// The result of a start.
#[derive(Clone, Debug)]
pub struct Facts {
    pub binary: String,
    pub window: bool,
    pub ending: Ending,
    pub revoked: BTreeSet<String>,
    pub unsound: BTreeMap<String, Soundness>,
    pub fails: Option<Unwritten>,
}

/// The file that a start cannot write. What comes after it is not written either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    State,
    Attempt,
}

const UNWRITTEN: [(Unwritten, &str); 2] = [(Unwritten::State, "state"), (Unwritten::Attempt, "attempt")];

impl Default for Facts {
    fn default() -> Self {
        Self {
            binary: "1".to_owned(),
            window: true,
            ending: Ending::Unexplained,
            revoked: BTreeSet::new(),
            unsound: BTreeMap::new(),
            fails: None,
        }
    }
}

const SOUNDNESS: [(Soundness, &str); 3] = [
    (Soundness::Incomplete, "incomplete"),
    (Soundness::NoEntryFile, "no_entry_file"),
    (Soundness::Damaged, "damaged"),
];

const PLAIN: [(&str, Step); 7] = [
    ("confirm", Step::Confirm),
    ("foreground", Step::Foreground),
    ("background", Step::Background),
    ("crash", Step::Crash),
    ("hang", Step::Hang),
    ("settle", Step::Settle),
    ("reset", Step::Reset),
];

impl Step {
    pub fn start() -> Self {
        Self::Start(Facts::default())
    }

    pub fn start_after(ending: Ending) -> Self {
        Self::Start(Facts {
            ending,
            ..Facts::default()
        })
    }

    pub fn to_json(&self) -> Value {
        let facts = match self {
            Self::Start(facts) => facts,
            Self::Stage(slot) => return json!({"do": "stage", "slot": slot}),
            other => {
                let same = |step: &Step| std::mem::discriminant(step) == std::mem::discriminant(other);
                let name = PLAIN.iter().find(|(_, step)| same(step)).map(|(name, _)| *name);
                return json!({"do": name.unwrap()});
            }
        };
        let mut value = Map::from_iter([("do".to_owned(), json!("start"))]);
        let default = Facts::default();
        if facts.binary != default.binary {
            value.insert("binary".to_owned(), json!(facts.binary));
        }
        if !facts.window {
            value.insert("window".to_owned(), json!(false));
        }
        if facts.ending != default.ending {
            value.insert("ending".to_owned(), json!(facts.ending.as_str()));
        }
        if !facts.revoked.is_empty() {
            value.insert("revoked".to_owned(), json!(facts.revoked));
        }
        if !facts.unsound.is_empty() {
            let name = |wanted: &Soundness| SOUNDNESS.iter().find(|(one, _)| one == wanted).unwrap().1;
            let unsound: BTreeMap<_, _> = facts.unsound.iter().map(|(slot, kind)| (slot, name(kind))).collect();
            value.insert("unsound".to_owned(), json!(unsound));
        }
        if let Some(fails) = facts.fails {
            let name = UNWRITTEN.iter().find(|(one, _)| *one == fails).unwrap().1;
            value.insert("fails".to_owned(), json!(name));
        }
        Value::Object(value)
    }

    pub fn from_json(value: &Value) -> Self {
        match value["do"].as_str().unwrap() {
            "start" => {}
            "stage" => return Self::Stage(value["slot"].as_str().unwrap().to_owned()),
            other => return PLAIN.iter().find(|(name, _)| *name == other).unwrap().1.clone(),
        }
        let mut facts = Facts::default();
        if let Some(binary) = value["binary"].as_str() {
            facts.binary = binary.to_owned();
        }
        facts.window = value["window"].as_bool().unwrap_or(true);
        if let Some(ending) = value["ending"].as_str() {
            facts.ending = Ending::ALL.into_iter().find(|one| one.as_str() == ending).unwrap();
        }
        for slot in value["revoked"].as_array().into_iter().flatten() {
            facts.revoked.insert(slot.as_str().unwrap().to_owned());
        }
        for (slot, kind) in value["unsound"].as_object().into_iter().flatten() {
            let kind = SOUNDNESS
                .iter()
                .find(|(_, name)| Some(*name) == kind.as_str())
                .unwrap()
                .0;
            facts.unsound.insert(slot.clone(), kind);
        }
        if let Some(fails) = value["fails"].as_str() {
            facts.fails = Some(UNWRITTEN.iter().find(|(_, name)| *name == fails).unwrap().0);
        }
        Self::Start(facts)
    }
}

/// A slot's id instead of its name.
fn slot(name: &str) -> SlotId {
    Digest([name.as_bytes()[0]; 32])
}

fn slot_name(slot: SlotId) -> String {
    char::from(slot.0[0]).to_string()
}

fn content_name(content: Content) -> String {
    match content {
        Content::Embedded => "embedded".to_owned(),
        Content::Slot(slot) => slot_name(slot),
    }
}

fn event_json(event: &BootEvent) -> Value {
    let mut value = json!({"type": event.kind.as_str(), "content": content_name(event.content)});
    if let Some(reason) = event.reason {
        value["reason"] = json!(reason.as_str());
    }
    value
}

/// The machine and the state that a phone stores of it.
pub struct Machine {
    pub state: BootState,
    pub attempt: Option<Attempt>,
    /// Whether what runs is the stored attempt.
    recorded: bool,
}

fn binary(code: &str) -> Binary {
    Binary {
        code: code.to_owned(),
        ..Binary::default()
    }
}

impl Machine {
    pub fn new() -> Self {
        Self {
            state: BootState::new(binary("1")),
            attempt: None,
            recorded: true,
        }
    }

    /// Executes a step. A start and a confirmation return something.
    pub fn apply(&mut self, step: &Step) -> Option<Value> {
        match step {
            Step::Start(facts) => return Some(self.start(facts)),
            Step::Stage(name) => {
                self.state.stage(slot(name));
            }
            Step::Reset => self.state.reset(),
            Step::Confirm => {
                let attempt = self.attempt.as_ref();
                let event = attempt.and_then(|attempt| self.state.confirm(attempt, self.recorded));
                return Some(json!({"confirmed": event.is_some()}));
            }
            step => {
                if let (Some(attempt), true) = (&mut self.attempt, self.recorded) {
                    match step {
                        Step::Foreground => attempt.enter_foreground(),
                        Step::Background => attempt.leave_foreground(),
                        Step::Crash => attempt.crashed = true,
                        Step::Hang => attempt.hung = true,
                        _ => attempt.settled = true,
                    }
                }
            }
        }
        None
    }

    fn start(&mut self, facts: &Facts) -> Value {
        let decision = decide(
            &self.state,
            self.attempt.as_ref(),
            &StartFacts {
                binary: binary(&facts.binary),
                window: facts.window,
                ending: facts.ending,
                revoked: &|slot| facts.revoked.contains(&slot_name(slot)),
                soundness: &|slot, first| match facts.unsound.get(&slot_name(slot)) {
                    Some(Soundness::Damaged) if !first => Soundness::Sound,
                    Some(kind) => *kind,
                    None => Soundness::Sound,
                },
            },
        );
        self.recorded = facts.fails.is_none();
        if facts.fails != Some(Unwritten::State) {
            self.state = decision.state;
        }
        let run = if self.recorded {
            decision.attempt.content
        } else {
            decision.unwritten
        };
        if self.recorded {
            self.attempt = Some(decision.attempt);
        }
        let state = &self.state;
        json!({
            "run": content_name(run),
            "unwritten": content_name(decision.unwritten),
            "events": decision.events.iter().map(event_json).collect::<Vec<_>>(),
            "state": {
                "current": content_name(state.current),
                "trial": state.trial,
                "lastGood": content_name(state.last_good),
                "next": state.next.map(slot_name),
                "quarantine": state.quarantine.iter().map(|slot| slot_name(*slot)).collect::<Vec<_>>(),
                "hard": state.hard,
                "soft": state.soft,
                "earlyCrashes": state.early_crashes,
            },
        })
    }
}

/// A random trace: mostly starts and what happens between them, occasionally something rare.
pub fn random(seed: u64, length: usize) -> Vec<Step> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut binary = 1;
    let mut steps = vec![Step::start()];
    while steps.len() < length {
        let name = ["A", "B", "C", "D"][below(4) as usize].to_owned();
        steps.push(match below(32) {
            0..12 => {
                if below(25) == 0 {
                    binary += 1;
                }
                let mut facts = Facts {
                    binary: binary.to_string(),
                    window: below(5) > 0,
                    ending: Ending::ALL[[0, 0, 0, 1, 2, 3, 4, 5, 5, 5][below(10) as usize]],
                    ..Facts::default()
                };
                if below(12) == 0 {
                    facts.revoked.insert(name.clone());
                }
                if below(12) == 0 {
                    facts.unsound.insert(name, SOUNDNESS[below(3) as usize].0);
                }
                if below(15) == 0 {
                    facts.fails = Some(UNWRITTEN[below(2) as usize].0);
                }
                Step::Start(facts)
            }
            12..19 => Step::Stage(name),
            19..23 => Step::Confirm,
            23 => Step::Foreground,
            24..26 => Step::Background,
            26..28 => Step::Crash,
            28 => Step::Hang,
            29..31 => Step::Settle,
            _ if below(4) == 0 => Step::Reset,
            _ => Step::Confirm,
        });
    }
    steps
}
