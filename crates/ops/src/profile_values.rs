//! What a request without a plan leaves to the profile in the source: build type, distribution and configuration
//! (`docs/reference/builds.md#values-of-the-profile`).

use launchway_api::runner::ProfileValues;
use launchway_domain::build::{Build, Undecided};
use launchway_domain::configuration::Configuration;

use crate::api_error::ApiError;
use crate::updates::publish;

/// Takes the values that the request left open; from then on they are decided. Returns whether any differs from the one
/// that the build was leased with.
pub fn decide(build: &mut Build, values: &ProfileValues) -> Result<bool, ApiError> {
    let undecided = std::mem::take(&mut build.spec.undecided);
    let Undecided {
        build_type,
        distribution,
        configuration,
    } = undecided;
    let read = |field: &str, text: String| ApiError::bad(format!("profile.{field} {text}"));
    let given_type = values.build_type.checked();
    let given_type = given_type.map_err(|unknown| read("buildType", unknown.to_string()))?;
    let given_distribution = values.distribution.checked();
    let given_distribution = given_distribution.map_err(|unknown| read("distribution", unknown.to_string()))?;
    let given_configuration: Option<Configuration> = values
        .configuration
        .as_deref()
        .map(publish::configuration)
        .transpose()?;
    let mut has_changed = false;
    if build_type && build.spec.build_type != given_type.as_str() {
        build.spec.build_type = given_type.to_string();
        has_changed = true;
    }
    if distribution && build.spec.distribution != given_distribution.as_str() {
        build.spec.distribution = given_distribution.to_string();
        has_changed = true;
    }
    if configuration && given_configuration.is_some() && build.configuration != given_configuration {
        build.configuration = given_configuration;
        has_changed = true;
    }
    Ok(has_changed)
}
