//! Rules of Launchway without I/O: ids, versions, the over-the-air decision, fingerprints, scopes and roles. Nothing here reads
//! a clock, a file, the network or randomness: they are parameters.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

#[macro_use]
pub mod words;

pub mod actor;
pub mod api_key;
pub mod app;
pub mod audit;
pub mod build;
pub mod build_number;
pub mod bundle_id;
pub mod configuration;
pub mod crash;
pub mod credential;
pub mod device_login;
pub mod env_var;
pub mod fingerprint;
pub mod id;
pub mod key;
pub mod log_index;
pub mod log_text;
pub mod mac;
pub mod masking;
pub mod org;
pub mod ota;
pub mod percent;
pub mod platform;
pub mod release;
pub mod report;
pub mod rollout;
pub mod scope;
pub mod standard_webhooks;
pub mod submission;
pub mod tenancy;
pub mod time;
pub mod totp;
pub mod trust;
pub mod update;
pub mod usage;
pub mod version;
pub mod webhook;
pub mod webhook_message;
pub mod webhook_retry;
