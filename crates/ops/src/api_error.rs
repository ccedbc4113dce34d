//! The one table that maps each failure to status, `error`, `message` and log level (`docs/reference/conventions.md#errors`).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use launchway_api::error::ErrorBody;
use launchway_blob::{BlobError, BlobKeyError};
use launchway_domain::scope::Scope;
use launchway_domain::usage::{HoldingQuotaError, QuotaError};
use launchway_inspection::{InspectorError, PlaceError};
use launchway_outbound::provider::ProviderError;
use launchway_store::StoreError;
use launchway_vault::VaultError;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The request is malformed or conflicts with existing state. The text is for the caller.
    #[error("{0}")]
    BadRequest(String),
    /// No API key and no valid session.
    #[error("No authentication provided")]
    NoAuthentication,
    /// A Bearer value that is not a valid API key.
    #[error("Invalid or expired API key")]
    InvalidKey,
    /// Another proof is wrong: a password, a link, a report token. The text is for the caller.
    #[error("{0}")]
    NotProven(String),
    /// The password is right, but the account also requires a two-factor code.
    #[error("code is required: enter a code from the authenticator app of this account, or a recovery code")]
    CodeNeeded,
    /// The key lacks the scope that the endpoint requires.
    #[error("API key does not have '{0}' scope")]
    MissingScope(Scope),
    /// The caller may not do this. The text is for the caller.
    #[error("{0}")]
    Forbidden(String),
    /// The id names no resource of this organization.
    #[error("No {0} has this id")]
    NoSuch(&'static str),
    /// The organization has no resource that matches the request.
    #[error("{0}")]
    NoneFits(&'static str),
    /// There is nothing at this path.
    #[error("There is nothing at this path. The API is described at /docs.")]
    NoSuchPath,
    /// The form was rendered from an older state. Only pages send a state.
    #[error("This changed after you loaded it")]
    Changed,
    /// The path exists, but not with this method.
    #[error("This path does not support this method")]
    MethodNotAllowed,
    /// The body exceeds the size limit.
    #[error("{0}")]
    TooLarge(String),
    /// The body arrived too slowly.
    #[error("The body arrived too slowly. Send it again.")]
    BodyTimeoutError,
    /// The requested range contains no byte. The number is the size in bytes.
    #[error("There are {0} bytes")]
    NotSatisfiable(u64),
    /// Too many calls. The number is the seconds to wait.
    #[error("Too many requests. Try again in {0} seconds.")]
    RateLimited(u64),
    /// The service cannot do it now. The text is for the caller.
    #[error("{0}")]
    Unavailable(String),
    /// A defect. The text goes only to the log.
    #[error("{0}")]
    Internal(String),
}

const DATABASE_AWAY: &str = "The database is not available. Try again in a moment.";
const STORAGE_AWAY: &str = "The object storage is not available. Try again in a moment.";
const DISK_FULL: &str = "The disk is full. The operator has to free up space.";

impl ApiError {
    /// A bad request, with what is wrong and what to do.
    pub fn bad(message: impl Into<String>) -> ApiError {
        ApiError::BadRequest(message.into())
    }

    /// The status and its name in the body.
    pub fn status(&self) -> (StatusCode, &'static str) {
        match self {
            ApiError::BadRequest(_) => (StatusCode::BAD_REQUEST, "Bad Request"),
            ApiError::NoAuthentication | ApiError::InvalidKey | ApiError::NotProven(_) | ApiError::CodeNeeded => {
                (StatusCode::UNAUTHORIZED, "Unauthorized")
            }
            ApiError::MissingScope(_) | ApiError::Forbidden(_) => (StatusCode::FORBIDDEN, "Forbidden"),
            ApiError::NoSuch(_) | ApiError::NoneFits(_) | ApiError::NoSuchPath => (StatusCode::NOT_FOUND, "Not Found"),
            ApiError::Changed => (StatusCode::CONFLICT, "Conflict"),
            ApiError::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
            ApiError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large"),
            ApiError::BodyTimeoutError => (StatusCode::REQUEST_TIMEOUT, "Request Timeout"),
            ApiError::NotSatisfiable(_) => (StatusCode::RANGE_NOT_SATISFIABLE, "Range Not Satisfiable"),
            ApiError::RateLimited(_) => (StatusCode::TOO_MANY_REQUESTS, "Rate Limited"),
            ApiError::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
            ApiError::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Internal Error"),
        }
    }

    /// The response body. It never contains the text of a defect.
    pub fn body(&self) -> ErrorBody {
        let message = match self {
            ApiError::Internal(_) => {
                "Internal error. The server's log has details under the X-Request-Id of this request.".to_owned()
            }
            shown => shown.to_string(),
        };
        ErrorBody {
            error: self.status().1.to_owned(),
            message,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(cause) => {
                tracing::warn!(%cause, "the database is not available");
                ApiError::Unavailable(DATABASE_AWAY.to_owned())
            }
            StoreError::Full(cause) => {
                tracing::error!(%cause, "the database's disk is full");
                ApiError::Unavailable(DISK_FULL.to_owned())
            }
            defect @ (StoreError::Corrupt(_) | StoreError::CorruptUpdate { .. } | StoreError::Refused(_)) => {
                ApiError::Internal(defect.to_string())
            }
        }
    }
}

impl From<QuotaError> for ApiError {
    fn from(refusal: QuotaError) -> Self {
        ApiError::Forbidden(refusal.to_string())
    }
}

impl From<HoldingQuotaError> for ApiError {
    fn from(refusal: HoldingQuotaError) -> Self {
        ApiError::Forbidden(refusal.to_string())
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Full => {
                tracing::error!("the disk of the object storage is full");
                ApiError::Unavailable(DISK_FULL.to_owned())
            }
            error => {
                tracing::error!(%error, "the object storage failed");
                ApiError::Unavailable(STORAGE_AWAY.to_owned())
            }
        }
    }
}

/// Keys are made of ids, or were stored: one that is not valid is a defect.
impl From<BlobKeyError> for ApiError {
    fn from(defect: BlobKeyError) -> Self {
        ApiError::Internal(defect.to_string())
    }
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Store(error) => error.into(),
            away @ VaultError::OldMasterKey => ApiError::Unavailable(away.to_string()),
            defect @ VaultError::Damaged => ApiError::Internal(defect.to_string()),
        }
    }
}

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::Unavailable => ApiError::Unavailable(error.to_string()),
            ProviderError::CodeRefused | ProviderError::TokenRefused(_) => ApiError::NotProven(error.to_string()),
        }
    }
}

impl From<InspectorError> for ApiError {
    fn from(error: InspectorError) -> Self {
        match error {
            InspectorError::NoProcess | InspectorError::Unreadable => ApiError::Unavailable(error.to_string()),
        }
    }
}

impl From<PlaceError> for ApiError {
    fn from(error: PlaceError) -> Self {
        match error {
            PlaceError::TooManyWaiting { retry_seconds } => ApiError::RateLimited(retry_seconds),
            PlaceError::Forgotten => ApiError::Internal(error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let ApiError::Internal(text) = &self {
            tracing::error!(error = %text, "a request failed inside");
        }
        let mut response = (self.status().0, Json(self.body())).into_response();
        if let ApiError::RateLimited(seconds) = self {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
