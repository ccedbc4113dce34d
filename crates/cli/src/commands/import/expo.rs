//! Updates of Expo keep their ids and times, so that devices which run them are told that there is nothing new
//! (`docs/reference/foreign-clients.md#imports`). Apps that expect a signature take what is signed here.

use std::collections::BTreeMap;

use launchway_api::updates::{CreateUpdate, NewForeignId};
use launchway_client::Client;
use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, UpdateKind};
use launchway_domain::time::{EpochMs, iso};
use launchway_foreign::exports::ExportedRelease;
use launchway_foreign::exports::expo::id_of_copy;
use uuid::Uuid;

use super::platform_plan::PlatformPlan;
use crate::args::import::ImportArgs;
use crate::commands::update::publish::expo::{key_id, read_key};
use crate::commands::update::publish::expo_content::NewIssue;
use crate::commands::update::publish::expo_signing::ExpoKey;
use crate::commands::update::publish::package::Package;
use crate::context::Context;
use crate::failure::Failure;

/// The keys that sign updates, which stay on this machine.
pub struct ExpoKeys {
    /// The names of keys may differ between the platforms of an app.
    by_platform: BTreeMap<Platform, ExpoKey>,
    asset_base: Option<String>,
}

impl ExpoKeys {
    /// Reads the key of the arguments; none if there is none.
    pub fn read(arguments: &ImportArgs, plans: &[PlatformPlan<'_>], context: &Context) -> Result<Self, Failure> {
        let mut by_platform = BTreeMap::new();
        if let Some(path) = &arguments.expo_signing_key {
            if arguments.service != Protocol::Expo {
                let failure = Failure::usage("--expo-signing-key is only for updates of Expo");
                return Err(failure.hint("leave it out"));
            }
            for PlatformPlan { platform, .. } in plans {
                let id = arguments.expo_key_id.clone().or_else(|| key_id(*platform, context));
                by_platform.insert(*platform, read_key(path, id.as_deref())?);
            }
        }
        Ok(Self {
            by_platform,
            asset_base: arguments.expo_asset_base.clone(),
        })
    }

    /// Adds the id and the time of an update to the request for it: signed, if there is a key. An update whose id names that of another
    /// channel is created now, so that devices of its own channel take it for later.
    pub async fn complete(&self, create: &mut CreateUpdate, update: &ExpoUpdate<'_>) -> Result<(), Failure> {
        let id = update.id()?;
        let Some(key) = self.by_platform.get(&update.platform) else {
            let created_at = update.created_at.map(iso);
            create.foreign_ids = Some(vec![named(id, created_at)]);
            return Ok(());
        };
        let created_at = update.created_at.unwrap_or(update.now);
        let signed = if let (UpdateKind::Update, Some(package)) = (update.release.kind, update.package) {
            let base = self.asset_base.as_deref();
            let issue = NewIssue { id, created_at };
            let signed = key.sign_update(package.path(), create, update.platform, base, issue, update.client);
            signed.await?
        } else {
            // A directive has no id, so the request names it.
            create.foreign_ids = Some(vec![named(id, None)]);
            let signed = key.sign_return(create, update.platform, created_at, update.client);
            signed.await?
        };
        create.expo = Some(signed);
        Ok(())
    }
}

/// An update that is published here with what devices know of it.
pub struct ExpoUpdate<'u> {
    pub client: &'u Client,
    pub platform: Platform,
    pub release: &'u ExportedRelease,
    pub package: Option<&'u Package>,
    /// Whether its id names this update, and not that of another channel.
    pub keeps_id: bool,
    /// When it was created; `None` for now.
    pub created_at: Option<EpochMs>,
    pub now: EpochMs,
}

impl ExpoUpdate<'_> {
    fn id(&self) -> Result<Uuid, Failure> {
        let own = &self.release.name;
        match self.keeps_id {
            true => Uuid::try_parse(own).map_err(|_| Failure::failed(format!("{own} is not a UUID"))),
            false => Ok(id_of_copy(own, &self.release.configuration)),
        }
    }
}

fn named(id: Uuid, created_at: Option<String>) -> NewForeignId {
    NewForeignId {
        protocol: Protocol::Expo.into(),
        id: Some(id.to_string()),
        created_at,
    }
}
