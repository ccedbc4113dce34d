//! One run that renews a phone's metadata, file after file.

use launchway_domain::time::EpochMs;

use super::{Client, root_of_lineage};
use crate::metadata::{Metadata, Targets};
use crate::role::TopLevel;
use crate::role_error::{Reason, RoleError};
use crate::trusted_metadata::{RoleState, delegation};
use crate::workflow::{FileRequest, Workflow};

/// One run of the client's workflow. Store [`Client::stored_trust`] whenever [`Refresh::take`] returns `true`, before the
/// next request, and at the end of the run: a server cannot take back what was stored once.
#[derive(Debug)]
pub struct Refresh<'c> {
    client: &'c mut Client,
    workflow: Workflow,
    now: EpochMs,
    next_role: usize,
}

impl<'c> Refresh<'c> {
    pub(super) fn new(client: &'c mut Client, now: EpochMs) -> Self {
        Self {
            client,
            workflow: Workflow::new(now),
            now,
            next_role: 0,
        }
    }

    /// What to fetch next; `None` when everything is current.
    ///
    /// # Errors
    /// The trusted metadata does not allow the workflow to continue.
    pub fn next_request(&mut self) -> Result<Option<FileRequest>, RoleError> {
        if let Some(request) = self.workflow.next_request(&self.client.trusted)? {
            if let FileRequest::Targets { version } = request {
                self.client.check_floor_of_targets(version)?;
            }
            return Ok(Some(request));
        }
        let Some(targets) = self.client.trusted.targets().cloned() else {
            return Err(RoleError::new("targets", Reason::Missing));
        };
        self.client.check_floor_of_targets(targets.version())?;
        self.learn_targets();
        self.client.ask_delegated_roles();
        while let Some(role) = self.client.roles.get(self.next_role).cloned() {
            let name = role.to_string();
            match self.client.delegated_state(&targets, &role, self.now) {
                Ok(RoleState::Fetch { version }) => return Ok(Some(FileRequest::Role { name, version })),
                Ok(RoleState::Current) => self.learn(&targets, &name),
                Ok(RoleState::NotDelegated) => self.client.floors.forget_revoked(&name),
                Err(error) if self.client.every_role && error.reason == Reason::NotListed => {}
                Err(error) => return Err(error),
            }
            self.next_role += 1;
        }
        Ok(None)
    }

    /// Takes the bytes of the file that was asked for. Returns whether it replaced the trusted one.
    ///
    /// # Errors
    /// It is refused; this run is over.
    pub fn take(&mut self, bytes: &[u8]) -> Result<bool, RoleError> {
        let taken = match self.next_request()? {
            None => return Ok(false),
            Some(FileRequest::Role { name, .. }) => {
                let Some(targets) = self.client.trusted.targets().cloned() else {
                    return Err(RoleError::new("targets", Reason::Missing));
                };
                check_content(&name, bytes)?;
                self.client.trusted.update_role(&targets, &name, bytes, self.now)?;
                self.learn(&targets, &name);
                self.next_role += 1;
                true
            }
            Some(FileRequest::Root { .. }) => {
                let taken = self.workflow.take(&mut self.client.trusted, bytes);
                let (version, signed) = root_of_lineage(&self.client.trusted);
                self.client.lineage.insert(version, signed);
                taken?
            }
            Some(request) => {
                let is_targets = matches!(request, FileRequest::Targets { .. });
                if is_targets {
                    check_content("targets", bytes)?;
                }
                let taken = self.workflow.take(&mut self.client.trusted, bytes)?;
                if is_targets {
                    self.learn_targets();
                }
                taken
            }
        };
        Ok(taken)
    }

    /// The server does not have the file that was asked for.
    ///
    /// # Errors
    /// It must exist, or it was the next root and the last one has expired.
    pub fn report_missing(&mut self) -> Result<(), RoleError> {
        match self.next_request()? {
            Some(FileRequest::Role { name, .. }) => Err(RoleError::new(&name, Reason::Missing)),
            _ => self.workflow.report_missing(&mut self.client.trusted),
        }
    }

    /// What is trusted up to now.
    pub fn client(&self) -> &Client {
        self.client
    }

    fn learn_targets(&mut self) {
        let trusted = &self.client.trusted;
        if let Some(targets) = trusted.targets() {
            let authority = trusted.root().body().authority(TopLevel::Targets);
            self.client.floors.learn("targets", authority, targets);
        }
    }

    fn learn(&mut self, targets: &Metadata<Targets>, name: &str) {
        if let Some(((_, authority), file)) = delegation(targets, name).zip(self.client.trusted.role(name)) {
            self.client.floors.learn(name, authority, file);
        }
    }
}

/// A file of a targets role does not say of which one it is. Where one key signs for several, a server could pass one
/// file off as another, and so push up a floor. Hence each role lists targets under its own name only, and `targets`
/// none; only `targets` delegates.
fn check_content(role: &str, bytes: &[u8]) -> Result<(), RoleError> {
    // What cannot be read is refused by its reader.
    let Ok(file) = Metadata::<Targets>::parse(bytes) else {
        return Ok(());
    };
    let own = if role == "targets" {
        file.body().targets.is_empty()
    } else {
        let folder = format!("{role}/");
        let mut paths = file.body().targets.keys();
        file.body().delegations.is_none() && paths.all(|path| path.starts_with(&folder))
    };
    if own {
        Ok(())
    } else {
        Err(RoleError::new(role, Reason::Content))
    }
}
