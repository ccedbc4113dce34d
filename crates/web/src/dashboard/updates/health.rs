//! Details of an update for confirmations: its results on devices, and the number of devices in a rollout.

use crate::dashboard::confirm::Facts;
use crate::dashboard::show::{count, time};

use launchway_api::reports::ReportCounts;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::rollout::Rollout;
use launchway_domain::time::iso;
use launchway_domain::update::Update;
use launchway_ops::api_error::ApiError;
use launchway_ops::apps::bundle_id;
use launchway_store::Org;

use crate::http::updates::reports;

/// The display name of a configuration, or of none.
pub fn configuration(configuration: Option<&Configuration>) -> String {
    configuration.map_or_else(|| "all configurations".to_owned(), |label| label.as_str().to_owned())
}

/// Adds the device reports of an update.
pub async fn health(facts: Facts, org: &mut Org<'_>, update: &Update) -> Result<Facts, ApiError> {
    let counts = reports(org, update.id).await?;
    let since = time(&iso(update.created_at));
    if !heard_of(&counts) {
        return Ok(facts.known(
            "Health",
            format!("unknown: no device has reported it since it was published, {since}"),
        ));
    }
    let devices = |number: i64| match number {
        1 => "1 device".to_owned(),
        number => format!("{} devices", count(&number)),
    };
    Ok(facts
        .known("Reported since", since)
        .known("Downloaded", devices(counts.downloaded))
        .known("Installed", devices(counts.installed))
        .known("Confirmed", devices(counts.confirmed))
        .known("Rolled back", devices(counts.rolled_back))
        .known("Failed", devices(counts.failed)))
}

fn heard_of(counts: &ReportCounts) -> bool {
    counts.downloaded + counts.installed + counts.confirmed + counts.rolled_back + counts.failed > 0
}

/// Adds how many devices of a configuration are known, and how many of them a rollout includes.
pub async fn reach(
    facts: Facts,
    org: &mut Org<'_>,
    update: &Update,
    configuration: Option<&Configuration>,
    rollout: Rollout,
) -> Result<Facts, ApiError> {
    let bundle: BundleId = bundle_id(&update.bundle_id)?;
    let place = self::configuration(configuration);
    let known = org.widest_reach(&bundle, update.platform, configuration).await?;
    let Some(widest) = known else {
        return Ok(facts.known("Devices", format!("none known for {place}: no device has reported")));
    };
    let share = (widest.devices * i64::from(rollout.percent()) + 99) / 100;
    Ok(facts
        .known(
            "Devices",
            format!(
                "at least {} for {place}: this many reported {}, published {}",
                count(&widest.devices),
                widest.version,
                time(&iso(widest.since))
            ),
        )
        .known(
            "Offered to",
            format!(
                "about {} of these at {rollout}, plus devices that do not report",
                count(&share)
            ),
        ))
}
