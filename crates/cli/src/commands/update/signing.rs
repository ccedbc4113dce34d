//! Signs updates for the commands that publish them: with the update itself, or as the draft of updates that wait
//! (`docs/reference/trust.md#publishing-from-the-command-line`).

pub mod evidence;
mod facts;
mod waiting;

use std::time::Duration;

use launchway_api::trust::SignedRole;
use launchway_api::updates::{CreateUpdate, TextOrNumber, UpdateView};
use launchway_client::{Answer, Client, Error, Paging, UpdateFilter};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{EpochMs, from_iso};
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Metadata, Targets};
use launchway_trust::next_role::NEWEST_OF_PLATFORM;
use launchway_trust::{UpdateRole, target_path};
use ring::rand::{SecureRandom, SystemRandom};

use crate::context::Context;
use crate::failure::Failure;
use crate::trust::file::ProjectTrust;
use crate::trust::publication::{WantedTarget, authority, compose};
use crate::trust::renewal::renew_if_due;
use crate::trust::repository::VerifiedRepository;
use crate::trust::signers::{self, Signers};

pub use facts::{PackageFacts, check_package, sign_command};
pub use waiting::{Outcome, WaitingUpdate, ids_of};

/// How often an update is signed again because somebody else published first.
const MAX_TRIES: usize = 5;
/// The largest page that the server returns (`docs/reference/conventions.md#lists`), and how many are read.
pub const PAGE: u32 = 100;
pub const MAX_PAGES: u64 = 10;

/// Where updates of one app are signed: its trust file, its server, and the keys that are here.
pub struct SigningDesk<'c> {
    pub context: &'c Context,
    pub service: &'c Client,
    pub project: ProjectTrust,
    pub signers: Signers,
}

