//! Reads an object member by member. Unknown members are ignored.

use super::FormError;
use crate::json::{Object, Value};

/// The members of an object that were not taken yet.
pub(crate) struct Fields(Object);

impl Fields {
    /// The members of `value`. Errors name `field`.
    pub(crate) fn of(value: Value, field: &'static str) -> Result<Self, FormError> {
        match value {
            Value::Object(members) => Ok(Self(members)),
            _ => Err(FormError { field }),
        }
    }

    /// All of `members`, which are empty afterwards.
    pub(crate) fn from_members(members: &mut Object) -> Self {
        Self(std::mem::take(members))
    }

    pub(crate) fn members(&mut self) -> &mut Object {
        &mut self.0
    }

    pub(crate) fn value(&mut self, field: &'static str) -> Result<Value, FormError> {
        self.0.remove(field).ok_or(FormError { field })
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<String, FormError> {
        match self.value(field)? {
            Value::Text(text) => Ok(text),
            _ => Err(FormError { field }),
        }
    }

    pub(crate) fn bool(&mut self, field: &'static str) -> Result<bool, FormError> {
        match self.value(field)? {
            Value::Bool(value) => Ok(value),
            _ => Err(FormError { field }),
        }
    }

    /// An integer that is not negative.
    pub(crate) fn count(&mut self, field: &'static str) -> Result<u64, FormError> {
        match self.value(field)? {
            Value::Integer(number) => u64::try_from(number).map_err(|_| FormError { field }),
            _ => Err(FormError { field }),
        }
    }

    /// An integer above zero.
    pub(crate) fn positive(&mut self, field: &'static str) -> Result<u64, FormError> {
        match self.count(field)? {
            0 => Err(FormError { field }),
            number => Ok(number),
        }
    }

    pub(crate) fn object(&mut self, field: &'static str) -> Result<Object, FormError> {
        Self::of(self.value(field)?, field).map(|fields| fields.0)
    }

    pub(crate) fn array(&mut self, field: &'static str) -> Result<Vec<Value>, FormError> {
        match self.value(field)? {
            Value::Array(items) => Ok(items),
            _ => Err(FormError { field }),
        }
    }

    pub(crate) fn texts(&mut self, field: &'static str) -> Result<Vec<String>, FormError> {
        let items = self.array(field)?.into_iter();
        items
            .map(|item| match item {
                Value::Text(text) => Ok(text),
                _ => Err(FormError { field }),
            })
            .collect()
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }
}
