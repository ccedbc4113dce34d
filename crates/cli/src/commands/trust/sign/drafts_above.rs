//! The drafts that name the keys of another draft.

use launchway_trust::TopLevel;
use launchway_trust::metadata::{Authority, Metadata, Root, Targets};

use super::open_text;
use crate::commands::trust::Subject;
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::differences::{of_root, of_targets};
use crate::trust::drafts;
use crate::trust::repository::VerifiedRepository;

/// The drafts that name the keys of another draft, and come into force together with it: of a role that signs updates
/// the draft of targets, and of targets that of the root. They count only with all of their signatures.
pub struct DraftsAbove {
    root: Option<Metadata<Root>>,
    targets: Option<Metadata<Targets>>,
}

impl DraftsAbove {
    /// Fetches them.
    pub async fn of(role: &DeveloperRole, repository: &VerifiedRepository, subject: &Subject) -> Result<Self, Failure> {
        let mut above = Self {
            root: None,
            targets: None,
        };
        // One that cannot be signed itself does not count.
        if let Some(text) = open_text(subject, &DeveloperRole::Root).await? {
            let present = repository.root();
            let read = drafts::read::<Root>(&text, &DeveloperRole::Root, repository, present.version());
            above.root = read.ok().filter(|file| {
                let authorities = [present.body(), file.body()].map(|root| root.authority(TopLevel::Root));
                authorities.iter().all(|authority| authority.verify(file).is_ok())
            });
        }
        if !matches!(role, DeveloperRole::Update(_)) {
            return Ok(above);
        }
        if let Some(text) = open_text(subject, &DeveloperRole::Targets).await? {
            let present = repository.targets().version();
            let read = drafts::read::<Targets>(&text, &DeveloperRole::Targets, repository, present);
            let authority = above.authority(&DeveloperRole::Targets, repository);
            above.targets = read
                .ok()
                .filter(|file| authority.is_some_and(|authority| authority.verify(file).is_ok()));
        }
        Ok(above)
    }

    /// Who signs for the role once everything is in force.
    pub fn authority<'a>(&'a self, role: &DeveloperRole, repository: &'a VerifiedRepository) -> Option<Authority<'a>> {
        match (role, &self.root, &self.targets) {
            (DeveloperRole::Targets, Some(root), _) => Some(root.body().authority(TopLevel::Targets)),
            (DeveloperRole::Update(role), _, Some(targets)) => {
                let delegations = targets.body().delegations.as_ref()?;
                Some(delegations.authority(delegations.get(&role.to_string())?))
            }
            _ => repository.authority(role),
        }
    }

    /// Whether there are any.
    pub fn exist(&self) -> bool {
        self.root.is_some() || self.targets.is_some()
    }

    /// What they change.
    pub fn lines(&self, repository: &VerifiedRepository) -> Vec<String> {
        let root = self.root.iter();
        let root = root.flat_map(|file| of_root(repository.root().body(), file.body()));
        let targets = self.targets.iter();
        let targets = targets.flat_map(|file| of_targets(repository.targets().body(), file.body()));
        root.chain(targets).collect()
    }
}
