//! Signed updates: what the server accepts of an app's developers, signs itself, and publishes
//! (`docs/reference/trust.md`). All of an app's trust changes under the lock of its updates
//! ([`crate::write::Write::touch_updates`]), so that every node reads updates and metadata together.

pub mod accept;
mod composition;
pub mod drafts;
pub mod error;
pub mod listed_updates;
pub mod notices;
pub mod online;
pub mod open_drafts;
pub mod permission;
pub mod present;
pub mod proposal;
pub mod publication;
mod renewals;
pub mod reset;
mod signature_list;
pub mod signatures;
pub mod transfer;
pub mod trust_set;
pub mod view;
