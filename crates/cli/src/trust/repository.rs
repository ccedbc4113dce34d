//! The server's metadata, verified by the client's workflow from the committed file and from what this machine verified
//! before: nobody signs the next version of what the server merely says
//! (`docs/reference/trust.md#before-signing`).

use std::collections::{BTreeMap, BTreeSet};

use launchway_client::Client;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{EpochMs, SECOND, minute};
use launchway_trust::client::{Client as TrustClient, Refresh};
use launchway_trust::metadata::{Authority, Header, Metadata, Root, Targets};
use launchway_trust::{Identity, PublicKey, Reason, RoleError, Sha256, TopLevel, TrustFile, UpdateRole};

use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::{Exit, Failure};
use crate::trust::memory::Memory;

/// The metadata of an app, as far as its developers vouch for it.
#[derive(Debug)]
pub struct VerifiedRepository {
    client: TrustClient,
    root: Metadata<Root>,
    targets: Metadata<Targets>,
    identity: Identity,
    now: EpochMs,
}

impl VerifiedRepository {
    /// Fetches and verifies everything. Files of developers that have expired are taken with a warning, so that their
    /// holders can renew them; expired files of the server are not.
    ///
    /// # Errors
    /// The server cannot be reached, or a file is refused, with the reason that a phone would report.
    pub async fn fetch(
        context: &Context,
        service: &Client,
        bundle_id: &BundleId,
        file: &TrustFile,
    ) -> Result<Self, Failure> {
        let memory = Memory::of(&context.environment, file.repository);
        Self::fetch_from(context, service, bundle_id, file, Some(&memory)).await
    }

    /// The same for a server that lost versions for good: what this machine verified before and the floors of the file do
    /// not count, and stay as they are. The caller makes sure that what is signed reaches them.
    ///
    /// # Errors
    /// As [`VerifiedRepository::fetch`].
    pub async fn fetch_restored(
        context: &Context,
        service: &Client,
        bundle_id: &BundleId,
        file: &TrustFile,
    ) -> Result<Self, Failure> {
        let without_floors = TrustFile {
            floors: BTreeMap::new(),
            ..file.clone()
        };
        Self::fetch_from(context, service, bundle_id, &without_floors, None).await
    }

    async fn fetch_from(
        context: &Context,
        service: &Client,
        bundle_id: &BundleId,
        file: &TrustFile,
        memory: Option<&Memory>,
    ) -> Result<Self, Failure> {
        let stored = memory.and_then(Memory::load);
        let opened = TrustClient::open_for_signer(file, bundle_id, stored.as_ref());
        let mut client = opened.map_err(|error| refused(&error))?;
        // Known without asking the server, which could withhold it.
        if let Some((memory, version)) = memory.zip(root_of(file)) {
            memory.save_root(version, &file.root)?;
        }
        let outcome = refresh(client.refresh_for_signer(), service, bundle_id, memory).await;
        if let Some(memory) = memory {
            memory.save(&client.stored_trust())?;
        }
        outcome?;
        let now = context.now();
        let expired = client.expired_roles(now).into_iter();
        for (role, expires) in expired.filter(|(role, _)| !is_online(role)) {
            let warning = format!(
                "{role} expired at {}: phones take no update until a new version is signed",
                minute(expires)
            );
            context.printer.warn(&warning);
        }
        Self::of(client, now)
    }

    /// What a run of the workflow verified.
    fn of(client: TrustClient, now: EpochMs) -> Result<Self, Failure> {
        let mut expired = client.expired_roles(now).into_iter();
        if let Some((role, expires)) = expired.find(|(role, _)| is_online(role)) {
            return Err(stale(&role, expires));
        }
        let root = client.metadata().root().clone();
        let (Some(targets), Some(identity)) = (client.metadata().targets().cloned(), root.header().identity.clone())
        else {
            return Err(Failure::new(Exit::Server, "the server has no targets for this app"));
        };
        Ok(Self {
            client,
            root,
            targets,
            identity,
            now,
        })
    }

    /// What a developer verified of these files.
    #[cfg(test)]
    pub fn of_files(file: &TrustFile, bundle_id: &BundleId, files: &BTreeMap<String, String>, now: EpochMs) -> Self {
        let mut client = TrustClient::open_for_signer(file, bundle_id, None).expect("a root");
        let mut run = client.refresh_for_signer();
        while let Some(request) = run.next_request().expect("valid files") {
            match files.get(&request.to_string()) {
                Some(text) => drop(run.take(text.as_bytes()).expect("a valid file")),
                None => run.report_missing().expect("all files"),
            }
        }
        Self::of(client, now).expect("files that did not expire")
    }

    /// The root.
    pub fn root(&self) -> &Metadata<Root> {
        &self.root
    }

    /// The targets, which delegate to the roles that sign updates.
    pub fn targets(&self) -> &Metadata<Targets> {
        &self.targets
    }

    /// The current version of a role that signs updates; `None` if nothing was signed yet or it is not delegated to.
    pub fn role(&self, role: &UpdateRole) -> Option<&Metadata<Targets>> {
        self.client.metadata().role(&role.to_string())
    }

