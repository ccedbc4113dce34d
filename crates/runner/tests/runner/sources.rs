//! Sources and the plans in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use launchway_api::runner::{Lease, Source, Undecided};
use launchway_api::words::PlanOrigin;
use launchway_domain::build::plan::{Plan, Step};
use launchway_domain::build::{BuildErrorCode, BuildResult, BuildType, Distribution};
use launchway_runner::plan::{PlanResolver, ProjectResolver, Resolved};

use crate::fake_server::{FakeServer, lease, tar_gz};
use crate::stage::{PROGRAM, open_directory};
use crate::work::Working;

struct FromSource;

impl PlanResolver for FromSource {
    fn resolve(&self, source: &Path, lease: &Lease) -> Result<Resolved, String> {
        if !source.join("README").exists() {
            return Err("There is no README. Add one.".to_owned());
        }
        let step = Step {
            name: "Found".to_owned(),
            run: format!("echo found {}", lease.platform),
            timeout_seconds: None,
        };
        let labels = if source.join("mac").exists() {
            vec!["os=macos".to_owned()]
        } else {
            Vec::new()
        };
        let plan = Plan {
            steps: vec![step],
            labels,
            ..Plan::default()
        };
        Ok(Resolved {
            plan,
            origin: "launchway.toml".to_owned(),
            profile: None,
        })
    }
}

