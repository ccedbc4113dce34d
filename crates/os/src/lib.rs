//! What the operating system provides: the clock and randomness, which tests replace, durable private folders, the
//! floor of free disk space, huge pages of memory, the code of the program, and the priorities of threads. The rest of the
//! service takes them as parameters.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod clock;
pub mod folders;
pub mod free_space;
pub mod huge_pages;
pub mod priority;
pub mod program_file;
pub mod random;
