//! The command line as people and scripts meet it: a real process, its two outputs and its exit code, against a server
//! that answers as told.

mod api;
#[path = "../../../client/tests/client/fake_server.rs"]
mod fake_server;
mod fingerprint;
mod help;
mod interrupt;
mod login;
mod publish;
mod published;
mod rollback;
mod session;
mod stage;
#[cfg(unix)]
mod terminal;
