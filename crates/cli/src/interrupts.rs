//! Interruptions by the user.

use crate::failure::Failure;

/// Ends when the user interrupts the command, by Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler the signal ends the process by itself.
        std::future::pending::<()>().await;
    }
}

/// Ends when the command is to end: by Ctrl-C, or by SIGTERM, as CI servers stop their jobs.
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

/// Does something unless the user interrupts it.
pub async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::select! {
        // In this order, so that the handler stands before the command begins to change the terminal.
        biased;
        () = interrupted() => Err(Failure::interrupted()),
        outcome = work => outcome,
    }
}
