//! `trust push`: gives metadata back to a server that was restored from a backup, from what this machine verified.

use std::collections::BTreeMap;

use launchway_api::trust::{PostTrust, TrustView};
use launchway_trust::client::Client as TrustClient;

use super::{Subject, print_change};
use crate::args::trust::PushArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::trust::memory::Memory;
use crate::trust::repository::refused;

pub async fn run(arguments: PushArgs, context: &Context) -> Result<(), Failure> {
    let subject = Subject::of(&arguments.app, context)?;
    let file = subject.project.required()?;
    let bundle_id = &subject.project.bundle_id;
    let server = subject.service.trust(bundle_id.as_str()).await?.value;
    if server.repository.as_deref() != Some(file.repository.to_string().as_str()) {
        return Err(
            Failure::failed("the server has another repository, or none, for this app")
                .hint("metadata can be given back only to the repository that it is from"),
        );
    }
    let memory = Memory::of(&context.environment, file.repository);
    let Some(stored) = memory.load() else {
        return Err(Failure::new(Exit::NotFound, "this machine verified nothing of this app before")
            .hint("run it where the newest version was signed, or sign above the lost version: launchway trust sign ROLE --above VERSION"));
    };
    let client = TrustClient::open_for_signer(file, bundle_id, Some(&stored)).map_err(|error| refused(&error))?;
    let request = lost(&client, &server, &memory)?;
    if request.roots.is_empty() && request.roles.is_empty() {
        context
            .printer
            .note("The server has everything that this machine verified");
        return Ok(());
    }
    for (role, version) in newer(&client, &server) {
        let has = version_of(&server, &role);
        context.printer.note(&format!(
            "{role}: the server has version {has}, this machine version {version}"
        ));
    }
    let question = format!("Give these versions back to {}?", subject.service.base());
    context.terminal.require_confirmation(&question, arguments.yes).await?;
    print_change(&subject.service.change_trust(&request).await?, context)
}

/// The files that are newer here than on the server.
fn lost(client: &TrustClient, server: &TrustView, memory: &Memory) -> Result<PostTrust, Failure> {
    let trusted = client.metadata();
    let mut request = PostTrust {
        bundle_id: server.bundle_id.clone(),
        roots: Vec::new(),
        roles: BTreeMap::new(),
        based_on: server.snapshot,
        restore: Some(true),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for version in version_of(server, "root") + 1..=trusted.root().version() {
        let root = memory.root(version)?.ok_or_else(|| {
            Failure::failed(format!("version {version} of the root is not on this machine"))
                .hint("run this where every change of the root was seen")
        })?;
        request.roots.push(root);
    }
    for (role, _) in newer(client, server) {
        let file = match role.as_str() {
            "root" => continue,
            "targets" => trusted.targets(),
            name => trusted.role(name),
        };
        request.roles.extend(file.map(|file| (role, text(file.bytes()))));
    }
    Ok(request)
}

/// The developers' roles whose version here is above the server's.
fn newer(client: &TrustClient, server: &TrustView) -> Vec<(String, u64)> {
    let trusted = client.metadata();
    let root = [("root".to_owned(), trusted.root().version())];
    let targets = trusted.targets().map(|file| ("targets".to_owned(), file.version()));
    let roles = trusted.roles().map(|(name, file)| (name.to_owned(), file.version()));
    let all = root.into_iter().chain(targets).chain(roles);
    all.filter(|(role, version)| *version > version_of(server, role))
        .collect()
}

fn version_of(server: &TrustView, role: &str) -> u64 {
    let known = server.roles.iter().find(|known| known.role == role);
    known.and_then(|known| known.version).unwrap_or(0)
}
