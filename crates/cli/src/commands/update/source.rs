//! Publishes the bytes of an earlier update again. In an app with signed updates they are those that its developers
//! signed, whatever the server says about them.

use launchway_api::updates::{CreateUpdate, UpdateView};
use launchway_client::{Answer, Client};
use launchway_domain::update::UpdateStatus;
use launchway_trust::Update;

use crate::commands::update::signing::{PackageFacts, SigningDesk, no_trust_file, path_of, role_of};
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::repository::VerifiedRepository;

/// Publishes `create`, whose source is this update. It is signed here if its role signed the source.
pub async fn publish_again(
    create: &CreateUpdate,
    source: &UpdateView,
    sign_with: Option<&str>,
    client: &Client,
    context: &Context,
) -> Result<Answer<UpdateView>, Failure> {
    let Some(mut desk) = SigningDesk::open(&create.bundle_id, sign_with, client, context)? else {
        let answer = client.create_update(create).await?;
        if answer.value.status == UpdateStatus::AwaitingSignature {
            context.printer.warn(&no_trust_file(&create.bundle_id).message);
        }
        return Ok(answer);
    };
    let repository = desk.repository().await?;
    let facts = signed_facts(&repository, source)?;
    if facts.is_none() {
        let id = &source.id;
        context.printer.warn(&format!(
            "no role lists {id} any longer, so its package cannot be verified here: the new update waits for its signature"
        ));
    }
    let answer = desk.publish(create, None, facts.as_ref()).await?;
    desk.renew_due_roles().await;
    Ok(answer)
}

/// What its role signed about an update; `None` if the role does not list it. Fails if the server says otherwise.
fn signed_facts(repository: &VerifiedRepository, source: &UpdateView) -> Result<Option<PackageFacts>, Failure> {
    let role = role_of(source.configuration.as_deref())?;
    let path = path_of(source, &role);
    let file = repository.role(&role);
    let Some((path, target)) = path.zip(file).and_then(|(path, file)| {
        let target = file.body().targets.get(&path)?.clone();
        Some((path, target))
    }) else {
        return Ok(None);
    };
    let unreadable = || Failure::failed(format!("cannot read what {role} signed as {path}"));
    let (signed, sha256) = Update::of(&target).ok().zip(target.sha256()).ok_or_else(unreadable)?;
    if sha256.to_string() != source.sha256 || signed.fingerprint != source.fingerprint {
        let message = format!("the server says something else about {} than {role} signed", source.id);
        return Err(Failure::failed(message).hint("do not publish it: somebody may control the server"));
    }
    Ok(Some(PackageFacts {
        sha256,
        length: target.length,
        manifest: signed.manifest,
        fingerprint: signed.fingerprint,
    }))
}
