//! The log of a build passes through in constant memory. The only test of its process, because it measures the memory
//! of the whole process. The setting `LOG_MIB` makes the log longer.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use launchway_config::{Config, RawSettings};
use launchway_domain::actor::Actor;
use launchway_domain::build::plan::Plan;
use launchway_domain::build::{Build, BuildState, SourceRecord, Spec};
use launchway_domain::platform::Platform;
use launchway_inspection::Inspector;
use launchway_ops::app::{App, Dependencies};
use launchway_ops::caller::{Origin, RunnerCaller};
use launchway_ops::write::Write;
use launchway_ops::{build_logs, leases, orgs, runners};
use launchway_os::clock::SystemClock;
use launchway_os::random::SystemRandom;
use launchway_outbound::resolver::SystemResolver;
use launchway_testing::settings::setting;

/// The maximum growth of the process since the start.
const ALLOWED: u64 = 64 << 20;
const CHUNK: usize = 256 << 10;

/// The peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells of processes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.expect("the peak is a number of kB") * 1024
}

async fn open(dir: &std::path::Path) -> Arc<App> {
    let settings = RawSettings { data_dir: Some(dir.join("data").display().to_string()), ..RawSettings::default() };
    let dependencies = Dependencies {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        resolver: Arc::new(SystemResolver),
        app_stores: None,
        inspector: Inspector::this_program().expect("a program"),
    };
    let config = Config::load(settings, None).expect("good settings");
    App::open(config, "http://127.0.0.1:1".to_owned(), dependencies).await.expect("an app")
}

/// A build leased by a runner.
async fn a_lease(app: &Arc<App>) -> (RunnerCaller, Build) {
    let org = orgs::plan(app, "Test".to_owned());
    let mut write = Write::open(app, org.id, Actor::Operator, None).await.expect("a change");
    orgs::insert(&mut write, &org).await.expect("an organization");
    write.commit().await.expect("committed");
    let now = app.clock.now();
    let build = Build {
        id: app.random.id(now),
        org_id: org.id,
        state: BuildState::new(now),
        priority: 0,
        labels: Vec::new(),
        bundle_id: "com.example.app".to_owned(),
        platform: Platform::Android,
        configuration: None,
        spec: Spec {
            profile: None,
            build_type: "debug".to_owned(),
            distribution: "internal".to_owned(),
            version: None,
            build_number: None,
            source: SourceRecord::Git {
                url: "https://git.example.com/app.git".to_owned(),
                reference: "main".to_owned(),
            },
            git: None,
            undecided: Default::default(),
        },
        plan: Some(Plan::default()),
        plan_origin: None,
        fingerprint: None,
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: None,
        log_size: 0,
        created_by: String::new(),
        created_at: now,
        started_at: None,
        finished_at: None,
    };
    let mut tx = app.db.write().await.expect("a transaction");
    let bundle = build.bundle_id.parse().expect("a bundle id");
    tx.org(org.id).create_build(&build, &bundle).await.expect("kept");
    tx.commit().await.expect("committed");
    let wanted =
        launchway_api::runner::Enroll { name: "test".to_owned(), labels: Vec::new(), slots: 1, version: String::new() };
    let (runner, _) = runners::admit_embedded(app, None, None, wanted).await.expect("a runner");
    let origin = Origin { address: IpAddr::V4(Ipv4Addr::LOCALHOST), request_id: String::new() };
    let caller = RunnerCaller { runner, origin };
    let lease = leases::take(app, &caller, &[]).await.expect("asked");
    assert_eq!(lease.expect("a build").build_id, build.id.to_string());
    (caller, build)
}

#[tokio::test]
async fn a_long_log_passes_in_constant_memory() {
    let size = setting("LOG_MIB").map_or(96, |mib| mib.parse::<usize>().expect("LOG_MIB is a number")) << 20;
    let dir = tempfile::tempdir().expect("a directory");
    let app = open(dir.path()).await;
    let (caller, build) = a_lease(&app).await;
    let line = b"0123456789 the quick brown fox jumps over the lazy dog 0123456789\n";
    let text: Vec<u8> = line.iter().copied().cycle().take(CHUNK).collect();
    let before = peak();
    let mut offset = 0;
    while offset < size {
        let chunk = Bytes::copy_from_slice(&text[..CHUNK.min(size - offset)]);
        let length = chunk.len();
        let going = build_logs::append(&app, &caller, build.id, 1, offset as u64, chunk).await.expect("appended");
        offset += length;
        assert_eq!(going.log_offset, offset as u64);
    }
    let grown = peak() - before;
    assert!(grown < ALLOWED, "{size} bytes of log took {grown} bytes of memory");
    let mut tx = app.db.read().await.expect("a transaction");
    let mut org = tx.org(build.org_id);
    let segments = org.log_segments(build.id).await.expect("segments");
    let sealed: i64 = segments.iter().map(|segment| segment.size).sum();
    let tail = org.log_tail(build.id, sealed, 1000).await.expect("a tail");
    let tail: usize = tail.iter().map(|chunk| chunk.bytes.len()).sum();
    assert_eq!(sealed as usize + tail, size);
    assert!(tail < 1 << 20, "{tail} bytes of the log are in the database");
}
