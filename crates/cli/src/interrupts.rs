//! Interruptions by the user.

use crate::failure::Failure;

/// Completes when the user interrupts the command with Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler, the signal ends the process.
        std::future::pending::<()>().await;
    }
}

/// Completes on Ctrl-C, or on SIGTERM, with which CI servers stop their jobs.
pub async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                () = interrupted() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    interrupted().await;
}

/// Runs `work` unless the user interrupts it.
pub async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        // Polled in this order, so that the handler is installed before the command changes the terminal.
        biased;
        () = interrupted() => Err(Failure::interrupted()),
        outcome = work => outcome,
    }
}
