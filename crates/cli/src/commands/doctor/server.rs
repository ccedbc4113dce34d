//! Checks that the server answers and accepts the key.

use launchway_client::{BaseUrl, Method};
use serde_json::Value;

use super::Finding;
use crate::context::Context;
use crate::failure::Failure;
use crate::settings::Sourced;

const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Checks the server first: without it, the key cannot be checked. Also returns the server's version, if it responds.
pub async fn look(context: &Context) -> (Vec<Finding>, Option<String>) {
    let Some(url) = &context.settings.url else {
        let fix = "give --url, set LAUNCHWAY_URL, set url under [server] in launchway.toml, or run `launchway login`";
        return (vec![Finding::problem("server", "no server specified", fix)], None);
    };
    match version(&url.value, context).await {
        Err(failure) => (vec![Finding::failure("server", failure)], None),
        Ok(version) => (vec![server(url, &version), key(context).await], Some(version)),
    }
}

fn server(url: &Sourced<BaseUrl>, version: &str) -> Finding {
    let Sourced { value, source } = url;
    let message = format!("{value} ({source}) responds; its version is {version}");
    if value.is_open_to_eavesdroppers() {
        let message = format!("{message}, but it is not encrypted");
        return Finding::warning(
            "server",
            message,
            "use its https address: others on the network can read the key",
        );
    }
    if version != OWN_VERSION {
        let message = format!("{message}, but the version of this program is {OWN_VERSION}");
        return Finding::warning("server", message, "use the same version of the server and this program");
    }
    Finding::ok("server", message)
}

/// Checks the server's description of itself.
pub async fn version(url: &BaseUrl, context: &Context) -> Result<String, Failure> {
    let client = context.client_without_key(url.clone())?;
    let answer = client.raw(Method::GET, "/openapi.json", None).await?.or_error()?;
    let document: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let version = document
        .as_ref()
        .and_then(|document| document.pointer("/info/version")?.as_str());
    version
        .map(str::to_owned)
        .ok_or_else(|| Failure::failed(format!("{url} is not a Launchway server")).hint("check the address"))
}

async fn key(context: &Context) -> Finding {
    let client = match context.client() {
        Ok(client) => client,
        Err(failure) => return Finding::failure("key", failure),
    };
    let caller = match client.session().await {
        Ok(answer) => answer.value,
        Err(error) => return Finding::failure("key", error.into()),
    };
    let service = context.settings.service.environment();
    if caller.environment != service {
        let message = format!("this is the {} server, not the {service} server", caller.environment);
        return Finding::problem("key", message, "give --dev only for the development server");
    }
    let org = caller.organization.map(|org| org.name).unwrap_or_default();
    let Some(key) = caller.key else {
        return Finding::ok("key", format!("logged in to {org}"));
    };
    let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let until = key.expires_at.map(|end| format!(" until {end}")).unwrap_or_default();
    let message = format!(
        "the API key {} is valid{until} in {org}; its scopes: {}",
        key.name,
        scopes.join(", ")
    );
    Finding::ok("key", message)
}
