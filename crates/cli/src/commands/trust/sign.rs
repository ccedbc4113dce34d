//! `trust sign`: adds signatures to the draft of a role, or renews the role.

mod drafts_above;

use launchway_api::trust::{AddTrustSignatures, TrustDraftView, TrustSignature};
use launchway_client::Error;
use launchway_domain::time::{DAY, SECOND};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Authority, Body, Metadata, Root, Targets};
use launchway_trust::profile::{ProfileError, check_role, check_root, check_targets};
use launchway_trust::{PublicKey, TopLevel};

use self::drafts_above::DraftsAbove;
use super::{Subject, print_change};
use crate::args::trust::TrustSignArgs;
use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::change;
use crate::trust::differences::{heading, of_root, of_targets, publishes};
use crate::trust::drafts;
use crate::trust::next_versions::NextVersions;
use crate::trust::repository::{VerifiedRepository, remembered_revocations};
use crate::trust::signers::{self, Signers};

pub async fn run(arguments: TrustSignArgs, context: &Context) -> Result<(), Failure> {
    let subject = Subject::of(&arguments.app, context)?;
    let draft = match arguments.above {
        Some(_) => None,
        None => open_draft(&subject, &arguments.role).await?,
    };
    match draft {
        Some(draft) => sign_draft(&draft, &arguments, subject, context).await,
        None => renew(&arguments, subject, context).await,
    }
}

