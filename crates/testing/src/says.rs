//! What tests say about texts and JSON: `page.says("Sign in")`, `build.has(json!({"status": "success"}))`.

use serde_json::Value;

/// What a text must say.
pub trait Says {
    /// It must say this.
    fn says(&self, part: &str);

    /// It must not say this.
    fn lacks(&self, part: &str);
}

impl Says for str {
    #[track_caller]
    fn says(&self, part: &str) {
        assert!(self.contains(part), "no {part:?} in {self}");
    }

    #[track_caller]
    fn lacks(&self, part: &str) {
        assert!(!self.contains(part), "{part:?} in {self}");
    }
}

/// Fields of JSON that must be there.
pub trait Fields {
    /// A field that must be text.
    fn text(&self, name: &str) -> &str;

    /// The field `id`.
    fn id(&self) -> &str {
        self.text("id")
    }

    /// These fields, among others, must have these values.
    fn has(&self, fields: Value);
}

impl Fields for Value {
    #[track_caller]
    fn has(&self, fields: Value) {
        for (name, value) in fields.as_object().expect("an object") {
            assert_eq!(&self[name], value, "{name} in {self:#}");
        }
    }

    #[track_caller]
    fn text(&self, name: &str) -> &str {
        let field = &self[name];
        field.as_str().unwrap_or_else(|| panic!("{name} is {field} in {self}"))
    }
}
