//! Makes an API key.

use launchway_api::keys::KeyView;
use launchway_domain::actor::Actor;
use launchway_domain::scope::Scope;
use launchway_ops::api_error::ApiError;
use launchway_ops::api_keys::{self, KeyPlan};
use launchway_ops::app::App;
use launchway_ops::write::Write;
use serde_json::{Value, json};

use super::find_org;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The organization's id
    #[arg(long)]
    org: String,
    /// The display name of the key
    #[arg(long)]
    name: String,
    /// Scopes of the key: any of build,submit,update [default: all three, or none with --admin]
    #[arg(long, value_delimiter = ',')]
    scopes: Option<Vec<String>>,
    /// Add the admin scope: environment variables, keys, webhooks and members
    #[arg(long)]
    admin: bool,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments {
        org,
        name,
        scopes,
        admin,
    } = arguments;
    let org = find_org(app, &org).await?;
    let name = launchway_domain::org::normalize_name(&name)
        .ok_or_else(|| ApiError::bad("--name must have 1 to 100 visible characters"))?;
    let mut granted = match scopes {
        Some(names) => read_scopes(&names)?,
        None if admin => Vec::new(),
        None => Scope::GRANTABLE.to_vec(),
    };
    if admin {
        granted.push(Scope::Admin);
    }
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let (key, record) = api_keys::create(
        &mut write,
        KeyPlan {
            name,
            scopes: granted,
            life: None,
        },
    )
    .await?;
    let view = KeyView::of(&record, write.now());
    write.commit().await?;
    let object = json!({"id": view.id, "key": key.reveal(), "scopes": view.scopes});
    Ok((
        object,
        format!(
            "Created the key {} ({}). Copy it now: it is not shown again.\n\n  {}",
            record.name,
            record.id,
            key.reveal()
        ),
    ))
}

fn read_scopes(names: &[String]) -> Result<Vec<Scope>, ApiError> {
    let read = |name: &String| {
        name.trim()
            .parse()
            .ok()
            .filter(|scope| Scope::GRANTABLE.contains(scope))
    };
    let scopes: Option<Vec<Scope>> = names.iter().map(read).collect();
    scopes.filter(|scopes| !scopes.is_empty()).ok_or_else(|| {
        ApiError::bad("--scopes must contain one or more of build,submit,update; --admin adds the admin scope")
    })
}
