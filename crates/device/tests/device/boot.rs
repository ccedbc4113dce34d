//! The boot machine: shared traces, and a model that must agree on random ones.

mod examples;
mod model;
mod trace;

use std::fs;
use std::path::PathBuf;

use launchway_device::boot::{BootState, Content, Reason};
use serde_json::{Value, json};

use model::Model;
use trace::{Machine, Step, random};

fn file() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../sdk/vectors/boot-traces.json"
    ))
}

/// The machine's results for the steps of a trace, as in the vectors.
fn answered(steps: &[Step]) -> Vec<Value> {
    let mut machine = Machine::new();
    steps
        .iter()
        .map(|step| {
            let mut value = step.to_json();
            if let Some(expect) = machine.apply(step) {
                value["expect"] = expect;
            }
            value
        })
        .collect()
}

/// Random traces with the machine's results, one a line, which the vectors do not have.
pub fn random_traces(count: u64) -> String {
    let seeds = 10_001..10_001 + count;
    let lines = seeds.map(|seed| json!({"name": format!("seed {seed}"), "steps": answered(&random(seed, 14))}));
    lines.map(|trace| format!("{trace}\n")).collect()
}

fn vectors() -> Value {
    let named = examples::all()
        .into_iter()
        .map(|(name, steps)| (name.to_owned(), steps));
    let missing = 220 - examples::all().len() as u64;
    let generated = (1..=missing).map(|seed| (format!("random {seed}"), random(seed, 14)));
    let traces = named
        .chain(generated)
        .map(|(name, steps)| json!({"name": name, "steps": answered(&steps)}));
    json!({
        "about": "Traces of the boot machine. Every trace begins with nothing installed and binary 1. Absent fields of a start: binary 1, window true, ending unexplained, nothing revoked, everything sound, everything written. `damaged` shows only when a package starts for the first time.",
        "traces": traces.collect::<Vec<_>>(),
    })
}

#[test]
fn the_committed_traces_are_those_of_this_machine() {
    let committed: Value = serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    let expected = vectors();
    let (committed, expected) = (
        committed["traces"].as_array().unwrap(),
        expected["traces"].as_array().unwrap(),
    );
    assert_eq!(committed.len(), expected.len());
    assert!(committed.len() >= 200);
    for (committed, expected) in committed.iter().zip(expected) {
        assert_eq!(
            committed, expected,
            "`cargo test -p launchway-device -- --ignored write_` writes them anew"
        );
    }
}

#[test]
fn steps_of_the_committed_traces_are_read_back() {
    let committed: Value = serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    for trace in committed["traces"].as_array().unwrap() {
        let steps: Vec<Step> = trace["steps"].as_array().unwrap().iter().map(Step::from_json).collect();
        assert_eq!(Value::from(answered(&steps)), trace["steps"], "{}", trace["name"]);
    }
}

#[test]
fn machine_and_model_agree_on_ten_thousand_random_lives() {
    for seed in 1..=10_000 {
        let (mut machine, mut model) = (Machine::new(), Model::default());
        let steps = random(seed, 30);
        for (index, step) in steps.iter().enumerate() {
            assert_eq!(
                machine.apply(step),
                model.apply(step),
                "seed {seed}, step {index} of {steps:#?}"
            );
        }
    }
}

#[test]
fn random_lives_reach_every_reason() {
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for seed in 1..=2_000 {
        for answer in answered(&random(seed, 30)) {
            for event in answer["expect"]["events"].as_array().into_iter().flatten() {
                let text = format!(
                    "{} {}",
                    event["type"].as_str().unwrap(),
                    event["reason"].as_str().unwrap_or("")
                );
                *seen.entry(text).or_default() += 1;
            }
        }
    }
    let all = [
        Reason::Crashed,
        Reason::Hung,
        Reason::DiedTwice,
        Reason::CrashLoop,
        Reason::Revoked,
        Reason::Incomplete,
        Reason::NoEntryFile,
        Reason::Damaged,
    ];
    for reason in all {
        let count: u32 = seen
            .iter()
            .filter(|(text, _)| text.ends_with(reason.as_str()))
            .map(|(_, count)| count)
            .sum();
        assert!(count > 20, "{reason:?}: {seen:?}");
    }
}

#[test]
fn the_examples_come_to_what_their_names_say() {
    for (name, steps) in examples::all() {
        let Some((_, expected)) = name.rsplit_once(": runs ") else {
            continue;
        };
        let last = answered(&steps)
            .into_iter()
            .rev()
            .find_map(|step| step.get("expect").cloned())
            .unwrap();
        assert_eq!(last["run"].as_str().unwrap(), expected, "{name}");
    }
}

#[test]
fn the_quarantine_is_bounded() {
    let mut machine = Machine::new();
    for index in 0..100u8 {
        let name = char::from(b'!' + index).to_string();
        for step in [Step::start(), Step::Stage(name), Step::start(), Step::Crash] {
            machine.apply(&step);
        }
    }
    machine.apply(&Step::start());
    assert_eq!(machine.state.quarantine.len(), 64);
    assert_eq!(machine.state.current, Content::Embedded);
}

#[test]
fn an_attempt_that_could_not_be_recorded_is_counted_once() {
    let mut machine = Machine::new();
    for step in [Step::start(), Step::Stage("A".to_owned()), Step::start()] {
        machine.apply(&step);
    }
    // The state reaches the disk, the next attempt does not: the previous one is found again.
    let first: BootState = machine.state.clone();
    let attempt = machine.attempt.clone();
    machine.apply(&Step::start());
    assert_eq!((first.soft, machine.state.soft), (0, 1));
    machine.attempt = attempt;
    machine.apply(&Step::start());
    assert_eq!(machine.state.soft, 1, "the same death is not counted again");
}

#[test]
#[ignore = "writes the traces instead of checking them"]
fn write_traces() {
    let vectors = vectors();
    let mut text = format!("{{\n\"about\": {},\n\"traces\": [\n", vectors["about"]);
    let traces = vectors["traces"].as_array().unwrap();
    for (index, trace) in traces.iter().enumerate() {
        text += &format!("{{\"name\": {}, \"steps\": [\n", trace["name"]);
        let steps: Vec<String> = trace["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        text += &steps.join(",\n");
        text += if index + 1 < traces.len() {
            "\n]},\n"
        } else {
            "\n]}\n]}\n"
        };
    }
    fs::write(file(), text).unwrap();
}
