//! The statements of `docs/reference/updates.md` about the check, sentence by sentence.

use launchway_domain::ota::{Caller, Running, prune};
use launchway_domain::platform::Platform;

use crate::published::{Published, answer, build, caller, ids, percent, sorted, update, version};

#[test]
fn without_updates_there_is_none() {
    assert_eq!(answer(&caller("1.0.0"), &[]), "none");
}

#[test]
fn newer_is_a_greater_version_or_equal_with_a_greater_build() {
    let updates = [update("a", "1.2.0", 7)];
    for (installed, installed_build, expected) in [
        ("1.1.9", None, "update a"),
        ("1.1.9", build("900"), "update a"),
        ("1.2.0-rc.1", build("900"), "update a"),
        ("1.2.0", None, "none"),
        ("1.2.0", build("6"), "update a"),
        ("1.2.0", build("6.9.9"), "update a"),
        ("1.2.0", build("7"), "none"),
        ("1.2.0", build("7.0.1"), "none"),
        ("1.2.0", build("10"), "none"),
        ("1.2", build("6"), "update a"),
        ("1.2.0+9", build("6"), "update a"),
        ("1.2.1", build("1"), "none"),
        ("1.10.0", None, "none"),
    ] {
        let asking = Caller {
            build: installed_build,
            ..caller(installed)
        };
        assert_eq!(answer(&asking, &updates), expected, "{asking:?}");
    }
}

/// A rollback has the version of the bad update and a higher build number.
#[test]
fn the_update_that_an_app_runs_tells_its_build() {
    let updates = [
        update("back", "1.2.0", 8),
        Published {
            platform: Platform::Ios,
            ..update("ios", "1.2.0", 5)
        },
    ];
    let running = |platform, build| Some(Running { platform, build });
    for (platform, installed, known, expected) in [
        (None, None, None, "none"),
        (None, None, running(Platform::Android, 7), "update back"),
        (None, None, running(Platform::Android, 8), "none"),
        (None, None, running(Platform::Android, 9), "none"),
        // Only the builds of its own platform are compared, also after those of another platform.
        (None, None, running(Platform::Ios, 4), "update ios"),
        (None, None, running(Platform::Ios, 5), "none"),
        (None, None, running(Platform::Visionos, 1), "none"),
        (
            Some(Platform::Android),
            None,
            running(Platform::Android, 7),
            "update back",
        ),
        (Some(Platform::Ios), None, running(Platform::Ios, 4), "update ios"),
        // The app's own statement takes precedence.
        (None, build("9"), running(Platform::Android, 1), "none"),
        (None, build("7"), running(Platform::Android, 9), "update back"),
    ] {
        let asking = Caller {
            platform,
            build: installed,
            running: known,
            ..caller("1.2.0")
        };
        assert_eq!(answer(&asking, &updates), expected, "{asking:?}");
    }
}

#[test]
fn a_named_platform_sees_only_its_own_updates() {
    let updates = [
        update("android", "1.1.0", 1),
        Published {
            platform: Platform::Ios,
            ..update("ios", "1.2.0", 1)
        },
    ];
    for (platform, expected) in [
        (Some(Platform::Android), "update android"),
        (Some(Platform::Ios), "update ios"),
        (Some(Platform::Visionos), "none"),
        (None, "update ios"),
    ] {
        assert_eq!(
            answer(
                &Caller {
                    platform,
                    ..caller("1.0.0")
                },
                &updates
            ),
            expected
        );
    }
}

#[test]
fn a_configuration_serves_only_checks_that_name_it() {
    let staging = Published {
        configuration: Some("staging"),
        ..update("staging", "1.2.0", 1)
    };
    let updates = [staging, update("all", "1.1.0", 1)];
    for (configuration, expected) in [
        (Some("staging"), "update staging"),
        (Some("Staging"), "update all"),
        (Some("production"), "update all"),
        (None, "update all"),
    ] {
        assert_eq!(
            answer(
                &Caller {
                    configuration,
                    ..caller("1.0.0")
                },
                &updates
            ),
            expected,
            "{configuration:?}"
        );
    }
}

#[test]
fn newest_is_by_version_build_configuration_and_creation() {
    let base = update("base", "1.1.0", 5);
    let asking = Caller {
        configuration: Some("production"),
        ..caller("1.0.0")
    };
    let exact = Published {
        id: "exact".to_owned(),
        configuration: Some("production"),
        ..base.clone()
    };
    let late = Published {
        id: "late".to_owned(),
        created_at: 9,
        ..base.clone()
    };
    let late_build = Published {
        id: "build".to_owned(),
        build: 10,
        ..base.clone()
    };
    let high = Published {
        id: "high".to_owned(),
        version: version("1.1.1"),
        build: 1,
        ..base.clone()
    };
    assert_eq!(answer(&asking, &[base.clone(), late.clone()]), "update late");
    assert_eq!(
        answer(&asking, &[base.clone(), exact.clone(), late.clone()]),
        "update exact"
    );
    assert_eq!(
        answer(&asking, &[late_build.clone(), exact.clone(), late.clone()]),
        "update build"
    );
    let all = sorted(vec![base, exact, late, late_build, high]);
    assert_eq!(ids(&all), ["high", "build", "exact", "late", "base"]);
}

