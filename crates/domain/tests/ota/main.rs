//! The over-the-air decision, from outside the crate: each sentence of the reference, and properties.

mod properties;
mod published;
mod releases;
mod sentences;
