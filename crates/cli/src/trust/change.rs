//! A change of trust on its way: shown, confirmed, signed, sent, and then committed to the file of the project.

use std::collections::BTreeMap;

use launchway_api::trust::{PostTrust, TrustChange};
use launchway_client::{Answer, Client};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Metadata, Root, Targets};
use launchway_trust::profile::{check_role, check_root, check_targets};
use launchway_trust::{PublicKey, TrustFile};

use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::failure::Failure;
use crate::trust::differences::{heading, of_root, of_targets};
use crate::trust::file::ProjectTrust;
use crate::trust::next_versions::NextVersions;
use crate::trust::repository::VerifiedRepository;
use crate::trust::signers::{self, Signers};

/// Signing every second reaches no higher version in 30,000 years. A floor of the file never falls, so a version that
/// somebody signed to use them up does not become one.
const MAX_FLOOR: u64 = 1 << 40;

/// Shows a change and asks.
pub async fn confirm(change: &NextVersions<'_>, question: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    for line in describe(change) {
        context.printer.note(&line);
    }
    context.terminal.require_confirmation(question, yes).await
}

/// What a change consists of, as lines of text.
pub fn describe(change: &NextVersions<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = |heading: String, changes: Vec<String>| {
        lines.push(heading);
        lines.extend(changes.into_iter().map(|line| format!("  {line}")));
    };
    let repository = change.repository();
    if let Some(next) = &change.root {
        let present = repository.root();
        let heading = heading("root", Some(present.version()), &next.header);
        section(heading, of_root(present.body(), &next.body));
    }
    if let Some(next) = &change.targets {
        let present = repository.targets();
        let heading = heading("targets", Some(present.version()), &next.header);
        section(heading, of_targets(present.body(), &next.body));
    }
    for (role, next) in &change.roles {
        let present = repository.role(role);
        let heading = heading(&role.to_string(), present.map(Metadata::version), &next.header);
        let nothing = Targets::default();
        section(
            heading,
            of_targets(present.map_or(&nothing, Metadata::body), &next.body),
        );
    }
    lines
}

/// A change with the signatures that could be made here.
pub struct SignedChange {
    request: PostTrust,
    /// The roles that need further signatures.
    lacking: Vec<String>,
    /// Whether other keys sign than before.
    changes_keys: bool,
}

/// Signs every file of a change by the keys that are here. `online` is the key of the server.
pub async fn sign(
    change: &NextVersions<'_>,
    online: &PublicKey,
    signers: &mut Signers,
) -> Result<SignedChange, Failure> {
    let repository = change.repository();
    let mut signed = SignedChange {
        request: PostTrust {
            bundle_id: repository.identity().bundle_id.to_string(),
            roots: Vec::new(),
            roles: BTreeMap::new(),
            based_on: repository.snapshot_version(),
            restore: None,
        },
        lacking: Vec::new(),
        changes_keys: changes_keys(change),
    };
    let broken = |error: launchway_trust::profile::ProfileError| Failure::usage(error.to_string());
    if let Some(next) = &change.root {
        let mut draft = Draft::new(&next.header, &next.body);
        let missing = signers
            .sign::<Root>(&mut draft, "root", &change.authorities(&DeveloperRole::Root))
            .await?;
        let file: Metadata<Root> = signers::metadata(&draft)?;
        check_root(&file, online, repository.now()).map_err(broken)?;
        signed.request.roots.push(signers::text(&draft)?);
        signed.note("root", missing);
    }
    if let Some(next) = &change.targets {
        let mut draft = Draft::new(&next.header, &next.body);
        let authorities = change.authorities(&DeveloperRole::Targets);
        let missing = signers.sign::<Targets>(&mut draft, "targets", &authorities).await?;
        check_targets(&signers::metadata(&draft)?, online).map_err(broken)?;
        signed
            .request
            .roles
            .insert("targets".to_owned(), signers::text(&draft)?);
        signed.note("targets", missing);
    }
    for (role, next) in &change.roles {
        let mut draft = Draft::new(&next.header, &next.body);
        let authorities = change.authorities(&DeveloperRole::Update(role.clone()));
        let name = role.to_string();
        let missing = signers.sign::<Targets>(&mut draft, &name, &authorities).await?;
        check_role(role, &signers::metadata(&draft)?).map_err(broken)?;
        signed.request.roles.insert(name.clone(), signers::text(&draft)?);
        signed.note(&name, missing);
    }
    Ok(signed)
}

impl SignedChange {
    fn note(&mut self, role: &str, missing: u64) {
        if missing > 0 {
            self.lacking.push(role.to_owned());
        }
    }

    /// Sends the change, and commits what the server accepted to the file of the project.
    pub async fn send(
        &self,
        service: &Client,
        project: &mut ProjectTrust,
        context: &Context,
    ) -> Result<Answer<TrustChange>, Failure> {
        context
            .printer
            .set_interrupt_note("the change may have been sent: launchway trust status");
        let answer = service.change_trust(&self.request).await?;
        context.printer.set_interrupt_note("");
        for role in &self.lacking {
            context.printer.note(&format!(
                "{role} needs further signatures: another holder of its keys runs `launchway trust sign {role}`"
            ));
        }
        if self.changes_keys {
            update_file(&answer.value, service, project, context).await?;
        }
        Ok(answer)
    }
}

