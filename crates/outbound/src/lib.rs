//! Outbound requests: what the service calls, and how it is kept from calling what it must not.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod address_guard;
pub mod app_stores;
mod id_token;
pub mod provider;
pub mod resolver;
pub mod webhook_sender;

pub use id_token::IdTokenError;
