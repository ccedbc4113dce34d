//! How an update does: its health in lists, and for confirmations its results on devices and the number of devices in a
//! rollout.

use std::collections::HashMap;

use crate::dashboard::confirm::Facts;
use crate::dashboard::show::{count, time};
use crate::dashboard::states;

use launchway_api::reports::ReportCounts;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::report::{Health, ReportKind};
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

/// The health of each of these updates that devices have reported.
pub async fn healths(org: &mut Org<'_>, updates: &[Update]) -> Result<HashMap<UpdateId, Health>, ApiError> {
    let ids: Vec<_> = updates.iter().map(|update| update.id).collect();
    let counts = org.report_counts_of(&ids).await?.into_iter();
    Ok(counts.map(|(id, counts)| (id, Health::of(&counts))).collect())
}

/// The health according to the reports that the API shows.
pub fn health_of(counts: &ReportCounts) -> Health {
    Health::of(&[
        (ReportKind::Installed, counts.installed),
        (ReportKind::Confirmed, counts.confirmed),
        (ReportKind::RolledBack, counts.rolled_back),
        (ReportKind::Failed, counts.failed),
    ])
}

/// The share of devices on which an update failed or was rolled back; `None` if no device tried it.
pub fn failure_rate(health: &Health) -> Option<String> {
    let permille = health.bad_permille()?;
    Some(format!("{}.{} %", permille / 10, permille % 10))
}

/// Whether an update works on devices, as HTML.
pub fn badge(health: &Health) -> String {
    states::badge(match health {
        Health { tried: 0, .. } => ("calm", "dash", "No result"),
        health if health.is_failing() => ("bad", "cross", "Failing"),
        _ => ("good", "check", "Healthy"),
    })
}

/// The numbers behind the health of an update.
pub fn extent(health: &Health) -> Option<String> {
    let rate = failure_rate(health)?;
    let devices = if health.tried == 1 { "device" } else { "devices" };
    Some(format!("{rate} of {} {devices} failed", count(&health.tried)))
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