/// The draft of the role, with its metadata.
async fn open_draft(subject: &Subject, role: &DeveloperRole) -> Result<Option<TrustDraftView>, Failure> {
    let bundle_id = subject.project.bundle_id.as_str();
    match subject.service.trust_draft(bundle_id, &role.to_string()).await {
        Ok(answer) => Ok(Some(answer.value)),
        Err(Error::Api { status: 404, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Signs the next version with the same content.
async fn renew(arguments: &TrustSignArgs, mut subject: Subject, context: &Context) -> Result<(), Failure> {
    let (role, signing) = (&arguments.role, &arguments.signing);
    let repository = match arguments.above {
        None => subject.repository(context).await?,
        Some(above) => restored(&subject, role, above, context).await?,
    };
    if repository.authority(role).is_none() {
        return Err(Failure::usage(format!("nobody signs for {role} yet"))
            .hint(format!("create the role with `launchway trust add-key {role} FILE`")));
    }
    let online = repository.online_key();
    let online = online.ok_or_else(|| Failure::failed("the root names no key of the server"))?;
    let mut next = NextVersions::of(&repository);
    let mut header = repository.next_header(role, arguments.above);
    if let Some(days) = arguments.expires_in_days {
        let expires = repository.now().saturating_add(DAY * i64::from(days));
        header.expires = expires - expires % SECOND;
    }
    next.renew_as(role, header)?;
    if let (DeveloperRole::Update(name), Some(_)) = (role, arguments.above) {
        let file = subject.project.required()?;
        for sha256 in remembered_revocations(context, &subject.project.bundle_id, file, name) {
            next.revoke(name, sha256)?;
        }
        next.revoke_listed(name, &file.revoked)?;
    }
    change::confirm(&next, &format!("Renew {role}?"), signing.yes, context).await?;
    let mut signers = Signers::new(context, signing.sign_with.as_deref())?;
    let signed = change::sign(&next, &online, &mut signers).await?;
    let answer = signed.send(&subject.service, &mut subject.project, context).await?;
    print_change(&answer, context)
}

/// The metadata of a server that lost versions for good: what this machine verified before does not count, and the
/// version that is signed must reach the floor of the file.
async fn restored(
    subject: &Subject,
    role: &DeveloperRole,
    above: u64,
    context: &Context,
) -> Result<VerifiedRepository, Failure> {
    let file = subject.project.required()?;
    if *role == DeveloperRole::Root {
        return Err(Failure::usage(
            "versions of the root follow each other: --above is for the other roles",
        ));
    }
    let floor = file.floors.get(&role.to_string()).copied().unwrap_or(0);
    if above.saturating_add(1) < floor {
        return Err(Failure::usage(format!(
            "{role} must reach version {floor}, which launchway.trust.json demands"
        ))
        .hint(format!("give --above {}", floor - 1)));
    }
    context.printer.warn(
        "what this machine verified before does not count: sign only what you know, and only if the server was restored from a backup",
    );
    VerifiedRepository::fetch_restored(context, &subject.service, &subject.project.bundle_id, file).await
}

async fn sign_draft(
    draft: &TrustDraftView,
    arguments: &TrustSignArgs,
    mut subject: Subject,
    context: &Context,
) -> Result<(), Failure> {
    let repository = subject.repository(context).await?;
    let metadata = draft.metadata.as_deref().unwrap_or_default();
    let mut signers = Signers::new(context, arguments.signing.sign_with.as_deref())?;
    let asked = Asked {
        role: &arguments.role,
        repository: &repository,
        arguments,
        context,
    };
    let (signatures, changes_keys) = match &arguments.role {
        DeveloperRole::Root => {
            let file: Metadata<Root> = asked.read(metadata, repository.root().version())?;
            let online = file.body().authority(TopLevel::Timestamp).signers().first().copied();
            let online = online.ok_or_else(|| Failure::failed("the draft names no key of the server"))?;
            check_root(&file, &online, repository.now()).map_err(|error| broken(&error))?;
            let lines = of_root(repository.root().body(), file.body());
            let present = repository.root().body().authority(TopLevel::Root);
            let authorities = [present, file.body().authority(TopLevel::Root)];
            (
                asked.sign(&file, &authorities, &lines, &mut signers).await?,
                !lines.is_empty(),
            )
        }
        role => {
            let above = DraftsAbove::of(role, &repository, &subject).await?;
            let (present, authority) = (present_of(&repository, role), above.authority(role, &repository));
            let file: Metadata<Targets> = asked.read(metadata, present.map_or(0, Metadata::version))?;
            check_content(role, &file, repository.online_key())?;
            let nothing = Targets::default();
            let before = present.map_or(&nothing, Metadata::body);
            if publishes(before, file.body()) {
                let hint = format!("sign it with `launchway update sign {}`", draft.update_ids.join(" "));
                return Err(Failure::usage("this draft publishes updates").hint(hint));
            }
            let authority = authority.ok_or_else(|| Failure::usage(format!("nobody signs for {role}")))?;
            let lines = of_targets(before, file.body());
            let changes_keys = above.exist() || (*role == DeveloperRole::Targets && !lines.is_empty());
            let lines = [above.lines(&repository), lines].concat();
            (
                asked.sign(&file, &[authority], &lines, &mut signers).await?,
                changes_keys,
            )
        }
    };
    let request = AddTrustSignatures {
        bundle_id: draft.bundle_id.clone(),
        role: arguments.role.to_string(),
        version: draft.version,
        signatures,
    };
    let answer = subject.service.add_trust_signatures(&request).await?;
    if changes_keys {
        change::update_file(&answer.value, &subject.service, &mut subject.project, context).await?;
    }
    print_change(&answer, context)
}

/// What somebody is asked to sign.
struct Asked<'a> {
    role: &'a DeveloperRole,
    repository: &'a VerifiedRepository,
    arguments: &'a TrustSignArgs,
    context: &'a Context,
}

impl Asked<'_> {
    /// Reads the draft, which must be a valid next version of this app's role.
    fn read<T: Body>(&self, text: &str, present: u64) -> Result<Metadata<T>, Failure> {
        drafts::read(text, self.role, self.repository, present)
    }

    /// Shows the draft, asks, and returns the signatures that were added here.
    async fn sign<T: Body>(
        &self,
        file: &Metadata<T>,
        authorities: &[Authority<'_>],
        lines: &[String],
        signers: &mut Signers,
    ) -> Result<Vec<TrustSignature>, Failure> {
        let (role, context) = (self.role.to_string(), self.context);
        let present = self.repository.next_header(self.role, None).version - 1;
        context.printer.note(&heading(
            &role,
            Some(present).filter(|present| *present > 0),
            file.header(),
        ));
        for line in lines {
            context.printer.note(&format!("  {line}"));
        }
        let question = format!("Sign this version of {role}?");
        context
            .terminal
            .require_confirmation(&question, self.arguments.signing.yes)
            .await?;
        let mut draft = Draft::from_bytes::<T>(file.bytes())
            .map_err(|error| Failure::failed(format!("the draft of {role} {error}")))?;
        let missing = signers.sign::<T>(&mut draft, &role, authorities).await?;
        if missing > 0 {
            context.printer.note(&format!("{role} needs {missing} more signatures"));
        }
        drafts::added(file, &signers::metadata(&draft)?)
    }
}

/// The metadata of the role's draft.
async fn open_text(subject: &Subject, role: &DeveloperRole) -> Result<Option<String>, Failure> {
    Ok(open_draft(subject, role).await?.and_then(|draft| draft.metadata))
}

fn present_of<'r>(repository: &'r VerifiedRepository, role: &DeveloperRole) -> Option<&'r Metadata<Targets>> {
    match role {
        DeveloperRole::Update(role) => repository.role(role),
        DeveloperRole::Targets => Some(repository.targets()),
        DeveloperRole::Root => None,
    }
}

fn check_content(role: &DeveloperRole, file: &Metadata<Targets>, online: Option<PublicKey>) -> Result<(), Failure> {
    let checked = match (role, online) {
        (DeveloperRole::Update(role), _) => check_role(role, file),
        (_, Some(online)) => check_targets(file, &online),
        (_, None) => return Err(Failure::failed("the root names no key of the server")),
    };
    checked.map_err(|error| broken(&error))
}

fn broken(error: &ProfileError) -> Failure {
    Failure::failed(format!("the draft breaks a rule: {error}")).hint("do not sign it; an admin can delete it")
}
