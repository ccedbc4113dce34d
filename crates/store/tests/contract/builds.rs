//! Builds: every field, transitions as compare-and-set, leases, and filters of the list.

use launchway_domain::build::plan::{Plan, Step};
use launchway_domain::build::{
    Build, BuildErrorCode, BuildFailure, BuildState, BuildStatus, GitFacts, Outcome, PhaseRecord, SourceRecord, Spec,
    Transition,
};
use launchway_domain::configuration::Configuration;
use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_store::{BuildFilter, Db, Renewal, StateChange};

use crate::records::{ALL, NOW, an_org, bundle, new_id};

/// A queued build, not stored yet.
pub fn new_build(org: OrgId) -> Build {
    Build {
        id: new_id(),
        org_id: org,
        state: BuildState::new(NOW),
        priority: 0,
        labels: vec!["os=linux".to_owned()],
        bundle_id: "com.example.app".to_owned(),
        platform: Platform::Android,
        configuration: None,
        spec: Spec {
            profile: None,
            build_type: "release".to_owned(),
            distribution: "store".to_owned(),
            version: None,
            build_number: None,
            source: SourceRecord::Git {
                url: "https://example.com/app.git".to_owned(),
                reference: "main".to_owned(),
            },
            git: None,
            undecided: Default::default(),
        },
        plan: None,
        plan_origin: None,
        fingerprint: None,
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: None,
        log_size: 0,
        created_by: "key_x".to_owned(),
        created_at: NOW,
        started_at: None,
        finished_at: None,
    }
}

/// A source in object storage.
pub fn an_archive(blob_key: &str) -> SourceRecord {
    SourceRecord::Archive {
        blob_key: blob_key.to_owned(),
        file_name: "app.tar.gz".to_owned(),
        size: 1,
        sha256: "ab".repeat(32),
    }
}

/// Stores a build.
pub async fn keep(db: &Db, build: &Build) {
    let name = bundle(&build.bundle_id);
    org_writes!(db, build.org_id, create_build(build, &name));
}

fn phases() -> Vec<PhaseRecord> {
    vec![PhaseRecord {
        name: "npm \"ci\" ü".to_owned(),
        started_at: NOW,
        finished_at: Some(NOW + 5),
        exit_code: Some(-1),
    }]
}