#[test]
fn the_newest_that_agrees_wins_over_newer_ones_that_do_not() {
    let needs = |fingerprint, update| Published {
        fingerprint: Some(fingerprint),
        ..update
    };
    let updates = [
        needs("new", update("d", "1.4.0", 1)),
        needs("new", update("c", "1.3.0", 1)),
        needs("old", update("b", "1.2.0", 1)),
        update("a", "1.1.0", 1),
    ];
    let told_by = |fingerprint, updates: &[Published]| {
        answer(
            &Caller {
                fingerprint,
                ..caller("1.0.0")
            },
            updates,
        )
    };
    assert_eq!(told_by(Some("new"), &updates), "update d");
    assert_eq!(told_by(Some("old"), &updates), "update b");
    assert_eq!(
        told_by(Some("OLD"), &updates),
        "update a",
        "compared byte by byte, and an update without agrees"
    );
    assert_eq!(told_by(None, &updates), "update d", "a caller without agrees");
    assert_eq!(told_by(Some("other"), &updates[..3]), "store d", "the newest of all");
    assert_eq!(told_by(Some("old"), &updates[..2]), "store d");
    let installed = Caller {
        fingerprint: Some("old"),
        ..caller("1.2.0")
    };
    assert_eq!(
        answer(&installed, &updates),
        "store d",
        "an agreeing one that is not newer does not count"
    );
}

#[test]
fn a_rollout_reaches_only_devices_inside_it() {
    // Buckets 49 and 14, as in the tests of the rollout.
    let id = "update_01h455vb4pex5vsknk084sn02q";
    let half = |share| {
        [
            Published {
                rollout: percent(share),
                ..update(id, "1.2.0", 1)
            },
            update("old", "1.1.0", 1),
        ]
    };
    let told_to = |device_id, share| {
        answer(
            &Caller {
                device_id,
                ..caller("1.0.0")
            },
            &half(share),
        )
    };
    assert_eq!(told_to(Some("device-1"), 49), "update old");
    assert_eq!(told_to(Some("device-1"), 50), format!("update {id}"));
    assert_eq!(told_to(Some("device-2"), 15), format!("update {id}"));
    assert_eq!(told_to(Some("device-2"), 0), "update old");
    assert_eq!(told_to(None, 99), "update old");
    assert_eq!(told_to(None, 100), format!("update {id}"));
}

#[test]
fn an_update_outside_the_rollout_asks_for_no_store_update() {
    let kept_back = Published {
        rollout: percent(0),
        fingerprint: Some("new"),
        ..update("b", "1.3.0", 1)
    };
    let offered = Published {
        fingerprint: Some("new"),
        ..update("a", "1.2.0", 1)
    };
    let asking = Caller {
        fingerprint: Some("old"),
        device_id: Some("device-1"),
        ..caller("1.0.0")
    };
    assert_eq!(answer(&asking, std::slice::from_ref(&kept_back)), "none");
    assert_eq!(answer(&asking, &[kept_back, offered]), "store a");
}

#[test]
fn pruning_drops_what_a_newer_one_for_everybody_covers() {
    let base = |id: &str, build| Published {
        fingerprint: Some("x"),
        ..update(id, "1.0.0", build)
    };
    for (newer, kept) in [
        (base("new", 2), vec!["new"]),
        (
            Published {
                rollout: percent(99),
                ..base("new", 2)
            },
            vec!["new", "old"],
        ),
        (
            Published {
                platform: Platform::Ios,
                ..base("new", 2)
            },
            vec!["new", "old"],
        ),
        (
            Published {
                configuration: Some("a"),
                ..base("new", 2)
            },
            vec!["new", "old"],
        ),
        (
            Published {
                fingerprint: Some("X"),
                ..base("new", 2)
            },
            vec!["new", "old"],
        ),
        (
            Published {
                fingerprint: None,
                ..base("new", 2)
            },
            vec!["new", "old"],
        ),
    ] {
        assert_eq!(ids(&prune(sorted(vec![base("old", 1), newer]))), kept);
    }
    let partial = Published {
        rollout: percent(10),
        ..base("old", 1)
    };
    assert_eq!(
        ids(&prune(sorted(vec![partial, base("new", 2)]))),
        ["new"],
        "its own rollout saves no older one"
    );
}
