//! The codecs above the common decision: compared with the original servers, and played against models of their clients.

#![cfg(test)]

mod codepush;
mod fleet;
mod histories;
mod loops;
mod phones;
mod releases;
