//! The JSON Schema of `launchway.toml`, for editors.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::file::Project;

/// The text of the schema, identical to `docs/launchway.schema.json`.
pub fn text() -> String {
    let mut schema = schema_for!(Project);
    RecursiveTransform(as_toml).transform(&mut schema);
    format!("{:#}\n", schema.to_value())
}

/// Removes `null`, which TOML does not have, and defaults that mean absence.
fn as_toml(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice["type"] != "null");
    if let [Value::Object(only)] = &choices[..] {
        let only = only.clone();
        schema.remove("anyOf");
        for (name, value) in only {
            schema.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_one_in_the_docs_is_of_today() {
        let there = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/launchway.schema.json");
        let there = std::fs::read_to_string(there).expect("the schema in docs");
        let how = "run: cargo run -q -p launchway-project --example schema > docs/launchway.schema.json";
        assert!(there == super::text(), "{how}");
    }

    #[test]
    fn nothing_may_be_null_or_unknown() {
        let text = super::text();
        assert!(!text.contains("null"), "{text}");
        let tables = text.matches("\"properties\"").count();
        assert_eq!(text.matches("\"additionalProperties\": false").count(), tables);
    }
}
