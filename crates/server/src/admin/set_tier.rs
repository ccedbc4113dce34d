//! Changes the tier of an organization.

use launchway_domain::actor::Actor;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::orgs;
use launchway_ops::write::Write;
use serde_json::{Value, json};

use super::{find_org, read_tier};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The organization's id
    #[arg(long)]
    org: String,
    /// The tier: free, pro or enterprise
    #[arg(long)]
    tier: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let tier = read_tier(&arguments.tier)?;
    let org = find_org(app, &arguments.org).await?;
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let org = orgs::set_tier(&mut write, tier).await?;
    write.commit().await?;
    let words = format!(
        "{} is now in the tier {tier}: {} requests a minute",
        org.name,
        tier.requests_per_minute()
    );
    Ok((json!({"id": org.id, "tier": tier}), words))
}