impl<'c> SigningDesk<'c> {
    /// The desk of an app; `None` if the project has no trust file for it.
    pub fn open(
        bundle_id: &str,
        sign_with: Option<&str>,
        service: &'c Client,
        context: &'c Context,
    ) -> Result<Option<Self>, Failure> {
        let bundle_id = parse_bundle_id(bundle_id)?;
        let project = ProjectTrust::of(&context.settings.root, &bundle_id)?;
        if project.content.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            context,
            service,
            project,
            signers: Signers::new(context, sign_with)?,
        }))
    }

    /// The same. Fails without a trust file: nobody signs blindly.
    pub fn required(
        bundle_id: &str,
        sign_with: Option<&str>,
        service: &'c Client,
        context: &'c Context,
    ) -> Result<Self, Failure> {
        match Self::open(bundle_id, sign_with, service, context)? {
            Some(desk) => Ok(desk),
            None => Err(no_trust_file(bundle_id)),
        }
    }

    /// The server's metadata, verified from the trust file.
    pub async fn repository(&self) -> Result<VerifiedRepository, Failure> {
        let file = self.project.required()?;
        VerifiedRepository::fetch(self.context, self.service, &self.project.bundle_id, file).await
    }

    /// Checks that updates of a configuration can be signed: the server's metadata is valid, and somebody signs for it.
    /// Opens the key, so that a passphrase is asked for before anything is sent.
    pub async fn check(&mut self, configuration: Option<&str>) -> Result<(), Failure> {
        let role = role_of(configuration)?;
        let repository = self.repository().await?;
        let authority = authority(&repository, &role)?;
        if !self.signers.has_signer(authority, &role.to_string()).await? {
            let note = format!("No key of {role} is here: the update will wait for its signature");
            self.context.printer.note(&note);
        }
        Ok(())
    }

    /// Renews root and targets that expire soon, where their keys are. What was published stays published if that fails.
    pub async fn renew_due_roles(&mut self) {
        if let Err(failure) = self.try_to_renew().await {
            let problem = failure.message;
            self.context
                .printer
                .warn(&format!("cannot tell which roles expire soon: {problem}"));
        }
    }

    async fn try_to_renew(&mut self) -> Result<(), Failure> {
        let repository = self.repository().await?;
        let (service, context) = (self.service, self.context);
        renew_if_due(&repository, service, &mut self.project, &mut self.signers, context).await?;
        Ok(())
    }

    /// Publishes an update: signed if that can be done here, and otherwise to wait for its signature. `facts` is what is
    /// signed of its package; without it nothing is signed here.
    ///
    /// With a build number and a single signature, update and role are published in one step. Otherwise the update waits
    /// until it is signed: the server chooses the number that is signed, or others sign too.
    pub async fn publish(
        &mut self,
        create: &CreateUpdate,
        lwfp2: Option<&str>,
        facts: Option<&PackageFacts>,
    ) -> Result<Answer<UpdateView>, Failure> {
        let role = role_of(create.configuration.as_deref())?;
        let repository = self.repository().await?;
        let authority = authority(&repository, &role)?;
        let threshold = authority.threshold();
        let measured = facts.map(|facts| facts.sha256.to_string());
        let facts = match facts {
            Some(facts) if self.signers.has_signer(authority, &role.to_string()).await? => Some(facts),
            _ => None,
        };
        let number = build_number(create);
        if let (Some(facts), Some(number), 1) = (facts, &number, threshold) {
            let wanted = facts.wanted((&create.platform, &create.version, number))?;
            return self.publish_signed(create, lwfp2, &role, &wanted).await;
        }
        let answer = self.service.create_update_with(create, lwfp2).await?;
        let update = &answer.value;
        if let Some(measured) = &measured {
            check_package(update, measured)?;
        }
        let Some(facts) = facts.filter(|_| update.status == UpdateStatus::AwaitingSignature) else {
            return Ok(answer);
        };
        let waiting = WaitingUpdate {
            id: update.id.clone(),
            wanted: facts.wanted((&create.platform, &create.version, &update.build_number))?,
        };
        match self.sign_waiting(&role, &[waiting], create.force).await {
            Ok(_) => Ok(self.service.update(&update.id).await?),
            // Others sign too, and may be at it.
            Err(failure) if threshold > 1 => {
                let problem = failure.message;
                self.context
                    .printer
                    .warn(&format!("no signature was added here: {problem}"));
                Ok(answer)
            }
            Err(failure) => {
                let hint = format!("the update waits: {}", sign_command(update));
                Err(Failure {
                    hint: Some(
                        failure
                            .hint
                            .map_or(hint.clone(), |other| format!("{other}\n      {hint}")),
                    ),
                    ..failure
                })
            }
        }
    }

    /// Publishes an update together with the next version of its role. When somebody else was faster, verifies and signs
    /// again.
    async fn publish_signed(
        &mut self,
        create: &CreateUpdate,
        lwfp2: Option<&str>,
        role: &UpdateRole,
        wanted: &WantedTarget,
    ) -> Result<Answer<UpdateView>, Failure> {
        let mut repository = self.repository().await?;
        let mut tries = 1;
        loop {
            let draft = self.compose_and_sign(&repository, role, wanted).await?;
            let request = CreateUpdate {
                signed: Some(SignedRole {
                    role: role.to_string(),
                    metadata: signers::text(&draft)?,
                }),
                ..create.clone()
            };
            let error = match self.service.create_update_with(&request, lwfp2).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let newer = match is_refusal(&error) && tries < MAX_TRIES {
                true => self.repository().await?,
                false => return Err(error.into()),
            };
            // Refused for another reason than that somebody was faster.
            if version(&newer, role) == version(&repository, role) {
                return Err(error.into());
            }
            tries += 1;
            let note = format!("Somebody else published meanwhile: signing again (attempt {tries} of {MAX_TRIES})");
            self.context.printer.note(&note);
            step_aside(tries, &SystemRandom::new()).await;
            repository = self.repository().await?;
        }
    }

    async fn compose_and_sign(
        &mut self,
        repository: &VerifiedRepository,
        role: &UpdateRole,
        wanted: &WantedTarget,
    ) -> Result<Draft, Failure> {
        let times = self.publication_times(repository, role).await?;
        let published_at = |path: &str| times.iter().find(|(known, _)| known == path).map(|(_, time)| *time);
        let next = compose(repository, role, std::slice::from_ref(wanted), &published_at)?;
        let mut draft = Draft::new(&next.header, &next.body);
        let authority = authority(repository, role)?;
        let name = role.to_string();
        self.signers.sign::<Targets>(&mut draft, &name, &[authority]).await?;
        Ok(draft)
    }

    /// When the updates of a role were published, which decides how long they are kept. Asked only when there are more
    /// than are always kept.
    async fn publication_times(
        &self,
        repository: &VerifiedRepository,
        role: &UpdateRole,
    ) -> Result<Vec<(String, EpochMs)>, Failure> {
        let listed = repository.role(role).map_or(0, |file| file.body().targets.len());
        if listed < NEWEST_OF_PLATFORM {
            return Ok(Vec::new());
        }
        let filter = UpdateFilter {
            bundle_id: Some(self.project.bundle_id.to_string()),
            configuration: configuration(role),
            ..UpdateFilter::default()
        };
        let mut times = Vec::new();
        for page in 0..MAX_PAGES {
            let offset = page * u64::from(PAGE);
            let page = self
                .service
                .updates(&filter, Paging { limit: PAGE, offset })
                .await?
                .value;
            times.extend(page.items.iter().filter_map(|update| {
                let path = path_of(update, role)?;
                Some((path, from_iso(&update.created_at)?))
            }));
            if page.items.len() < PAGE as usize {
                break;
            }
        }
        Ok(times)
    }
}

