//! `/build`: create, list, read, cancel, retry, delete; the log, complete and live. The tests act as runners through
//! the store.

mod changes;
mod create;
mod list;
mod log;
mod old;
mod stream;
mod update;
