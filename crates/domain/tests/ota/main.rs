//! The over-the-air decision, from outside the crate: the contract's sentences one by one, and properties.

mod properties;
mod published;
mod sentences;
