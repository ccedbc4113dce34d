//! Rounds with a server that signs, revokes, replaces its key, lags and freezes: shared traces, and a model that must agree
//! on random ones.

mod examples;
mod model;
mod replay;
mod world;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use model::Model;
use world::{Step, World, random};

fn file() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../sdk/vectors/signed-rounds.json"
    ))
}

/// What the client did at each step that has an outcome.
fn outcomes(steps: &[Step]) -> Vec<String> {
    let mut world = World::new();
    steps.iter().filter_map(|step| world.perform(step)).collect()
}

#[test]
fn the_committed_traces_come_to_what_they_say() {
    let committed: Value = serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    let traces = committed["traces"].as_array().unwrap();
    assert!(traces.len() >= 16);
    for trace in traces {
        replay::replay(trace, &committed["bodies"]);
    }
}

#[test]
fn recorded_rounds_are_replayed() {
    for (name, steps) in examples::all() {
        let mut bodies = Vec::new();
        let trace = replay::record(name, &steps, &mut bodies);
        replay::replay(&trace, &Value::from(bodies));
    }
}

#[test]
fn client_and_model_agree_on_random_rounds() {
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for seed in 1..=60 {
        let (mut world, mut model) = (World::new(), Model::new());
        let steps = random(seed, 24);
        for (index, step) in steps.iter().enumerate() {
            let outcome = world.perform(step);
            assert_eq!(outcome, model.perform(step), "seed {seed}, step {index} of {steps:#?}");
            let kind = outcome.map(|outcome| outcome.replace(|letter: char| letter.is_ascii_digit(), ""));
            kind.into_iter().for_each(|kind| *seen.entry(kind).or_default() += 1);
        }
    }
    for kind in [
        "staged update_",
        "nothing",
        "runs update_",
        "runs embedded",
        "refused not-signed after a pause",
        "refused timestamp rollback after a pause",
        "refused timestamp expired",
        "refused timestamp too-few-signatures",
    ] {
        assert!(seen.get(kind).is_some_and(|count| *count > 2), "{kind}: {seen:?}");
    }
}

#[test]
fn the_examples_come_to_what_their_names_say() {
    for (name, steps) in examples::all() {
        let (_, expected) = name.rsplit_once(": ").unwrap();
        assert_eq!(outcomes(&steps).last().unwrap(), expected, "{name}");
    }
}

#[test]
#[ignore = "writes the traces instead of checking them"]
fn write_rounds() {
    let named = examples::all()
        .into_iter()
        .map(|(name, steps)| (name.to_owned(), steps));
    let generated = (1..=6).map(|seed| (format!("random {seed}"), random(seed, 16)));
    let (mut bodies, mut traces) = (Vec::new(), Vec::new());
    for (name, steps) in named.chain(generated) {
        traces.push(replay::record(&name, &steps, &mut bodies));
    }
    let about = "Rounds of an app with a root. Requests and responses are in their order.";
    let lines = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
    let text = format!(
        "{{\n\"about\": {},\n\"bodies\": [\n{}\n],\n\"traces\": [\n{}\n]\n}}\n",
        json!(about),
        lines(&bodies),
        lines(&traces)
    );
    fs::write(file(), text).unwrap();
}
