//! `whoami`: who the server takes you for.

use launchway_api::auth::CallerView;
use launchway_client::BaseUrl;
use launchway_domain::scope::Scope;

use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::settings::{Key, Origin};

pub async fn run(context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.session().await?;
    let source = match context.settings.key {
        Key::Known { source, .. } => source,
        _ => Origin::Login,
    };
    context
        .printer
        .result(&answer.body, || prose(&answer.value, client.base(), source))
}

/// Who the caller is, as people read it.
pub fn prose(caller: &CallerView, url: &BaseUrl, source: Origin) -> String {
    let organization = caller.organization.as_ref();
    let key = caller.key.as_ref();
    let who = match (&caller.user, key) {
        (Some(user), _) => user.email.clone(),
        (None, Some(key)) => format!("API key {} ({}…)", key.name, key.prefix),
        (None, None) => caller.id.clone(),
    };
    let scopes = key.map(|key| {
        key.scopes
            .iter()
            .map(|scope| Scope::as_str(*scope))
            .collect::<Vec<_>>()
            .join(", ")
    });
    fields(&[
        (
            "Organization",
            organization.map_or("none".to_owned(), |org| format!("{} ({})", org.name, org.id)),
        ),
        (
            "Tier",
            organization.map(|org| org.tier.as_str().to_owned()).unwrap_or_default(),
        ),
        (
            "Role",
            organization
                .and_then(|org| org.role)
                .map(|role| role.as_str().to_owned())
                .unwrap_or_default(),
        ),
        ("You", who),
        ("Scopes", scopes.unwrap_or_default()),
        (
            "Expires",
            key.and_then(|key| key.expires_at.clone()).unwrap_or_default(),
        ),
        ("Environment", caller.environment.clone()),
        ("Server", url.to_string()),
        ("Key from", source.to_string()),
    ])
}
