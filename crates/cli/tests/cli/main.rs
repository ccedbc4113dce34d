//! The command line as users and scripts see it: a real process, its two outputs and its exit code, against a stub
//! server.

mod action;
mod address;
mod api;
mod apps;
#[cfg(unix)]
mod bad_input;
mod browser_login;
#[cfg(unix)]
mod build;
#[cfg(unix)]
mod build_output;
#[cfg(unix)]
mod build_request;
#[cfg(unix)]
mod builds;
#[cfg(unix)]
mod bundler;
mod compatible;
mod credentials;
mod device;
mod doctor_native;
mod doctor_sdk;
mod env_vars;
#[cfg(unix)]
mod every_command;
mod expo_updates;
#[path = "../../../client/tests/client/fake_server.rs"]
mod fake_server;
mod fingerprint;
mod help;
mod ids;
mod init_sdk;
mod interrupt;
mod keys;
#[cfg(unix)]
mod local;
mod login;
#[cfg(unix)]
mod names;
mod newer_server;
mod orgs;
mod project;
mod publish;
mod publish_all;
mod publish_refused;
mod published;
mod rollback;
#[cfg(unix)]
mod runner;
mod sdk_docs;
mod session;
#[cfg(unix)]
mod signed;
mod stage;
mod submissions;
mod submit;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod trust;
mod trust_rights;
#[cfg(unix)]
mod trust_server;
mod update_clients;
mod webhooks;
mod workspaces;
