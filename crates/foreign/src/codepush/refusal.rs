//! Requests that a CodePush client cannot have answered, in the form that it shows: a status, and a plain text.

/// Why a check is refused. Clients show the text as an error, and check again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The deployment key is missing or has another form.
    #[error(
        "An update check must include a valid deployment key. Compare the key in your app with the deployment keys of the app in Launchway."
    )]
    DeploymentKey,
    /// Nobody has this deployment key, or another app has.
    #[error(
        "This app has no such deployment key. Compare the key in your app with the deployment keys of the app in Launchway."
    )]
    UnknownDeploymentKey,
    /// The app's version is missing, or not a version.
    #[error("An update check must include the version of the app as a semantic version, such as 1.0.0")]
    AppVersion,
    /// The query has more than 4 KiB.
    #[error("The query of an update check must have at most 4 KiB")]
    QueryTooLong,
}

impl Refusal {
    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Refusal::DeploymentKey | Refusal::AppVersion | Refusal::QueryTooLong => 400,
            Refusal::UnknownDeploymentKey => 404,
        }
    }
}
