//! `update revoke`: signs a version of the role that revokes a package, and writes it into the trust file.

use launchway_api::updates::UpdateView;
use launchway_trust::metadata::Metadata;
use launchway_trust::{Sha256, UpdateRole};

use crate::args::update::RevokeArgs;
use crate::commands::update::signing::{SigningDesk, path_of, role_of};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::fields;
use crate::trust::change;
use crate::trust::next_versions::NextVersions;
use crate::trust::publication::authority;
use crate::trust::repository::VerifiedRepository;

pub async fn run(arguments: RevokeArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let update = client.update(&arguments.update.id).await?.value;
    let sign_with = arguments.signing.sign_with.as_deref();
    let mut desk = SigningDesk::required(&update.bundle_id, sign_with, &client, context)?;
    let repository = desk.repository().await?;
    let role = role_of(update.configuration.as_deref())?;
    authority(&repository, &role)?;
    let sha256 = package_of(&update, &role, &repository, context)?;
    let version = if is_revoked(&repository, &role, sha256) {
        context.printer.note(&format!("{role} revokes this package already"));
        repository.role(&role).map(Metadata::version)
    } else {
        let mut next = NextVersions::of(&repository);
        next.revoke(&role, sha256)?;
        let question = format!(
            "Revoke the package of {} {} ({})?",
            update.platform, update.version, update.build_number
        );
        change::confirm(&next, &question, arguments.signing.yes, context).await?;
        let online = repository.online_key();
        let online = online.ok_or_else(|| Failure::failed("the root names no key of the server"))?;
        let signed = change::sign(&next, &online, &mut desk.signers).await?;
        let answer = signed.send(&client, &mut desk.project, context).await?;
        let is_accepted = answer.value.accepted.contains(&role.to_string());
        next.roles
            .get(&role)
            .map(|next| next.header.version)
            .filter(|_| is_accepted)
    };
    commit(&mut desk, &role, sha256, version)?;
    print(&update, &role, sha256, version.is_some(), &desk, &arguments, context)
}

/// The package that is revoked: the one that the role signed, if it lists the update.
fn package_of(
    update: &UpdateView,
    role: &UpdateRole,
    repository: &VerifiedRepository,
    context: &Context,
) -> Result<Sha256, Failure> {
    let id = &update.id;
    let unreadable = || Failure::failed(format!("{id} has no SHA-256"));
    let said: Sha256 = update.sha256.parse().map_err(|_| unreadable())?;
    let path = path_of(update, role);
    let file = repository.role(role);
    let signed = path.and_then(|path| file?.body().targets.get(&path)?.sha256());
    match signed {
        Some(signed) if signed == said => {}
        Some(signed) => {
            let message = format!("the server says that {id} has the package {said}, but {role} signed {signed}");
            return Err(Failure::failed(message).hint("somebody may control the server"));
        }
        None => context.printer.warn(&format!(
            "{role} does not list {id}: that its package is {said} is the server's word"
        )),
    }
    Ok(said)
}

fn is_revoked(repository: &VerifiedRepository, role: &UpdateRole, sha256: Sha256) -> bool {
    let file = repository.role(role);
    file.is_some_and(|file| file.body().revoked.contains(&sha256))
}

/// Writes the package, and the version of the role that revokes it, into the trust file.
fn commit(desk: &mut SigningDesk<'_>, role: &UpdateRole, sha256: Sha256, version: Option<u64>) -> Result<(), Failure> {
    let mut file = desk.project.required()?.clone();
    file.revoked.insert(sha256);
    if let Some(version) = version {
        let floor = file.floors.entry(role.to_string()).or_insert(version);
        *floor = version.max(*floor);
    }
    match desk.project.required()? == &file {
        true => Ok(()),
        false => desk.project.write(file),
    }
}

fn print(
    update: &UpdateView,
    role: &UpdateRole,
    sha256: Sha256,
    is_in_force: bool,
    desk: &SigningDesk<'_>,
    arguments: &RevokeArgs,
    context: &Context,
) -> Result<(), Failure> {
    let path = desk.project.path.display().to_string();
    let told = serde_json::json!({
        "id": update.id,
        "sha256": sha256.to_string(),
        "trustRole": role.to_string(),
        "revoked": is_in_force,
        "trustFile": path,
    });
    let state = match is_in_force {
        true => "revoked",
        false => "needs further signatures",
    };
    context.printer.result(&told.to_string(), || {
        fields(&[
            ("Update", update.id.clone()),
            ("SHA-256", sha256.to_string()),
            ("Role", role.to_string()),
            ("Package", state.to_owned()),
        ])
    })?;
    let why = arguments
        .reason
        .as_deref()
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    let (version, build) = (&update.version, &update.build_number);
    context.printer.note(&format!(
        "Commit this: {path} was changed. A message for it: Revoke {version} ({build}) of {}{why}",
        update.platform
    ));
    Ok(())
}
