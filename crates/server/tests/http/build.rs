//! `/build`: made, listed, read, stopped, tried again, removed; its log, whole and live. Runners are played through the store.

mod changes;
mod create;
mod list;
mod log;
mod old;
mod stream;
mod update;