#[tokio::test]
async fn a_plan_comes_from_the_source_and_is_told() {
    let server = FakeServer::start().await;
    let working = Working::with(&server, |_| {}, Arc::new(FromSource));
    let bare = |id: &str, source: Source| Lease {
        plan: None,
        source,
        ..lease(&server, id, &[])
    };
    // Only a single top-level directory is stripped.
    let source = server.offer("top.tar.gz", tar_gz(&[("app-1.0/README", "x"), ("app-1.0/src/a", "x")]));
    server.queue(bare("build_1", source));
    let finish = server.finished("build_1").await;
    assert_eq!(finish.status, BuildResult::Success, "{}", server.log("build_1"));
    assert!(server.log("build_1").contains("found android\n"));
    let told = server.inner().builds["build_1"].plan.clone().unwrap();
    assert_eq!(
        (told.origin.as_str(), told.plan.steps[0].name.as_str()),
        ("launchway.toml", "Found")
    );

    let source = server.offer("other.tar.gz", tar_gz(&[("OTHER", "x"), ("b", "x")]));
    server.queue(bare("build_2", source));
    let error = server.finished("build_2").await.error.unwrap();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("SOURCE_INVALID", "There is no README. Add one.")
    );

    let source = server.offer("mac.tar.gz", tar_gz(&[("README", "x"), ("mac", "x")]));
    server.queue(bare("build_3", source));
    let error = server.finished("build_3").await.error.unwrap();
    assert!(error.message.contains("os=macos"), "{}", error.message);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_source_that_is_not_what_was_said_is_refused() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let good = tar_gz(&[("README", "x")]);
    let said = |name: &str, hash: Option<&str>| match server.offer(name, good.clone()) {
        Source::Archive {
            url,
            file_name,
            size,
            sha256,
        } => Source::Archive {
            url,
            file_name,
            size,
            sha256: hash.map_or(sha256, str::to_owned),
        },
        git @ Source::Git { .. } => git,
    };
    let rows = [
        (
            said("a.tar.gz", Some(&"0".repeat(64))),
            "its bytes differ from the upload",
        ),
        (said("a.rar", None), "is not a .tar.gz, .tar.zst or .zip file"),
        (server.offer("b.zip", good.clone()), "cannot read the archive"),
        (server.offer("c.tar.gz", tar_gz(&[])), "it is empty"),
    ];
    for (number, (source, message)) in rows.into_iter().enumerate() {
        let id = format!("build_{number}");
        server.queue(Lease {
            source,
            ..lease(&server, &id, &[("Never", "true")])
        });
        let error = server.finished(&id).await.error.unwrap();
        assert_eq!(
            (error.code.as_str(), error.phase.as_deref()),
            ("SOURCE_INVALID", Some("source"))
        );
        assert!(error.message.contains(message), "{}", error.message);
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_plan_is_found_by_a_process_of_its_own() {
    let server = FakeServer::start().await;
    let working = Working::with(&server, |_| {}, Arc::new(ProjectResolver));
    let bare = |id: &str, project: &str| Lease {
        plan: None,
        source: server.offer(
            &format!("{id}.tar.gz"),
            tar_gz(&[("launchway.toml", project), ("README", "x")]),
        ),
        ..lease(&server, id, &[])
    };
    let good = "[build.production]\nsteps = [{ name = 'Found', run = 'mkdir out && echo found > out/app.apk && cat out/app.apk' }]\n\
                artifacts = [{ path = 'out/app.apk' }]\n";
    server.queue(bare("build_1", good));
    let finish = server.finished("build_1").await;
    assert_eq!(finish.status, BuildResult::Success, "{}", server.log("build_1"));
    assert!(server.log("build_1").contains("==> Found\nfound\n"));
    let told = server.inner().builds["build_1"].plan.clone().unwrap();
    assert_eq!(told.origin, PlanOrigin::File);
    for (id, project) in [
        ("build_2", "[build".to_owned()),
        ("build_3", format!("a = {}", "[".repeat(1 << 20))),
    ] {
        server.queue(bare(id, &project));
        let error = server.finished(id).await.error.unwrap();
        assert_eq!(error.code, BuildErrorCode::SourceInvalid, "{}", error.message);
        assert!(error.message.contains("launchway.toml"), "{}", error.message);
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_profile_decides_what_the_request_left_open() {
    let server = FakeServer::start().await;
    let working = Working::with(&server, |_| {}, Arc::new(ProjectResolver));
    let project = "[build.production]\nbuild_type = 'debug'\ndistribution = 'internal'\nconfiguration = 'staging'\n\
                   steps = [{ name = 'Found', run = 'mkdir out && echo found > out/app.apk' }]\n\
                   artifacts = [{ path = 'out/app.apk' }]\n";
    let undecided = |distribution| Undecided {
        build_type: true,
        distribution,
        configuration: true,
    };
    for (id, undecided, distribution) in [
        ("build_1", undecided(true), Some("internal")),
        ("build_2", undecided(false), Some("store")),
        ("build_3", Undecided::default(), None),
    ] {
        server.queue(Lease {
            plan: None,
            build_type: BuildType::Release.into(),
            distribution: Distribution::Store.into(),
            undecided,
            source: server.offer(
                &format!("{id}.tar.gz"),
                tar_gz(&[("launchway.toml", project), ("README", "x")]),
            ),
            ..lease(&server, id, &[])
        });
        let finish = server.finished(id).await;
        assert_eq!(finish.status, BuildResult::Success, "{}", server.log(id));
        let told = server.inner().builds[id].plan.clone().unwrap().profile;
        let told = told.map(|values| {
            (
                values.build_type.to_string(),
                values.distribution.to_string(),
                values.configuration,
            )
        });
        let expected = distribution.map(|name: &str| ("debug".to_owned(), name.to_owned(), Some("staging".to_owned())));
        assert_eq!(told, expected, "{id}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_defect_in_a_parser_ends_the_build_and_not_the_runner() {
    let server = FakeServer::start().await;
    let directory = open_directory();
    // Simulates a parser that a malicious file makes write outside.
    let program = directory.path().join("program");
    let script = format!("#!/bin/sh\n[ \"$1\" = __source ] && kill -SEGV $$\nexec {PROGRAM} \"$@\"\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let working = Working::through(&server, program, |_| {}, Arc::new(ProjectResolver));
    for id in ["build_1", "build_2"] {
        server.queue(lease(&server, id, &[("Never", "true")]));
        let error = server.finished(id).await.error.unwrap();
        assert_eq!(error.code, BuildErrorCode::SourceInvalid, "{}", error.message);
        assert!(
            error.message.contains("the process that reads it ended with signal 11"),
            "{}",
            error.message
        );
        assert!(!server.log(id).contains("==> Never"), "{}", server.log(id));
    }
    working.end().await.unwrap();
}