    /// Who signs for a role; `None` if `targets` does not delegate to it.
    pub fn authority(&self, role: &DeveloperRole) -> Option<Authority<'_>> {
        match role {
            DeveloperRole::Root => Some(self.root.body().authority(TopLevel::Root)),
            DeveloperRole::Targets => Some(self.root.body().authority(TopLevel::Targets)),
            DeveloperRole::Update(role) => {
                let delegations = self.targets.body().delegations.as_ref()?;
                let delegation = delegations.get(&role.to_string())?;
                Some(delegations.authority(delegation))
            }
        }
    }

    /// The roles that sign updates.
    pub fn update_roles(&self) -> impl Iterator<Item = UpdateRole> {
        let delegations = self.targets.body().delegations.iter();
        let names = delegations.flat_map(|delegations| &delegations.roles);
        names.filter_map(|delegation| delegation.name.parse().ok())
    }

    /// The repository and the app.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The version of the snapshot, which a change of trust is based on.
    pub fn snapshot_version(&self) -> Option<u64> {
        self.client.metadata().snapshot().map(Metadata::version)
    }

    /// The packages that nobody may sign again: those of the committed file, and those that roles revoked.
    pub fn revoked_packages(&self) -> BTreeSet<Sha256> {
        self.client.revoked_packages()
    }

    /// The key of the server, which signs snapshot and timestamp.
    pub fn online_key(&self) -> Option<PublicKey> {
        let signers = self.root.body().authority(TopLevel::Timestamp).signers();
        signers.first().copied()
    }

    /// The header of a role's next version: one above the current one, or above `above`.
    pub fn next_header(&self, role: &DeveloperRole, above: Option<u64>) -> Header {
        let current = match role {
            DeveloperRole::Root => self.root.version(),
            DeveloperRole::Targets => self.targets.version(),
            DeveloperRole::Update(role) => self.role(role).map_or(0, Metadata::version),
        };
        header(&self.identity, role, current.max(above.unwrap_or(0)) + 1, self.now)
    }

    /// The time at which it was verified.
    pub fn now(&self) -> EpochMs {
        self.now
    }
}

/// The header of a version that is valid from now for as long as its role is.
pub fn header(identity: &Identity, role: &DeveloperRole, version: u64, now: EpochMs) -> Header {
    let expires = now.saturating_add(role.lifetime());
    Header {
        version,
        expires: expires - expires % SECOND,
        identity: Some(identity.clone()),
    }
}

/// The packages that a role revoked, as this machine remembers.
pub fn remembered_revocations(
    context: &Context,
    bundle_id: &BundleId,
    file: &TrustFile,
    role: &UpdateRole,
) -> Vec<Sha256> {
    let stored = Memory::of(&context.environment, file.repository).load();
    let client = TrustClient::open_for_signer(file, bundle_id, stored.as_ref());
    client.map_or_else(
        |_| Vec::new(),
        |client| client.floors().revocations_of(&role.to_string()).to_vec(),
    )
}

/// Runs the client's workflow against the public files of the server.
async fn refresh(
    mut run: Refresh<'_>,
    service: &Client,
    bundle_id: &BundleId,
    memory: Option<&Memory>,
) -> Result<(), Failure> {
    while let Some(request) = run.next_request().map_err(|error| refused(&error))? {
        let name = request.to_string();
        let file = service.trust_file(bundle_id.as_str(), &name, request.limit()).await?;
        let Some(bytes) = file else {
            run.report_missing().map_err(|error| refused(&error))?;
            continue;
        };
        let replaced = run.take(&bytes).map_err(|error| refused(&error))?;
        if let Some(memory) = memory.filter(|_| replaced) {
            memory.save(&run.client().stored_trust())?;
            let root = run.client().metadata().root();
            if request.role() == TopLevel::Root.name() {
                memory.save_root(root.version(), &String::from_utf8_lossy(root.bytes()))?;
            }
        }
    }
    Ok(())
}

/// The failure of metadata that a phone would refuse too.
pub fn refused(error: &RoleError) -> Failure {
    let failure = Failure::failed(format!(
        "the server's metadata is refused: {error} ({})",
        error.reason.code()
    ));
    match &error.reason {
        Reason::Rollback { .. } | Reason::NamesRollback { .. } | Reason::NoLongerLists { .. } | Reason::Floor { .. } => failure.hint(
            "if the server was restored from a backup, run `launchway trust push` where the newest version was signed; otherwise somebody may control the server",
        ),
        Reason::Identity => failure.hint(
            "launchway.trust.json is for another repository or app: get the current file from the app's source repository; if it is the current one, do not sign",
        ),
        Reason::Missing => failure.hint("if the app has no signed updates on this server, run `launchway trust init`"),
        _ => failure.hint("do not sign: somebody may control the server or the connection to it"),
    }
}

/// Whether the server signs the role.
fn is_online(role: &str) -> bool {
    role == TopLevel::Timestamp.name() || role == TopLevel::Snapshot.name()
}

fn stale(role: &str, expires: EpochMs) -> Failure {
    let message = format!(
        "the server's {role} expired at {}: newer versions may be withheld",
        minute(expires)
    );
    Failure::failed(message).hint("check the clocks of this machine and of the server, and the server's log")
}

fn root_of(file: &TrustFile) -> Option<u64> {
    Metadata::<Root>::parse(file.root.as_bytes())
        .ok()
        .map(|root| root.version())
}
