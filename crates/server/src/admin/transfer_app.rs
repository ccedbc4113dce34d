//! Moves an app with its updates to another organization.

use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::trust::transfer;
use launchway_ops::updates::expo_signed;
use launchway_ops::write::{NOTHING, Write};
use serde_json::{Value, json};

use super::find_org;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The app's bundle identifier
    #[arg(long)]
    bundle_id: String,
    /// The id of the organization that receives the app
    #[arg(long)]
    org: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { bundle_id, org } = arguments;
    let bundle: BundleId = bundle_id
        .parse()
        .map_err(|error| ApiError::bad(format!("--bundle-id {error}")))?;
    let org = find_org(app, &org).await?;
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    write.touch_updates(&bundle).await?;
    let now = write.now();
    let from = write
        .system("the operator moves an app between tenants")
        .transfer_app(&bundle, org.id, now)
        .await?;
    let from = from.ok_or_else(|| ApiError::bad(format!("No organization has the bundle id {bundle}")))?;
    transfer::seal_again(&mut write, &bundle, from).await?;
    expo_signed::seal_again(&mut write, &bundle, from).await?;
    let moved = json!({"bundleId": bundle.as_str(), "from": from, "to": org.id});
    write
        .audit("app.transfer", bundle.as_str(), NOTHING, Some(&moved))
        .await?;
    if from != org.id {
        write.audit_elsewhere(from, "app.transfer", bundle.as_str(), &moved)?;
    }
    write.commit().await?;
    Ok((moved, format!("{bundle} now belongs to {}", org.name)))
}
