//! The document-level part of the OpenAPI description.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContactBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Server,
};
use utoipa::{PartialSchema, ToSchema};

const DESCRIPTION: &str = "Builds, store submissions and over-the-air updates for mobile apps.\n\n\
    Bodies are UTF-8 JSON with camelCase names; times are ISO 8601 UTC with milliseconds, sizes bytes, durations seconds. \
    Every response carries `X-Request-Id`. Every response to a key or session carries `X-RateLimit-Limit`, \
    `X-RateLimit-Remaining` and `X-RateLimit-Reset`. Errors are exactly `error` and `message`. \
    A resource of another organization gets the same response as one that does not exist.";

/// The document before the endpoints are added.
pub fn head() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Launchway")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .contact(Some(
            ContactBuilder::new().name(Some("The operator of this server")).build(),
        ))
        .license(Some(
            LicenseBuilder::new()
                .name("MIT OR Apache-2.0")
                .identifier(Some("MIT OR Apache-2.0"))
                .build(),
        ))
        .build();
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("lw_ and 46 characters")
        .description(Some("An API key: `Authorization: Bearer lw_…`"))
        .build();
    let runner_token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "The token that a runner got when it enrolled; to enroll, the one-time token. It gives access only to `/runner`.",
        ))
        .build();
    let components = ComponentsBuilder::new()
        .schema("Error", launchway_api::error::ErrorBody::schema())
        .security_scheme("apiKey", SecurityScheme::Http(key))
        .security_scheme("runnerToken", SecurityScheme::Http(runner_token))
        .security_scheme(
            "session",
            SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("launchway"))),
        )
        .build();
    debug_assert_eq!(launchway_api::error::ErrorBody::name(), "Error");
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/api")]))
        .components(Some(components))
        .build()
}
