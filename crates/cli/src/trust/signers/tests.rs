//! Whoever can sign, with the environment as a parameter.

use launchway_trust::TopLevel;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Key, Keys, RoleKeys, Root};

use super::*;
use crate::developer_role::DeveloperRole;
use crate::private_file;
use crate::trust::fixture::{Fixture, NOW, key, signers};
use crate::trust::repository::header;

/// A root that these keys sign.
fn root(keys: &[&SigningKey], threshold: u64) -> Root {
    let role = RoleKeys {
        key_ids: keys.iter().map(|key| key.public().id()).collect(),
        threshold,
    };
    Root {
        keys: keys
            .iter()
            .map(|key| (key.public().id(), Key::from(*key.public())))
            .collect::<Keys>(),
        root: role.clone(),
        timestamp: role.clone(),
        snapshot: role.clone(),
        targets: role,
        consistent_snapshot: true,
    }
}

async fn draft_of(root: &Root) -> Draft {
    let identity = Fixture::new().await.identity;
    Draft::new(&header(&identity, &DeveloperRole::Root, 1, NOW), root)
}

/// Signs a root in this environment. Returns how many signatures it has, and how many it still needs.
async fn sign(root: &Root, signers: &mut Signers) -> Result<(usize, u64), Failure> {
    let mut draft = draft_of(root).await;
    let authority = root.authority(TopLevel::Root);
    let missing = signers.sign::<Root>(&mut draft, "root", &[authority]).await?;
    Ok((authority.signers_of(&metadata::<Root>(&draft)?).len(), missing))
}

fn home_with(keys: &[&SigningKey]) -> (tempfile::TempDir, Environment) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = home.path().to_str().expect("a path of text").to_owned();
    let environment = Environment::from([("HOME", path.as_str()), ("LAUNCHWAY_KEY_PASSPHRASE", "not needed")]);
    for key in keys {
        // Encryption takes its time, and has its own tests.
        let name = format!(".config/launchway/keys/{}.pem", key.public().id());
        private_file::write(&home.path().join(name), &key.to_pem()).expect("space");
    }
    (home, environment)
}

#[tokio::test]
async fn keys_of_this_machine_sign_up_to_the_threshold() {
    let (first, second, elsewhere) = (key(), key(), key());
    let (_home, environment) = home_with(&[&first, &second]);
    let rows = [(1, (1, 0)), (2, (2, 0)), (3, (2, 1))];
    for (threshold, expected) in rows {
        let root = root(&[&first, &second, &elsewhere], threshold);
        let mut signers = signers(&environment, None);
        assert_eq!(signers.can_sign(root.authority(TopLevel::Root)), threshold < 3);
        assert_eq!(
            sign(&root, &mut signers).await.expect("a signature"),
            expected,
            "{threshold}"
        );
    }
}

#[tokio::test]
async fn without_a_key_the_ids_of_the_role_are_named() {
    let (here, elsewhere) = (key(), key());
    let (_home, environment) = home_with(&[&here]);
    let root = root(&[&elsewhere], 1);
    let mut signers = signers(&environment, None);
    let failure = sign(&root, &mut signers).await.expect_err("no key");
    let id = elsewhere.public().id();
    let expected = format!(
        "root needs a signature, and no key that could add it is on this machine: {}",
        &id[..12]
    );
    assert_eq!(failure.message, expected);
    assert!(failure.hint.is_some_and(|hint| hint.contains("--sign-with")));
}

#[tokio::test]
async fn a_variable_holds_a_key_or_the_path_of_its_file() {
    let key = key();
    let root = root(&[&key], 1);
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = home.path().join("ci.pem");
    std::fs::write(&path, key.to_pem().as_bytes()).expect("space");
    let one_line = key.to_pem().replace('\n', " ");
    for value in [key.to_pem().as_str(), &one_line, path.to_str().expect("a path of text")] {
        let environment = Environment::from([(KEY_VARIABLE, value)]);
        let signed = sign(&root, &mut signers(&environment, None)).await;
        assert_eq!(signed.expect("a signature"), (1, 0));
    }
    let terminal = Terminal::new(&Environment::from([("CI", "1")]));
    let environment = Environment::from([(KEY_VARIABLE, "/nowhere/ci.pem")]);
    let Err(failure) = Signers::of(&environment, terminal, None) else {
        panic!("there is no such file");
    };
    assert!(
        failure.message.starts_with("cannot read /nowhere/ci.pem"),
        "{failure:?}"
    );
    let environment = Environment::from([(KEY_VARIABLE, "-----BEGIN garbage")]);
    let failure = sign(&root, &mut signers(&environment, None)).await.expect_err("no key");
    assert!(
        failure.message.starts_with("cannot use LAUNCHWAY_SIGNING_KEY"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_file_of_another_key_does_not_sign() {
    let (right, wrong) = (key(), key());
    let (home, environment) = home_with(&[&wrong]);
    let directory = home.path().join(".config/launchway/keys");
    let name = |key: &SigningKey| directory.join(format!("{}.pem", key.public().id()));
    std::fs::rename(name(&wrong), name(&right)).expect("it is ours");
    let failure = sign(&root(&[&right], 1), &mut signers(&environment, None)).await;
    let message = failure.expect_err("another key").message;
    assert!(message.ends_with("contains another key"), "{message}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_signs_for_the_key_that_its_signature_is_of() {
    let (key, other) = (key(), key());
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = home.path().join("signature");
    let root = root(&[&other, &key], 1);
    let mut draft = draft_of(&root).await;
    let signature = key.sign(draft.message(), &SystemRandom::new()).expect("a signature");
    std::fs::write(&path, signature).expect("space");
    let authority = root.authority(TopLevel::Root);
    let mut command = signers(&Environment::default(), Some(&format!("cat '{}'", path.display())));
    let missing = command.sign::<Root>(&mut draft, "root", &[authority, authority]).await;
    assert_eq!(missing.expect("a signature"), 0);
    let signed = authority.signers_of(&metadata::<Root>(&draft).expect("a file"));
    assert_eq!(signed.into_iter().collect::<Vec<_>>(), [*key.public()]);

    let mut garbage = signers(&Environment::default(), Some("printf garbage"));
    let failure = sign(&root, &mut garbage).await.expect_err("no signature");
    assert_eq!(
        failure.message,
        "what --sign-with printed is not a signature by a key of root"
    );
    let mut none = signers(&Environment::default(), Some("false"));
    let failure = sign(&root, &mut none).await.expect_err("it fails");
    assert_eq!(failure.message, "false failed: exit status: 1");
}
