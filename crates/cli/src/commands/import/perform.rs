//! Makes the changes of an import, one after the other.

use std::collections::BTreeSet;

use launchway_api::apps::CreateApp;
use launchway_api::deployment_keys::CreateDeploymentKey;
use launchway_api::open;
use launchway_api::updates::{CreateUpdate, FingerprintInput, NewForeignId};
use launchway_client::{Client, Source};
use launchway_domain::platform::Platform;
use launchway_domain::release::{Format, Protocol, UpdateKind};
use launchway_foreign::exports::ExportedRelease;
use launchway_foreign::exports::plan::PlanStep;

use super::expo::{ExpoKeys, ExpoUpdate};
use super::packages::Packages;
use super::platform_plan::PlatformPlan;
use super::show;
use crate::commands::update::publish::package::Package;
use crate::context::Context;
use crate::failure::Failure;

/// The largest release notes in bytes (`docs/reference/updates.md#publishing-an-update`).
const MAX_NOTES: usize = 4096;
/// The version of releases whose service gives them none; their build numbers tell them apart.
const NO_VERSION: &str = "0.0.1";

/// An import into an app.
pub struct Import<'i> {
    pub client: &'i Client,
    pub context: &'i Context,
    pub bundle_id: &'i str,
    pub expo_keys: &'i ExpoKeys,
}

impl Import<'_> {
    /// Makes all changes of these plans.
    pub async fn perform(&self, plans: &[PlatformPlan<'_>], packages: &Packages) -> Result<(), Failure> {
        for PlatformPlan { platform, plan } in plans {
            // Names of Capgo's bundles and ids of Expo's updates that another channel serves as well.
            let mut named = BTreeSet::new();
            for step in &plan.steps {
                match step {
                    PlanStep::CreateApp => {
                        let wanted = CreateApp {
                            bundle_id: self.bundle_id.to_owned(),
                            name: None,
                        };
                        self.client.create_app(&wanted).await?;
                    }
                    PlanStep::AddDeploymentKey(deployment) => {
                        let wanted = CreateDeploymentKey {
                            bundle_id: self.bundle_id.to_owned(),
                            platform: (*platform).into(),
                            configuration: Some(deployment.configuration.clone()),
                            key: Some(deployment.key.clone()),
                        };
                        self.client.create_deployment_key(&wanted).await?;
                    }
                    PlanStep::Publish(release) => {
                        let keeps_name = named.insert(release.name.as_str());
                        let keeps_name = keeps_name && !self.is_taken(*platform, release).await?;
                        let package = packages.of(*platform, release);
                        self.publish(*platform, release, package, keeps_name).await?;
                    }
                }
                self.context.printer.note(&format!("Done: {}", show::step(step)));
            }
        }
        Ok(())
    }

    /// Whether an update of another channel has the name of a Capgo bundle or the id of an update of Expo.
    async fn is_taken(&self, platform: Platform, release: &ExportedRelease) -> Result<bool, Failure> {
        if !matches!(release.protocol, Protocol::Capgo | Protocol::Expo) {
            return Ok(false);
        }
        let filter = launchway_client::UpdateFilter {
            bundle_id: Some(self.bundle_id.to_owned()),
            platform: Some(platform.to_string()),
            protocol: Some(release.protocol.to_string()),
            foreign_id: Some(release.name.clone()),
            ..launchway_client::UpdateFilter::default()
        };
        let first = launchway_client::Paging { limit: 1, offset: 0 };
        Ok(!self.client.updates(&filter, first).await?.value.items.is_empty())
    }

    async fn publish(
        &self,
        platform: Platform,
        release: &ExportedRelease,
        package: Option<&Package>,
        keeps_name: bool,
    ) -> Result<(), Failure> {
        let mut wanted = wanted(self.bundle_id, platform, release, keeps_name);
        if release.protocol == Protocol::Expo {
            let update = ExpoUpdate {
                client: self.client,
                platform,
                release,
                package,
                keeps_id: keeps_name,
                created_at: release.created_at.filter(|_| keeps_name),
                now: self.context.now(),
            };
            self.expo_keys.complete(&mut wanted, &update).await?;
        }
        if let Some(package) = package {
            wanted.upload_id = Some(self.upload(package).await?);
        }
        self.client.create_update(&wanted).await?;
        Ok(())
    }

    /// Uploads a package; returns the id of the upload.
    async fn upload(&self, package: &Package) -> Result<String, Failure> {
        let sealed = &package.sealed;
        let progress = self.context.printer.progress("Uploading", sealed.size);
        let source = Source {
            path: package.path(),
            file_name: "update.zip",
            size: sealed.size,
            sha256: &sealed.sha256,
        };
        Ok(self.client.upload(source, progress.callback()).await?.id)
    }
}

/// The request for a release, without its upload.
fn wanted(bundle_id: &str, platform: Platform, release: &ExportedRelease, keeps_name: bool) -> CreateUpdate {
    let is_content = release.kind == UpdateKind::Update;
    let format = release.protocol.format();
    let foreign_id = |protocol: Protocol| NewForeignId {
        protocol: protocol.into(),
        id: keeps_name.then(|| release.name.clone()),
        created_at: None,
    };
    let names = match release.protocol {
        Protocol::Codepush | Protocol::Capgo if is_content => Some(vec![foreign_id(release.protocol)]),
        // The id is in the package.
        _ => None,
    };
    CreateUpdate {
        bundle_id: bundle_id.to_owned(),
        platform: platform.into(),
        version: version(release),
        configuration: Some(release.configuration.clone()),
        fingerprint: release.fingerprint.clone().map(FingerprintInput::Hash),
        release_notes: Some(shortened(&release.notes)).filter(|notes| !notes.is_empty()),
        rollout: Some(i64::from(release.rollout)),
        mandatory: Some(release.is_mandatory),
        kind: (!is_content).then(|| UpdateKind::Embedded.into()),
        format: (is_content && format != Format::Archive).then(|| open::Format::from(format)),
        runtime_version: release.runtime_version.clone(),
        binary_range: release.range.clone(),
        foreign_ids: names,
        file_hash: release
            .content_hash
            .clone()
            .filter(|hash| release.protocol == Protocol::HotUpdater && hash.starts_with("sig:")),
        ..CreateUpdate::default()
    }
}

/// The version of a release: Capgo's name, the number in a label of CodePush, or none of its own.
fn version(release: &ExportedRelease) -> String {
    let number = release
        .name
        .strip_prefix('v')
        .and_then(|number| number.parse::<u32>().ok());
    match (release.protocol, number) {
        (Protocol::Capgo, _) => release.name.clone(),
        (Protocol::Codepush, Some(number)) => format!("0.0.{number}"),
        _ => NO_VERSION.to_owned(),
    }
}

/// Notes that the server takes.
fn shortened(notes: &str) -> String {
    let mut end = notes.len().min(MAX_NOTES);
    while !notes.is_char_boundary(end) {
        end -= 1;
    }
    notes[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_cut_between_letters() {
        let long = "é".repeat(MAX_NOTES);
        assert_eq!(shortened(&format!("a{long}")).len(), MAX_NOTES - 1);
        assert_eq!(shortened("short"), "short");
    }
}
