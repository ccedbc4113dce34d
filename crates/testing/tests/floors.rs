//! The structure of the workspace: which crates may depend on which (see ARCHITECTURE.md).

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

use std::collections::BTreeSet;

use launchway_testing::workspace::metadata;
use serde_json::Value;

/// Each crate, the workspace crates that it may depend on, and those that only its tests may depend on in addition.
/// Dependencies point down: a crate may name only crates of earlier lines.
const FLOORS: &[(&str, &[&str], &[&str])] = &[
    ("launchway-domain", &[], &[TESTING]),
    ("launchway-api", &["launchway-domain"], &[TESTING]),
    ("launchway-foreign", &["launchway-domain"], &[TESTING]),
    ("launchway-os", &["launchway-domain"], &[]),
    ("launchway-package", &[], &[TESTING]),
    ("launchway-delta", &["launchway-package"], &[TESTING]),
    ("launchway-credentials", &["launchway-domain"], &[TESTING]),
    ("launchway-trust", &["launchway-domain"], &[TESTING]),
    (
        "launchway-binaries",
        &["launchway-credentials", "launchway-domain"],
        &[TESTING],
    ),
    (
        "launchway-device",
        &["launchway-delta", "launchway-domain", "launchway-trust"],
        &[TESTING],
    ),
    (
        DEVELOPERS,
        &["launchway-delta", "launchway-domain", "launchway-trust"],
        &[],
    ),
    ("launchway-blob", &["launchway-domain", "launchway-os"], &[TESTING]),
    ("launchway-store", &["launchway-domain"], &[TESTING]),
    (
        "launchway-vault",
        &["launchway-domain", "launchway-os", "launchway-store"],
        &[],
    ),
    (
        "launchway-app-stores",
        &["launchway-credentials", "launchway-domain"],
        &[TESTING],
    ),
    (
        "launchway-outbound",
        &[
            "launchway-app-stores",
            "launchway-credentials",
            "launchway-domain",
            "launchway-os",
        ],
        &[TESTING],
    ),
    (
        "launchway-config",
        &[
            "launchway-api",
            "launchway-app-stores",
            "launchway-blob",
            "launchway-domain",
            "launchway-outbound",
            "launchway-package",
        ],
        &[TESTING],
    ),
    (
        "launchway-app-store-simulator",
        &["launchway-app-stores", "launchway-credentials", "launchway-domain"],
        &[TESTING, "launchway-binaries"],
    ),
    ("launchway-client", &["launchway-api", "launchway-domain"], &[TESTING]),
    (
        "launchway-project",
        &["launchway-domain", "launchway-trust"],
        &[TESTING],
    ),
    (
        "launchway-runner",
        &[
            "launchway-api",
            "launchway-client",
            "launchway-domain",
            "launchway-project",
        ],
        &[TESTING],
    ),
    (
        "launchway-inspection",
        &[
            "launchway-api",
            "launchway-binaries",
            "launchway-credentials",
            "launchway-delta",
            "launchway-domain",
            "launchway-foreign",
            "launchway-package",
            "launchway-runner",
        ],
        &[TESTING],
    ),
    (
        "launchway-ota",
        &[
            "launchway-blob",
            "launchway-domain",
            "launchway-foreign",
            "launchway-os",
            "launchway-store",
            "launchway-trust",
        ],
        &[TESTING],
    ),
    (
        "launchway-ops",
        &[
            "launchway-api",
            "launchway-app-stores",
            "launchway-binaries",
            "launchway-blob",
            "launchway-config",
            "launchway-credentials",
            "launchway-domain",
            "launchway-foreign",
            "launchway-inspection",
            "launchway-os",
            "launchway-ota",
            "launchway-outbound",
            "launchway-store",
            "launchway-trust",
            "launchway-vault",
        ],
        &[TESTING],
    ),
    (
        "launchway-web",
        &[
            "launchway-api",
            "launchway-app-stores",
            "launchway-blob",
            "launchway-config",
            "launchway-domain",
            "launchway-foreign",
            "launchway-ops",
            "launchway-os",
            "launchway-ota",
            "launchway-outbound",
            "launchway-store",
            "launchway-vault",
        ],
        &[TESTING],
    ),
    (
        "launchway-jobs",
        &[
            "launchway-api",
            "launchway-app-stores",
            "launchway-binaries",
            "launchway-blob",
            "launchway-credentials",
            "launchway-domain",
            "launchway-inspection",
            "launchway-ops",
            "launchway-ota",
            "launchway-outbound",
            "launchway-store",
        ],
        &[TESTING],
    ),
    (
        "launchway-server",
        &[
            "launchway-api",
            "launchway-app-store-simulator",
            "launchway-binaries",
            "launchway-blob",
            "launchway-client",
            "launchway-config",
            "launchway-domain",
            "launchway-inspection",
            "launchway-jobs",
            "launchway-ops",
            "launchway-os",
            "launchway-outbound",
            "launchway-runner",
            "launchway-store",
            "launchway-vault",
            "launchway-web",
        ],
        &[
            "launchway-app-stores",
            "launchway-device",
            "launchway-foreign",
            "launchway-package",
            "launchway-trust",
            DEVELOPERS,
            TESTING,
        ],
    ),
    (
        "launchway",
        &[
            "launchway-api",
            "launchway-app-stores",
            "launchway-client",
            "launchway-credentials",
            "launchway-delta",
            "launchway-device",
            "launchway-domain",
            "launchway-foreign",
            "launchway-project",
            "launchway-runner",
            "launchway-trust",
        ],
        &[TESTING],
    ),
    (
        "launchway-e2e",
        &[],
        &["launchway-domain", "launchway-trust", DEVELOPERS, TESTING],
    ),
    (
        "launchway-bench",
        &[
            "launchway-api",
            "launchway-delta",
            "launchway-domain",
            "launchway-foreign",
            "launchway-store",
            "launchway-trust",
            DEVELOPERS,
        ],
        &[TESTING],
    ),
    (TESTING, &[], &[]),
];

