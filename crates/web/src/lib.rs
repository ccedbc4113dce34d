//! The HTTP API, the dashboard and the sign-in pages, and the server that accepts connections for them. `router.rs` lists
//! the whole API.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod admit;
pub mod connection;
pub mod dashboard;
pub mod metrics;
pub mod query;
pub mod router;
pub mod server;

mod check_connection;
mod check_threads;
mod connection_slots;
mod cookies;
mod erased_handler;
mod extract;
mod http;
mod local_peer;
mod names;
mod page_headers;
mod pages;
mod request_body;
mod same_site;