/// The role that signs updates of a configuration.
pub fn role_of(configuration: Option<&str>) -> Result<UpdateRole, Failure> {
    let Some(label) = configuration else {
        return Ok(UpdateRole::Any);
    };
    let role = format!("c-{label}").parse();
    role.map_err(|_| Failure::usage(format!("{label} is not the name of a configuration")))
}

/// The failure of an app with signed updates in a project without its trust file.
pub fn no_trust_file(bundle_id: &str) -> Failure {
    Failure::failed(format!(
        "this project has no launchway.trust.json for {bundle_id}, so nothing can be verified"
    ))
    .hint("run this in the app's source, where the file is committed")
}

/// The path of an update in its role; `None` if it is of another role, or cannot be signed.
pub fn path_of(update: &UpdateView, role: &UpdateRole) -> Option<String> {
    if update.configuration != configuration(role) {
        return None;
    }
    let version = Version::parse(&update.version).ok()?;
    let build = BuildNumber::parse(&update.build_number).ok()?;
    Some(target_path(role, update.platform.known()?, &version, build.value()))
}

fn configuration(role: &UpdateRole) -> Option<String> {
    match role {
        UpdateRole::Configuration(label) => Some(label.to_string()),
        UpdateRole::Any => None,
    }
}

/// The build number that a request names; `None` for the next free one.
fn build_number(create: &CreateUpdate) -> Option<String> {
    match create.build_number.as_ref()? {
        TextOrNumber::Text(text) => Some(text.clone()).filter(|text| text != "auto"),
        TextOrNumber::Number(number) => Some(number.to_string()),
    }
}

fn version(repository: &VerifiedRepository, role: &UpdateRole) -> u64 {
    repository.role(role).map_or(0, Metadata::version)
}

/// Waits a moment that grows with each attempt, so that those who sign at once do not meet at every attempt.
async fn step_aside(tries: usize, random: &SystemRandom) {
    let mut byte = [0; 1];
    let share = match random.fill(&mut byte) {
        Ok(()) => u64::from(byte[0]),
        Err(_) => 128,
    };
    tokio::time::sleep(Duration::from_millis(share * tries as u64)).await;
}

/// Whether the server refused what was sent, which may be because somebody else changed the role first.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Api { status: 400, .. })
}

fn parse_bundle_id(text: &str) -> Result<BundleId, Failure> {
    let parsed = BundleId::parse(text);
    parsed.map_err(|error| Failure::usage(format!("the bundle identifier {text} {error}")))
}

#[cfg(test)]
mod tests;
