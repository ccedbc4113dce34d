//! Makes an organization.

use launchway_domain::actor::Actor;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::orgs;
use launchway_ops::write::Write;
use serde_json::{Value, json};

use super::read_tier;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The display name
    #[arg(long)]
    name: String,
    /// The tier: free, pro or enterprise [default: --default-tier]
    #[arg(long)]
    tier: Option<String>,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { name, tier } = arguments;
    let mut org = orgs::plan(app, orgs::name(&name)?);
    if let Some(tier) = &tier {
        org.tier = read_tier(tier)?;
    }
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    orgs::insert(&mut write, &org).await?;
    write.commit().await?;
    Ok((
        json!({"id": org.id, "name": org.name, "tier": org.tier}),
        format!("Created the organization {} with the id {}", org.name, org.id),
    ))
}
