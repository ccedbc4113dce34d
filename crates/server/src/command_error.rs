//! Why a command of the program or of the operator fails.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::StartError;

/// Why a command failed. Its text is for the operator.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The service cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The request is not possible.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// `check-config` found what keeps the server from starting.
    #[error("the server cannot start with these settings; fix what is marked `error` above")]
    Unfit,
    /// An I/O error of standard input, standard output or a file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
