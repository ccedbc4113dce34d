//! What the server refuses to accept, because phones or developers would regret it.

use launchway_domain::time::DAY;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Metadata, Root, Targets};
use launchway_trust::profile::{ProfileError, check_role, check_root, check_targets};
use launchway_trust::{TopLevel, UpdateRole};

use crate::repository::{NOW, Repository, production};

#[test]
fn our_own_metadata_keeps_to_our_profile() {
    let repository = Repository::new();
    let online = *repository.online_key.public();
    let root = repository.file::<Root>("1.root.json").unwrap();
    let targets = repository.file::<Targets>("1.targets.json").unwrap();
    let role = repository.file::<Targets>("1.c-production.json").unwrap();
    assert_eq!(check_root(&root, &online, NOW), Ok(()));
    assert_eq!(check_targets(&targets, &online), Ok(()));
    assert_eq!(check_role(&production(), &role), Ok(()));
    let other = check_role(&UpdateRole::Any, &role);
    assert!(matches!(other, Err(ProfileError::Target { .. })));
}

#[test]
fn a_root_that_phones_or_developers_would_regret_is_refused() {
    let refused = |change: fn(&mut Repository)| {
        let mut repository = Repository::new();
        let online = *repository.online_key.public();
        change(&mut repository);
        let text = Draft::new(&repository.header(2, repository.root_expires), &repository.root)
            .to_text()
            .unwrap();
        let root: Metadata<Root> = Metadata::parse(text.as_bytes()).unwrap();
        check_root(&root, &online, NOW).unwrap_err()
    };
    use ProfileError::{ConsistentSnapshot, Key, Lifetime, OnlineKey, ServerSigns, Threshold};
    assert!(matches!(
        refused(|of| of.root.consistent_snapshot = false),
        ConsistentSnapshot
    ));
    assert!(matches!(refused(|of| of.root_expires += 367 * DAY), Lifetime));
    assert!(matches!(
        refused(|of| of.root.root.key_ids.push("none".to_owned())),
        Key { .. }
    ));
    assert!(matches!(
        refused(|of| of.root.targets.threshold = 2),
        Threshold {
            threshold: 2,
            keys: 1,
            ..
        }
    ));
    let developers = |of: &mut Repository| of.root.snapshot = of.root.targets.clone();
    assert!(matches!(
        refused(developers),
        OnlineKey {
            role: TopLevel::Snapshot
        }
    ));
    let server = |of: &mut Repository| of.root.targets = of.root.snapshot.clone();
    assert!(matches!(refused(server), ServerSigns { .. }));
}

#[test]
fn delegations_outside_the_profile_are_refused() {
    let refused = |change: fn(&mut Repository)| {
        let mut repository = Repository::new();
        change(&mut repository);
        let text = Draft::new(&repository.header(2, NOW), &repository.targets)
            .to_text()
            .unwrap();
        let targets: Metadata<Targets> = Metadata::parse(text.as_bytes()).unwrap();
        check_targets(&targets, repository.online_key.public()).unwrap_err()
    };
    fn first(of: &mut Repository) -> &mut launchway_trust::metadata::Delegation {
        &mut of.targets.delegations.as_mut().unwrap().roles[0]
    }
    use ProfileError::{Content, Delegation, Key, Role, ServerSigns, Threshold};
    assert!(matches!(
        refused(|of| first(of).name = "production".to_owned()),
        Role { .. }
    ));
    assert!(matches!(refused(|of| first(of).terminating = false), Delegation { .. }));
    assert!(matches!(
        refused(|of| first(of).paths.push("*".to_owned())),
        Delegation { .. }
    ));
    assert!(matches!(refused(|of| first(of).role.threshold = 2), Threshold { .. }));
    assert!(matches!(
        refused(|of| first(of).role.key_ids.push("none".to_owned())),
        Key { .. }
    ));
    let server = |of: &mut Repository| {
        let online = *of.online_key.public();
        of.delegate(&production(), &[online], 1);
    };
    assert!(matches!(refused(server), ServerSigns { .. }));
    let updates = |of: &mut Repository| of.targets.targets = of.roles[&production()].targets.clone();
    assert!(matches!(refused(updates), Content { .. }));
}
