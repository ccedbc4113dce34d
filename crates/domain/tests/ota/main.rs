//! The over-the-air decision, from outside the crate: the sentences of the reference one by one, and properties.

mod properties;
mod published;
mod sentences;
