//! Why a JSON object is not of its form.

/// A field is missing or not of its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("has no valid `{field}`")]
pub struct FormError {
    /// The name of the field.
    pub field: &'static str,
}