fn changes_keys(change: &NextVersions<'_>) -> bool {
    let repository = change.repository();
    let root = change
        .root
        .as_ref()
        .is_some_and(|next| &next.body != repository.root().body());
    root || change
        .targets
        .as_ref()
        .is_some_and(|next| &next.body != repository.targets().body())
}

/// Writes the root and the floors that hold after a change of keys to the file of the project. A change of expiry needs
/// none: every phone follows the chain of roots.
pub async fn update_file(
    change: &TrustChange,
    service: &Client,
    project: &mut ProjectTrust,
    context: &Context,
) -> Result<(), Failure> {
    if change.accepted.is_empty() {
        return Ok(());
    }
    let present = project.required()?.clone();
    let repository = VerifiedRepository::fetch(context, service, &project.bundle_id, &present).await?;
    let next = file_of(&repository, &present);
    if next != present {
        project.write(next)?;
        let shown = project.path.display();
        context.printer.note(&format!(
            "{shown} was changed: commit it, and embed it in the next release of the app"
        ));
    }
    Ok(())
}

/// The file of the project, with the root and versions that a repository has now.
fn file_of(repository: &VerifiedRepository, present: &TrustFile) -> TrustFile {
    let mut floors = present.floors.clone();
    let roles = repository.update_roles();
    let versions = roles.filter_map(|role| Some((role.to_string(), repository.role(&role)?.version())));
    let versions = versions.chain([("targets".to_owned(), repository.targets().version())]);
    for (role, version) in versions.filter(|(_, version)| *version <= MAX_FLOOR) {
        let floor = floors.entry(role).or_insert(version);
        *floor = version.max(*floor);
    }
    TrustFile {
        root: String::from_utf8_lossy(repository.root().bytes()).into_owned(),
        repository: present.repository,
        floors,
        revoked: present.revoked.clone(),
    }
}

#[cfg(test)]
mod tests {
    use launchway_trust::metadata::Key;

    use super::*;
    use crate::environment::Environment;
    use crate::trust::fixture::{Fixture, NOW, key, production, signers};
    use crate::trust::repository::header;

    #[tokio::test]
    async fn the_recovery_key_signs_what_replaces_the_root_key() {
        let fixture = Fixture::new().await;
        let (repository, new) = (fixture.verified(), key());
        let mut next = NextVersions::of(&repository);
        let lost = fixture.root_key.public().id();
        next.replace_key(&lost, &Key::from(*new.public())).expect("a change");
        next.complete().expect("complete");
        let online = repository.online_key().expect("a key");
        let mut nobody = signers(&Environment::default(), None);
        sign(&next, &online, &mut nobody).await.err().expect("no key is here");

        let mut rescuer = signers(&Environment::default(), None);
        rescuer.add(fixture.recovery_key);
        let signed = sign(&next, &online, &mut rescuer).await.expect("signed files");
        assert!(signed.lacking.is_empty() && signed.changes_keys);
        let root: Metadata<Root> = Metadata::parse(signed.request.roots[0].as_bytes()).expect("a root");
        for authority in next.authorities(&DeveloperRole::Root) {
            authority.verify(&root).expect("enough signatures");
        }
        assert!(
            signed.request.roles.contains_key("targets"),
            "the lost key signed the present one"
        );
        assert_eq!(signed.request.based_on, repository.snapshot_version());
    }

    #[tokio::test]
    async fn used_up_versions_do_not_become_floors() {
        let mut fixture = Fixture::new().await;
        let role = DeveloperRole::Update(production());
        for (version, expected) in [(7, Some(&7)), (MAX_FLOOR + 1, None)] {
            let last = header(&fixture.identity, &role, version, NOW);
            fixture.publish(&last, &Targets::default());
            let floors = file_of(&fixture.verified(), &fixture.trust_file).floors;
            assert_eq!(
                (floors.get("c-production"), floors.get("targets")),
                (expected, Some(&1))
            );
        }
    }

    #[tokio::test]
    async fn a_change_that_needs_more_keys_says_so() {
        let fixture = Fixture::new().await;
        let (repository, ada) = (fixture.verified(), key());
        let role = DeveloperRole::Update(production());
        let mut next = NextVersions::of(&repository);
        next.add_key(&role, Key::from(*ada.public()), Some(2))
            .expect("a change");
        next.complete().expect("complete");
        let mut here = signers(&Environment::default(), None);
        here.add(fixture.root_key);
        here.add(fixture.signing_key);
        let online = repository.online_key().expect("a key");
        let signed = sign(&next, &online, &mut here).await.expect("signed files");
        assert_eq!(signed.lacking, ["c-production"]);
    }
}
