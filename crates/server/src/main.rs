//! The program `launchway-server`: reads the command line and runs what it asks for.

use std::process::ExitCode;

/// Answering a check allocates; this allocator takes about a tenth less time for it than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The steps of builds: this program starts itself again for each.
    if let Some(end) = launchway_runner::executor::step_entry(std::env::args_os()) {
        return end;
    }
    // A file of a stranger that is looked into: likewise.
    if let Some(end) = launchway_server::inspection::entry(std::env::args_os()) {
        return end;
    }
    launchway_server::program::main()
}
