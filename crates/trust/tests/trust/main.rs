//! The crate from outside: a repository that is signed, served and attacked, and its clients.
#![cfg(test)]

mod attacks;
mod floors;
mod hostile;
mod keys;
mod next_role;
mod offers;
mod one_trip;
mod profile;
mod publishing;
mod repository;
mod rollback;
mod signatures;
mod signer;
mod storage;
mod succession;
mod vectors;
mod workflow;