/// Signs updates for tests.
const DEVELOPERS: &str = "launchway-developers";

/// Every crate's tests use it, and it depends on none of them.
const TESTING: &str = "launchway-testing";

/// A dependency between two crates of the workspace.
#[derive(Debug, PartialEq)]
struct Arrow {
    from: String,
    to: String,
    only_tests: bool,
}

#[test]
fn crates_depend_only_downwards() {
    let metadata = metadata();
    let names = member_names(&metadata);
    let broken = broken_arrows(&names, &arrows(&metadata, &names));
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn each_broken_arrow_is_told() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let all: Vec<&str> = FLOORS.iter().map(|(name, ..)| *name).collect();
    let arrow = |from: &str, to: &str, only_tests| Arrow {
        from: from.to_owned(),
        to: to.to_owned(),
        only_tests,
    };
    for (crates, arrow, expected) in [
        (
            &all[..],
            arrow("launchway-domain", "launchway-store", false),
            "launchway-domain must not depend on launchway-store",
        ),
        (
            &all,
            arrow("launchway-client", "launchway-server", false),
            "launchway-client must not depend on launchway-server",
        ),
        (
            &all,
            arrow("launchway-api", TESTING, false),
            "launchway-api must not depend on launchway-testing",
        ),
        (
            &all,
            arrow(TESTING, "launchway-domain", true),
            "launchway-testing must not depend on launchway-domain",
        ),
        (
            &["launchway-new"],
            arrow("launchway-new", "launchway-new", false),
            "launchway-new is new: add it to FLOORS in",
        ),
    ] {
        let broken = broken_arrows(&names(crates), &[arrow]).join("\n");
        assert!(broken.contains(expected), "{broken:?} does not contain {expected:?}");
    }
    let allowed = [
        arrow("launchway-api", "launchway-domain", false),
        arrow("launchway-api", TESTING, true),
    ];
    assert_eq!(broken_arrows(&names(&all), &allowed), Vec::<String>::new());
    assert!(
        broken_arrows(&names(&all[1..]), &[])
            .join("")
            .contains("launchway-domain is no crate any more")
    );
}

#[test]
fn floors_point_down() {
    for (index, (name, uses, _)) in FLOORS.iter().enumerate() {
        for used in *uses {
            assert!(
                FLOORS[..index].iter().any(|(above, ..)| above == used),
                "{name} uses {used}, which is not above it"
            );
        }
    }
}

/// Messages about dependencies that [`FLOORS`] does not allow.
fn broken_arrows(names: &BTreeSet<String>, arrows: &[Arrow]) -> Vec<String> {
    let row = |name: &str| FLOORS.iter().find(|(known, ..)| *known == name);
    let new = names.iter().filter(|name| row(name).is_none()).map(|name| {
        format!("{name} is new: add it to FLOORS in crates/testing/tests/floors.rs, with the crates it may depend on.")
    });
    let gone = FLOORS
        .iter()
        .filter(|(name, ..)| !names.contains(*name))
        .map(|(name, ..)| {
            format!("{name} is no crate any more: remove it from FLOORS in crates/testing/tests/floors.rs.")
        });
    let wrong = arrows.iter().filter_map(|Arrow { from, to, only_tests }| {
        let (_, uses, tests_use) = row(from)?;
        let allowed = uses.contains(&to.as_str()) || (*only_tests && tests_use.contains(&to.as_str()));
        let what = if *only_tests { " (for its tests)" } else { "" };
        (!allowed).then(|| format!("{from} must not depend on {to}{what}: FLOORS in crates/testing/tests/floors.rs."))
    });
    new.chain(gone).chain(wrong).collect()
}

fn member_names(metadata: &Value) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| package["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The dependencies among `names`. A build dependency counts as a normal one.
fn arrows(metadata: &Value, names: &BTreeSet<String>) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            if names.contains(to) {
                let from = package["name"].as_str().unwrap().to_owned();
                arrows.push(Arrow {
                    from,
                    to: to.to_owned(),
                    only_tests: dependency["kind"] == "dev",
                });
            }
        }
    }
    assert!(
        arrows.len() > 5,
        "cargo names fewer dependencies than there must be: {arrows:?}"
    );
    arrows
}
