//! What the server has of an app already.

use launchway_api::updates::UpdateView;
use launchway_client::{Client, Paging, UpdateFilter};
use launchway_domain::platform::Platform;
use launchway_domain::release::Protocol;
use launchway_foreign::exports::expo::id_of_copy;
use launchway_foreign::exports::plan::{Known, PlanStep};
use launchway_foreign::exports::{Export, ExportedRelease};

use crate::failure::Failure;

/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: u32 = 100;

/// Whether the organization has the app.
pub async fn has_app(client: &Client, bundle_id: &str) -> Result<bool, Failure> {
    let mut paging = Paging { limit: PAGE, offset: 0 };
    loop {
        let page = client.apps(paging).await?.value;
        let is_it = |app: &launchway_api::apps::AppView| app.bundle_id.eq_ignore_ascii_case(bundle_id);
        if page.items.iter().any(is_it) {
            return Ok(true);
        }
        paging.offset += u64::from(PAGE);
        if page.items.is_empty() || i64::try_from(paging.offset).is_ok_and(|offset| offset >= page.total) {
            return Ok(false);
        }
    }
}

/// What the server has of an app on a platform. Of releases it asks for those that would be published.
pub async fn known(
    client: &Client,
    bundle_id: &str,
    platform: Platform,
    export: &Export,
    has_app: bool,
) -> Result<Known, Failure> {
    let mut known = Known {
        has_app,
        ..Known::default()
    };
    if !has_app {
        return Ok(known);
    }
    if !export.deployments.is_empty() {
        // An app has at most 100.
        let all = client.deployment_keys(Some(bundle_id), Paging { limit: PAGE, offset: 0 });
        let all = all.await?.value.items.into_iter();
        let here = all.filter(|key| key.platform == platform);
        known.deployment_keys = here.map(|key| key.key).collect();
    }
    let wanted = export.plan(platform, &known);
    for step in &wanted.steps {
        if let PlanStep::Publish(release) = step
            && has_release(client, bundle_id, platform, release).await?
        {
            known
                .releases
                .insert((release.configuration.clone(), release.name.clone()));
        }
    }
    Ok(known)
}

async fn has_release(
    client: &Client,
    bundle_id: &str,
    platform: Platform,
    release: &ExportedRelease,
) -> Result<bool, Failure> {
    let name = &release.name;
    let foreign_ids = match release.protocol {
        Protocol::Codepush => vec![format!("{}/{name}", release.configuration)],
        Protocol::Expo => vec![name.clone(), id_of_copy(name, &release.configuration).to_string()],
        Protocol::Capgo | Protocol::HotUpdater => vec![name.clone()],
    };
    let of_app = UpdateFilter {
        bundle_id: Some(bundle_id.to_owned()),
        platform: Some(platform.to_string()),
        configuration: Some(release.configuration.clone()),
        ..UpdateFilter::default()
    };
    let first = Paging { limit: PAGE, offset: 0 };
    for foreign_id in foreign_ids {
        let named = UpdateFilter {
            protocol: Some(release.protocol.to_string()),
            foreign_id: Some(foreign_id),
            ..of_app.clone()
        };
        if !client.updates(&named, first).await?.value.items.is_empty() {
            return Ok(true);
        }
    }
    if release.protocol != Protocol::Capgo {
        return Ok(false);
    }
    // A bundle that several channels serve has its own name in one of them only.
    let same = |update: &UpdateView| &update.version == name;
    Ok(client.updates(&of_app, first).await?.value.items.iter().any(same))
}
