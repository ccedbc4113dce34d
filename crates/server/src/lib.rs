//! launchway-server: the service that builds, submits and updates mobile apps. See ARCHITECTURE.md for the walks through it.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod admin;
pub mod api_error;
pub mod app;
pub mod app_store_events;
pub mod buffers;
pub mod build_log;
pub mod build_news;
pub mod caller;
pub mod command_error;
pub mod counters;
pub mod dashboard;
pub mod embedded;
pub mod embedded_runner;
pub mod fair_work;
pub mod http;
pub mod install_links;
pub mod job_leases;
pub mod jobs;
pub mod limits;
pub mod maskers;
pub mod ops;
pub mod ota;
pub mod passwords;
pub mod program;
