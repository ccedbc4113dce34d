//! The texts in `sdk/vectors/states.json`: every client reads and writes the same `state.json`.

use launchway_device::state::{Found, State};
use serde_json::Value;

use crate::disk::Disk;

fn load(text: &Value) -> (Disk, Found<State>) {
    let disk = Disk::new();
    disk.put("state.json", text.as_str().unwrap().as_bytes());
    let state = State::load(&disk).unwrap();
    (disk, state)
}

#[test]
fn states_are_read_and_written_as_the_vectors_say() {
    let vectors = include_str!("../../../../sdk/vectors/states.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    for case in vectors["read"].as_array().unwrap() {
        let (disk, Found::Whole(state)) = load(&case["text"]) else {
            panic!("not read: {}", case["name"]);
        };
        state.save(&disk).unwrap();
        let written = String::from_utf8(disk.bytes("state.json").unwrap()).unwrap();
        assert_eq!(written, case["written"].as_str().unwrap(), "{}", case["name"]);
    }
    let corrupt = vectors["corrupt"].as_array().unwrap();
    assert!(corrupt.len() >= 75);
    for case in corrupt {
        assert_eq!(load(&case["text"]).1, Found::Corrupt, "{}", case["name"]);
    }
}
