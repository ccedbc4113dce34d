//! An update that is ready: checked, packed and measured, so that only the server can refuse it.

use std::collections::BTreeMap;

use launchway_api::updates::CreateUpdate;
use launchway_client::{Client, Source};
use launchway_domain::platform::Platform;
use launchway_domain::update::UpdateStatus;

use super::compatible::{self, UpdateFingerprint};
use super::expo_content::NewIssue;
use super::expo_signing::ExpoKey;
use super::package::{self, Package};
use super::wanted::Native;
use crate::args::publish::PublishArgs;
use crate::commands::run_blocking;
use crate::commands::update::signing::{PackageFacts, SigningDesk, check_package, no_trust_file};
use crate::commands::update::{note_on_rollout, show};
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::package::MeasuredPackage;

/// Where the updates of the apps are signed, one desk for each app, so that a passphrase is asked for once.
pub struct Desks<'c> {
    client: &'c Client,
    context: &'c Context,
    /// By bundle identifier; `None` for an app without a trust file.
    opened: BTreeMap<String, Option<SigningDesk<'c>>>,
}

impl<'c> Desks<'c> {
    pub fn new(client: &'c Client, context: &'c Context) -> Self {
        let opened = BTreeMap::new();
        Self {
            client,
            context,
            opened,
        }
    }

    /// Opens the desk of an app. Fails if what it should sign cannot be verified.
    async fn check(&mut self, create: &CreateUpdate, sign_with: Option<&str>) -> Result<(), Failure> {
        if !self.opened.contains_key(&create.bundle_id) {
            let desk = SigningDesk::open(&create.bundle_id, sign_with, self.client, self.context)?;
            self.opened.insert(create.bundle_id.clone(), desk);
        }
        if let Some(desk) = self.of(&create.bundle_id) {
            // What cannot be verified is not signed, so nothing is packed or sent for it.
            desk.check(create.configuration.as_deref()).await?;
        }
        Ok(())
    }

    fn of(&mut self, bundle_id: &str) -> Option<&mut SigningDesk<'c>> {
        self.opened.get_mut(bundle_id)?.as_mut()
    }
}

/// What is to be published.
pub struct Wanted {
    /// The request, without the upload.
    pub create: CreateUpdate,
    /// The version of the native project.
    pub native: Native,
    /// What signs an update of Expo.
    pub signer: Option<ExpoKey>,
}

/// An update that is ready.
pub struct PreparedUpdate {
    /// The request, without the upload.
    pub create: CreateUpdate,
    /// The version of the native project.
    pub native: Native,
    pub package: Package,
    /// The files of the package, where they are needed.
    pub measured: Option<MeasuredPackage>,
    fingerprint: Option<UpdateFingerprint>,
}

impl PreparedUpdate {
    /// Checks and packs an update.
    pub async fn of(
        platform: Platform,
        wanted: Wanted,
        arguments: &PublishArgs,
        desks: &mut Desks<'_>,
    ) -> Result<Self, Failure> {
        if wanted.create.format.is_some() {
            return Self::of_expo(platform, wanted, arguments, desks).await;
        }
        let Wanted { create, native, .. } = wanted;
        let (client, context) = (desks.client, desks.context);
        desks.check(&create, arguments.sign_with.as_deref()).await?;
        let fingerprint = compatible::update_fingerprint(platform, arguments, context).await?;
        compatible::check(fingerprint.as_ref(), arguments, &create, context).await?;
        let package = package::prepare(platform, arguments, client, context).await?;
        let measured = match desks.of(&create.bundle_id).is_some() || arguments.dry_run {
            true => Some(measure(&package).await?),
            false => None,
        };
        Ok(Self {
            create,
            native,
            package,
            measured,
            fingerprint,
        })
    }

    /// Packs an update for apps with Expo's client, and signs it if there is a key. These apps know neither fingerprints nor roles.
    async fn of_expo(
        platform: Platform,
        wanted: Wanted,
        arguments: &PublishArgs,
        desks: &mut Desks<'_>,
    ) -> Result<Self, Failure> {
        let (client, context) = (desks.client, desks.context);
        let Wanted {
            mut create,
            native,
            signer,
        } = wanted;
        let package = package::prepare(platform, arguments, client, context).await?;
        if let Some(key) = signer {
            let base = arguments.expo_asset_base.as_deref();
            let issue = NewIssue::at(context.now())?;
            let signed = key.sign_update(package.path(), &create, platform, base, issue, client);
            create.expo = Some(signed.await?);
        }
        let measured = match arguments.dry_run {
            true => Some(measure(&package).await?),
            false => None,
        };
        Ok(Self {
            create,
            native,
            package,
            measured,
            fingerprint: None,
        })
    }

    /// The hash that an app's own must equal; `None` for every app.
    pub fn fingerprint_hash(&self) -> Option<String> {
        self.fingerprint.as_ref().map(UpdateFingerprint::hash)
    }

    /// Uploads the package and publishes the update. `is_next` if that of another platform was published before.
    pub async fn publish(mut self, is_next: bool, desks: &mut Desks<'_>) -> Result<(), Failure> {
        let (client, context) = (desks.client, desks.context);
        context.printer.set_interrupt_note(match is_next {
            true => "not every update was published: launchway update list",
            false => "nothing was published; uploaded data is deleted within a day",
        });
        let facts = self.measured.as_ref();
        let facts = facts.map(|measured| PackageFacts::of(measured, self.fingerprint_hash()));
        self.create.upload_id = Some(self.upload(client, context).await?);
        let (fingerprint, lwfp2) = self.fingerprint.map(|own| (own.input, own.lwfp2)).unzip();
        self.create.fingerprint = fingerprint;
        let lwfp2 = lwfp2.flatten();
        context
            .printer
            .set_interrupt_note("the update may have been published: launchway update list");
        let mut desk = match self.create.format {
            Some(_) => None,
            None => desks.of(&self.create.bundle_id),
        };
        let answer = match &mut desk {
            Some(desk) => desk.publish(&self.create, lwfp2.as_deref(), facts.as_ref()).await?,
            None => client.create_update_with(&self.create, lwfp2.as_deref()).await?,
        };
        context.printer.set_interrupt_note("");

        let update = &answer.value;
        if update.status == UpdateStatus::AwaitingSignature {
            check_package(update, &self.package.sealed.sha256)?;
        }
        show::print_published(&answer, client, context).await?;
        match desk {
            Some(desk) => desk.renew_due_roles().await,
            None if update.status == UpdateStatus::AwaitingSignature => return Err(no_trust_file(&update.bundle_id)),
            None => {}
        }
        note_on_rollout(update.rollout, context);
        self.native
            .warn_if_newer(&update.version, &update.build_number, context);
        Ok(())
    }

    /// Uploads the package; returns the id of the upload.
    async fn upload(&self, client: &Client, context: &Context) -> Result<String, Failure> {
        let sealed = &self.package.sealed;
        let progress = context.printer.progress("Uploading", sealed.size);
        let source = Source {
            path: self.package.path(),
            file_name: "update.zip",
            size: sealed.size,
            sha256: &sealed.sha256,
        };
        Ok(client.upload(source, progress.callback()).await?.id)
    }
}

/// Reads the files of a package.
async fn measure(package: &Package) -> Result<MeasuredPackage, Failure> {
    let (path, sealed) = (package.path().to_owned(), package.sealed.clone());
    run_blocking(move || MeasuredPackage::of_sealed(&path, &sealed)).await?
}
