//! `whoami`: the caller, as the server identifies it.

use launchway_api::auth::CallerView;
use launchway_api::open::join_words;
use launchway_client::BaseUrl;

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

/// The caller as text.
pub fn prose(caller: &CallerView, url: &BaseUrl, source: Origin) -> String {
    let organization = caller.organization.as_ref();
    let key = caller.key.as_ref();
    let who = match (&caller.user, key) {
        (Some(user), _) => user.email.clone(),
        (None, Some(key)) => format!("API key {} ({}…)", key.name, key.prefix),
        (None, None) => caller.id.clone(),
    };
    let scopes = key.map(|key| join_words(&key.scopes, ", "));
    fields(&[
        (
            "Organization",
            organization.map_or("none".to_owned(), |org| format!("{} ({})", org.name, org.id)),
        ),
        ("Tier", organization.map(|org| org.tier.to_string()).unwrap_or_default()),
        (
            "Role",
            organization
                .and_then(|org| org.role.as_ref())
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        ("You", who),
        ("Scopes", scopes.unwrap_or_default()),
        (
            "Expires",
            key.and_then(|key| key.expires_at.clone()).unwrap_or_default(),
        ),
        ("Environment", caller.environment.to_string()),
        ("Server", url.to_string()),
        ("Key from", source.to_string()),
    ])
}