contract! {
    async fn a_profile_decides_its_configuration(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let beta: Configuration = "beta".parse().unwrap();
        for configuration in [Some(&beta), None] {
            org_writes!(db, org, set_build_configuration(build.id, configuration));
            assert_eq!(org_reads!(db, org, build(build.id)).unwrap().configuration.as_ref(), configuration);
        }
    }

    async fn keeps_every_field(db: &TestDb) {
        let org = an_org(db).await.id;
        let step = Step { name: "build".to_owned(), run: "make\n'x'".to_owned(), timeout_seconds: Some(5) };
        let build = Build {
            priority: 7,
            labels: vec!["os=macos".to_owned(), "xcode=26".to_owned()],
            bundle_id: "com.Example.App".to_owned(),
            platform: Platform::Visionos,
            configuration: Some("staging".parse().unwrap()),
            spec: Spec {
                profile: Some("beta".to_owned()),
                version: Some("1.2.3".to_owned()),
                build_number: Some("0042".to_owned()),
                source: SourceRecord::Archive {
                    blob_key: "sources/x".to_owned(),
                    file_name: "ä.tar.zst".to_owned(),
                    size: 1 << 40,
                    sha256: "ab".repeat(32),
                },
                git: Some(GitFacts {
                    commit: Some("c0ffee".to_owned()),
                    branch: Some("feature/ü".to_owned()),
                    message: Some("it's \"done\"".to_owned()),
                    dirty: Some(true),
                }),
                ..new_build(org).spec
            },
            plan: Some(Plan { steps: vec![step], ..Plan::default() }),
            plan_origin: Some("request".to_owned()),
            fingerprint: Some("hash".parse().unwrap()),
            warnings: vec!["one".to_owned()],
            parent_id: Some(new_id()),
            ..new_build(org)
        };
        keep(db, &build).await;
        assert_eq!(org_reads!(db, org, build(build.id)), Some(build.clone()));
        assert_eq!(org_writes!(db, org, lock_build(build.id)), Some(build.clone()));
        assert_eq!(system_writes!(db, lock_leased_build(build.id)), Some(build.clone()));
        assert_eq!(system_reads!(db, any_build(build.id)), Some(build.clone()));

        let (leased, _) = build.state.apply(Transition::Lease, NOW + 1).unwrap();
        let runner = new_id();
        let with = StateChange { runner: Some(runner), started_at: Some(NOW + 1), ..StateChange::default() };
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &with)));
        let failed = Transition::Finish { attempt: 1, outcome: Outcome::Failed(BuildErrorCode::StepFailed) };
        let (ended, code) = leased.apply(failed, NOW + 2).unwrap();
        let error = BuildFailure { code: code.unwrap(), phase: Some("build".to_owned()), message: "exit 1".to_owned() };
        let with = StateChange { error: Some(error.clone()), finished_at: Some(NOW + 2), ..StateChange::default() };
        assert!(org_writes!(db, org, set_build_state(build.id, &leased, &ended, &with)));
        let told = Build {
            state: ended,
            runner_id: Some(runner),
            error: Some(error),
            phases: phases(),
            warnings: Vec::new(),
            plan_origin: Some("launchway.toml".to_owned()),
            started_at: Some(NOW + 1),
            finished_at: Some(NOW + 2),
            ..build.clone()
        };
        assert_eq!(system_reads!(db, any_build(build.id)).unwrap().id, build.id);
        assert_eq!(system_reads!(db, any_build(new_id())), None);
        org_writes!(db, org, update_build(&told));
        assert_eq!(org_reads!(db, org, build(build.id)), Some(told));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert!(!org_writes!(db, org, delete_build(build.id)));
        assert_eq!(org_reads!(db, org, build(build.id)), None);
    }

    async fn the_newest_that_succeeded_with_a_fingerprint(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let newest = async |configuration: Option<&str>| {
            let configuration = configuration.map(|name| name.parse().unwrap());
            let found = org_reads!(db, org, newest_build_with_fingerprint(&name, Platform::Android, configuration.as_ref()));
            found.map(|build| build.id)
        };
        let made = async |configuration: Option<&str>, change: fn(&mut Build)| {
            let mut build = Build {
                fingerprint: Some("hash".parse().unwrap()),
                configuration: configuration.map(|name| name.parse().unwrap()),
                state: BuildState { status: BuildStatus::Success, ..BuildState::new(NOW) },
                platform: Platform::Android,
                bundle_id: "COM.example.app".to_owned(),
                ..new_build(org)
            };
            change(&mut build);
            keep(db, &build).await;
            build.id
        };
        assert_eq!(newest(None).await, None);
        let first = made(None, |_| ()).await;
        let second = made(Some("staging"), |_| ()).await;
        made(Some("staging"), |build| build.fingerprint = None).await;
        made(None, |build| build.state.status = BuildStatus::Failed).await;
        made(None, |build| build.platform = Platform::Ios).await;
        made(None, |build| build.bundle_id = "com.example.other".to_owned()).await;
        assert_eq!(newest(None).await, Some(second));
        assert_eq!(newest(Some("staging")).await, Some(second));
        assert_eq!(newest(Some("production")).await, Some(first));
    }

    async fn a_move_is_made_from_where_the_build_stands_only(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let (leased, _) = build.state.apply(Transition::Lease, NOW).unwrap();
        let nothing = StateChange::default();
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &nothing)));
        // A second runner that read the same queue is too late.
        assert!(!org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &nothing)));
        let lapse = leased.lease_until.unwrap();
        let (again, _) = leased.apply(Transition::Lapse, lapse).unwrap();
        assert!(org_writes!(db, org, set_build_state(build.id, &leased, &again, &nothing)));
        let late = Transition::Finish { attempt: 1, outcome: Outcome::Success };
        let (ended, _) = leased.apply(late, NOW).unwrap();
        assert!(!org_writes!(db, org, set_build_state(build.id, &leased, &ended, &nothing)));
        assert_eq!(org_reads!(db, org, build(build.id)).unwrap().state, again);
    }

    async fn a_lease_is_renewed_by_who_has_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let (build, runner) = (new_build(org), new_id());
        keep(db, &build).await;
        let (leased, _) = build.state.apply(Transition::Lease, NOW).unwrap();
        let with = StateChange { runner: Some(runner), ..StateChange::default() };
        assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &with)));
        let until = NOW + 1_000_000;
        let renewal = |cancel_requested, has_new_phases| Some(Renewal { cancel_requested, log_size: 0, has_new_phases });
        assert_eq!(system_writes!(db, renew_build(build.id, runner, 1, until - 1, &phases())), renewal(false, true));
        assert_eq!(system_writes!(db, renew_build(build.id, runner, 1, until, &phases())), renewal(false, false));
        let kept = org_reads!(db, org, build(build.id)).unwrap();
        assert_eq!((kept.state.lease_until, kept.phases), (Some(until), phases()));
        for (id, who, attempt) in [(new_id(), runner, 1), (build.id, new_id(), 1), (build.id, runner, 2)] {
            assert_eq!(system_writes!(db, renew_build(id, who, attempt, until + 1, &[])), None);
        }
        let (asked, _) = leased.apply(Transition::Cancel, NOW).unwrap();
        assert!(org_writes!(db, org, set_build_state(build.id, &leased, &asked, &StateChange::default())));
        assert_eq!(system_writes!(db, renew_build(build.id, runner, 1, until, &[])), renewal(true, true));
    }

    async fn those_whose_time_is_over_are_found(db: &TestDb) {
        let org = an_org(db).await.id;
        let builds = [new_build(org), new_build(org), new_build(org)];
        for build in &builds {
            keep(db, build).await;
        }
        for (at, build) in builds.iter().enumerate().take(2) {
            let (leased, _) = build.state.apply(Transition::Lease, NOW - at as i64).unwrap();
            assert!(org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &StateChange::default())));
        }
        let end = NOW + launchway_domain::build::LEASE;
        assert_eq!(system_reads!(db, lapsed_builds(end - 2, 10)), []);
        assert_eq!(system_reads!(db, lapsed_builds(end - 1, 10)), [(org, builds[1].id)]);
        assert_eq!(system_reads!(db, lapsed_builds(end, 10)), [(org, builds[1].id), (org, builds[0].id)]);
        assert_eq!(system_reads!(db, lapsed_builds(end, 1)), [(org, builds[1].id)]);
        assert_eq!(system_reads!(db, stale_builds(NOW - 1, 10)), []);
        assert_eq!(system_reads!(db, stale_builds(NOW, 10)), [(org, builds[2].id)]);
    }

    async fn filters_narrow_the_list_alone_and_together(db: &TestDb) {
        let org = an_org(db).await.id;
        let plain = new_build(org);
        let mut branch = new_build(org);
        branch.spec.git = Some(GitFacts { branch: Some("main".to_owned()), ..GitFacts::default() });
        let other = Build {
            bundle_id: "com.example.other".to_owned(),
            platform: Platform::Ios,
            configuration: Some("beta".parse().unwrap()),
            ..new_build(org)
        };
        for build in [&plain, &branch, &other] {
            keep(db, build).await;
        }
        let (ended, _) = plain.state.apply(Transition::Cancel, NOW).unwrap();
        assert!(org_writes!(db, org, set_build_state(plain.id, &plain.state, &ended, &StateChange::default())));
        let none = BuildFilter::default();
        let android = BuildFilter { platform: Some(Platform::Android), ..none.clone() };
        for (filter, ids) in [
            (none.clone(), vec![other.id, branch.id, plain.id]),
            (BuildFilter { status: Some(BuildStatus::Canceled), ..none.clone() }, vec![plain.id]),
            (android.clone(), vec![branch.id, plain.id]),
            (BuildFilter { bundle: Some(bundle("COM.example.app")), ..none.clone() }, vec![branch.id, plain.id]),
            (BuildFilter { configuration: Some("beta".parse().unwrap()), ..none.clone() }, vec![other.id]),
            (BuildFilter { branch: Some("main".to_owned()), ..none.clone() }, vec![branch.id]),
            (BuildFilter { bundle_part: Some("Example.O".to_owned()), ..none.clone() }, vec![other.id]),
            (BuildFilter { bundle_part: Some("com_example".to_owned()), ..none.clone() }, vec![]),
            (BuildFilter { configuration_part: Some("ET".to_owned()), ..none.clone() }, vec![other.id]),
            (BuildFilter { branch_part: Some("ai".to_owned()), ..none.clone() }, vec![branch.id]),
            (BuildFilter { branch_part: Some("%".to_owned()), ..none.clone() }, vec![]),
            (BuildFilter { bundle_part: Some("app".to_owned()), branch_part: Some("main".to_owned()), ..none.clone() }, vec![branch.id]),
            (BuildFilter { status: Some(BuildStatus::Queued), ..android }, vec![branch.id]),
        ] {
            let rows = org_reads!(db, org, builds(&filter, ALL));
            let seen: Vec<_> = rows.items.iter().map(|build| build.id).collect();
            assert_eq!((seen, rows.total), (ids.clone(), ids.len() as i64), "{filter:?}");
        }
    }
}
