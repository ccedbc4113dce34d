//! Signs updates that wait, as the draft that the server makes of them.

use std::collections::BTreeSet;

use launchway_api::trust::{AddTrustSignatures, CreateTrustDraft, TrustDraftView};
use launchway_client::Error;
use launchway_trust::UpdateRole;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Metadata, Targets};
use ring::rand::SystemRandom;

use super::{MAX_TRIES, SigningDesk, is_refusal, step_aside, version};
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::drafts;
use crate::trust::publication::{WantedTarget, authority, check_draft, is_listed};
use crate::trust::repository::VerifiedRepository;
use crate::trust::signers;

/// An update that waits for its signature, and what is signed about it.
#[derive(Clone, Debug)]
pub struct WaitingUpdate {
    pub id: String,
    pub wanted: WantedTarget,
}

/// What became of updates that were signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They are published.
    Published,
    /// The role needs this many further signatures.
    Lacks(u64),
}

/// One attempt to sign.
enum Attempt {
    Done(Outcome),
    /// Somebody else changed the role or its draft meanwhile.
    Overtaken(Failure),
}

impl SigningDesk<'_> {
    /// Signs updates of a role that wait. When somebody else was faster, verifies and signs again.
    pub async fn sign_waiting(
        &mut self,
        role: &UpdateRole,
        updates: &[WaitingUpdate],
        force: Option<bool>,
    ) -> Result<Outcome, Failure> {
        let mut tries = 1;
        loop {
            let repository = self.repository().await?;
            if updates
                .iter()
                .all(|update| is_listed(&repository, role, &update.wanted))
            {
                return Ok(Outcome::Published);
            }
            match self.try_to_sign(&repository, role, updates, force).await? {
                Attempt::Done(outcome) => return Ok(outcome),
                Attempt::Overtaken(failure) if tries == MAX_TRIES => return Err(failure),
                Attempt::Overtaken(_) => tries += 1,
            }
            let note = format!("Somebody else signed meanwhile: signing again (attempt {tries} of {MAX_TRIES})");
            self.context.printer.note(&note);
            step_aside(tries, &SystemRandom::new()).await;
        }
    }

    async fn try_to_sign(
        &mut self,
        repository: &VerifiedRepository,
        role: &UpdateRole,
        updates: &[WaitingUpdate],
        force: Option<bool>,
    ) -> Result<Attempt, Failure> {
        let named = DeveloperRole::Update(role.clone());
        let next = repository.next_header(&named, None).version;
        let draft = match self.draft_of(role, updates, next, force).await {
            Ok(draft) => draft,
            Err(error) => return self.explain(error, repository, role).await,
        };
        if draft.version > next {
            let problem = format!("has version {}", draft.version);
            return Ok(Attempt::Overtaken(drafts::refuse(&named, &problem)));
        }
        let text = draft.metadata.as_deref().unwrap_or_default();
        let file: Metadata<Targets> = drafts::read(text, &named, repository, next - 1)?;
        let wanted: Vec<_> = updates.iter().map(|update| update.wanted.clone()).collect();
        check_draft(repository, role, &wanted, &file)?;
        let mut signed =
            Draft::from_bytes::<Targets>(file.bytes()).map_err(|error| drafts::refuse(&named, &error.to_string()))?;
        let authority = authority(repository, role)?;
        let name = role.to_string();
        let missing = self.signers.sign::<Targets>(&mut signed, &name, &[authority]).await?;
        let request = AddTrustSignatures {
            bundle_id: self.project.bundle_id.to_string(),
            role: name.clone(),
            version: draft.version,
            signatures: drafts::added(&file, &signers::metadata(&signed)?)?,
        };
        match self.service.add_trust_signatures(&request).await {
            Ok(answer) if answer.value.accepted.contains(&name) => Ok(Attempt::Done(Outcome::Published)),
            Ok(_) => Ok(Attempt::Done(Outcome::Lacks(missing))),
            // The draft was replaced, signed or deleted meanwhile.
            Err(error @ Error::Api { status: 400 | 404, .. }) => Ok(Attempt::Overtaken(error.into())),
            Err(error) => Err(error.into()),
        }
    }

    /// The draft that publishes exactly these updates in this version: the open one, or a new one.
    async fn draft_of(
        &self,
        role: &UpdateRole,
        updates: &[WaitingUpdate],
        version: u64,
        force: Option<bool>,
    ) -> Result<TrustDraftView, Error> {
        let bundle_id = self.project.bundle_id.to_string();
        let ids: BTreeSet<&str> = updates.iter().map(|update| update.id.as_str()).collect();
        match self.service.trust_draft(&bundle_id, &role.to_string()).await {
            Ok(open) if open.value.version == version && ids_of(&open.value) == ids => return Ok(open.value),
            Ok(_) | Err(Error::Api { status: 404, .. }) => {}
            Err(error) => return Err(error),
        }
        let wanted = CreateTrustDraft {
            bundle_id,
            role: role.to_string(),
            update_ids: Some(ids.into_iter().map(str::to_owned).collect()),
            force,
        };
        Ok(self.service.create_trust_draft(&wanted).await?.value)
    }

    /// Whether a draft was refused because somebody else changed the role first.
    async fn explain(
        &self,
        error: Error,
        repository: &VerifiedRepository,
        role: &UpdateRole,
    ) -> Result<Attempt, Failure> {
        if is_refusal(&error) && version(&self.repository().await?, role) != version(repository, role) {
            return Ok(Attempt::Overtaken(error.into()));
        }
        Err(error.into())
    }
}

/// The updates of a draft.
pub fn ids_of(draft: &TrustDraftView) -> BTreeSet<&str> {
    draft.update_ids.iter().map(String::as_str).collect()
}
