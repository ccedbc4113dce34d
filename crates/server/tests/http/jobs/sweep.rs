//! The sweep of the object storage: what it removes, and what it never touches.

use std::io::Write as _;

use launchway_blob::Key;
use launchway_blob::s3::Credentials;
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{DAY, HOUR};
use launchway_jobs::clean_up::clean_up;
use launchway_jobs::sweep::sweep;
use launchway_testing::postgres::Postgres;
use launchway_testing::s3::S3Server;
use serde_json::{Value, json};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, START, Setup, TestApp, machine_time, package, until};

const STRANGE_UPLOAD: &str = "upload_01h455vb4pex5vsknk084sn02q";

/// A service whose clock follows that of its object storage, so it is in the present.
async fn in_the_present(setup: impl Into<Setup>) -> TestApp {
    let app = TestApp::with(setup).await;
    app.advance(machine_time() - START);
    app
}

async fn store(app: &TestApp, key: &str) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"bytes").unwrap();
    app.app.blob.put_file(&Key::new(key).unwrap(), file.path()).await.unwrap();
}

/// Every object but the marks of installations.
async fn stored(app: &TestApp) -> Vec<String> {
    let keys = app.app.blob.list(None).await.unwrap();
    let names = keys.iter().map(|key| key.as_str().to_owned());
    names.filter(|name| !name.starts_with("installations/")).collect()
}

/// Records that the sweep has reached this key.
async fn standing_behind(app: &TestApp, key: &str) {
    let progress = json!({"beganAt": app.app.clock.now(), "after": key}).to_string();
    let mut tx = app.app.db.write().await.unwrap();
    tx.system("a test").set_meta("sweep", &progress).await.unwrap();
    tx.commit().await.unwrap();
}

async fn publish(app: &TestApp, key: &str, upload: &str, version: &str) -> Answer {
    let body = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "android", "version": version});
    app.post(key, "/update", body).await
}

async fn downloads(app: &TestApp) -> Vec<u8> {
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    app.get(NOBODY, offer.text("url")).await.bytes
}

async fn what_nothing_names_goes(app: TestApp) {
    let (_, key) = app.org_with_key().await;
    let update = app.published(&key, json!({})).await;
    let named = stored(&app).await;
    let waiting = app.upload(&key, b"not used yet").await;
    let orphans = [
        format!("packages/{STRANGE_UPLOAD}/package_x"),
        "packages/stray".to_owned(),
        format!("uploads/{STRANGE_UPLOAD}"),
    ];
    let foreign = ["other/service", "packages-of-another/x", "uploads2"];
    for name in orphans.iter().map(String::as_str).chain(foreign) {
        store(&app, name).await;
    }
    let before = stored(&app).await;
    app.advance(DAY - HOUR);
    standing_behind(&app, "").await;
    assert_eq!(sweep(&app.app).await.unwrap(), 0);
    assert_eq!(stored(&app).await, before, "they are too young");
    app.advance(2 * HOUR);
    standing_behind(&app, "").await;
    assert_eq!(sweep(&app.app).await.unwrap(), 3);
    let mut kept: Vec<String> = named.iter().map(String::to_owned).collect();
    kept.push(format!("uploads/{waiting}"));
    kept.extend(foreign.map(str::to_owned));
    kept.sort();
    assert_eq!(stored(&app).await, kept, "the upload goes with its row, which clean-up removes");
    clean_up(&app.app).await.unwrap();
    app.advance(10 * DAY);
    assert_eq!(sweep(&app.app).await.unwrap(), 0);
    assert!(stored(&app).await.contains(&named[0]), "{update}");
}

#[tokio::test]
async fn what_nothing_names_goes_when_it_is_a_day_old() {
    what_nothing_names_goes(in_the_present(Setup::default()).await).await;
}

#[tokio::test]
async fn what_nothing_names_goes_from_a_bucket_too() {
    let bucket = S3Server::start();
    let mut setup = Setup::on_postgres();
    setup.settings.storage_url = Some(bucket.storage_url());
    setup.credentials = Some(Credentials {
        access_key_id: bucket.access_key.clone(),
        secret_access_key: bucket.secret_key.clone(),
        ..Credentials::default()
    });
    what_nothing_names_goes(in_the_present(setup).await).await;
}

#[tokio::test]
async fn it_begins_once_a_day_and_goes_on_where_it_broke_off() {
    let app = in_the_present(Setup::default()).await;
    for name in ["packages/a", "packages/b/c", "packages/d", "uploads/a", "uploads/e"] {
        store(&app, name).await;
    }
    app.advance(2 * DAY);
    standing_behind(&app, "packages/b/c").await;
    assert_eq!(sweep(&app.app).await.unwrap(), 3);
    assert_eq!(stored(&app).await, ["packages/a", "packages/b/c"]);
    app.advance(DAY - 1);
    assert_eq!(sweep(&app.app).await.unwrap(), 0, "the next begins a day after");
    app.advance(1);
    assert_eq!(sweep(&app.app).await.unwrap(), 2);
    assert_eq!(stored(&app).await, Vec::<String>::new());
    store(&app, "uploads/e").await;
    app.advance(2 * DAY);
    standing_behind(&app, "uploads/a").await;
    assert_eq!(sweep(&app.app).await.unwrap(), 1);
}

#[tokio::test]
async fn the_first_begins_a_day_after_the_start() {
    let app = in_the_present(Setup::default()).await;
    store(&app, "packages/a").await;
    app.advance(2 * DAY);
    assert_eq!(sweep(&app.app).await.unwrap(), 0);
    app.advance(DAY - 1);
    assert_eq!(sweep(&app.app).await.unwrap(), 0);
    app.advance(1);
    assert_eq!(sweep(&app.app).await.unwrap(), 1);
}

/// Two databases on one object storage: an object that only one of them references looks unused to the other.
#[tokio::test]
async fn nothing_is_removed_where_another_installation_is_at_home() {
    let app = in_the_present(Setup::default()).await;
    let storage_url = format!("file://{}", app.objects().display());
    let other = in_the_present(settings!(storage_url = storage_url)).await;
    let (_, key) = other.org_with_key().await;
    let update = other.published(&key, json!({})).await;
    for node in [&app, &other] {
        assert_eq!(sweep(&node.app).await.unwrap(), 0);
    }
    for _ in 0..3 {
        app.advance(2 * DAY);
        assert_eq!(sweep(&app.app).await.unwrap(), 0);
    }
    assert_eq!(stored(&app).await.len(), 1, "{update}");
    // The other one is gone for good, and its mark is removed.
    for mark in app.app.blob.list(Some(&Key::new("installations").unwrap())).await.unwrap() {
        app.app.blob.delete(&mark).await.unwrap();
    }
    assert_eq!(sweep(&app.app).await.unwrap(), 0, "it is asked once a day");
    app.advance(DAY);
    assert_eq!(sweep(&app.app).await.unwrap(), 1);
}

/// A walk of several pages sees every object once.
#[tokio::test]
async fn many_objects_are_walked_in_pages() {
    let app = in_the_present(Setup::default()).await;
    let root = app.objects();
    std::fs::create_dir_all(root.join("packages/many")).unwrap();
    for number in 0..2_500 {
        std::fs::write(root.join(format!("packages/many/{number}")), "").unwrap();
    }
    app.advance(2 * DAY);
    standing_behind(&app, "").await;
    assert_eq!(sweep(&app.app).await.unwrap(), 2_500);
    assert!(!root.join("packages").exists(), "no folder is left");
}

/// A publish that has copied its upload and waits for an inspection slot, while more than a day passes.
struct Running<'a> {
    app: &'a TestApp,
    org: OrgId,
    key: String,
    upload: String,
    bytes: Vec<u8>,
}

impl<'a> Running<'a> {
    async fn new(app: &'a TestApp) -> Running<'a> {
        let (org, key) = app.org_with_key().await;
        let bytes = package("index.html", b"<h1>slow</h1>");
        let upload = app.upload(&key, &bytes).await;
        Running { app, org, key, upload, bytes }
    }

    /// Publishes, and runs `meanwhile` when the copy exists and nothing names it yet.
    async fn publish(&self, meanwhile: impl AsyncFnOnce()) -> Answer {
        let held = self.app.all_places(self.org).await;
        let interrupted = async {
            until("the copy is there", async || {
                stored(self.app).await.iter().any(|name| name.starts_with("packages/"))
            })
            .await;
            meanwhile().await;
            drop(held);
        };
        let (answer, ()) = tokio::join!(publish(self.app, &self.key, &self.upload, "1.0.1"), interrupted);
        answer
    }
}

async fn a_running_publish_is_left_alone(setup: Setup) {
    let app = in_the_present(setup).await;
    let running = Running::new(&app).await;
    let answer = running
        .publish(async || {
            app.advance(3 * DAY);
            standing_behind(&app, "").await;
            assert_eq!(sweep(&app.app).await.unwrap(), 0, "its upload is there");
        })
        .await;
    answer.created();
    assert_eq!(downloads(&app).await, running.bytes);
}

#[tokio::test]
async fn a_publish_on_its_way_keeps_its_copy() {
    a_running_publish_is_left_alone(Setup::default()).await;
}

#[tokio::test]
async fn a_publish_on_its_way_keeps_its_copy_on_postgres() {
    a_running_publish_is_left_alone(Setup::on_postgres()).await;
}

/// When the upload expires its copy is removed. The publish is rejected then: there is no update without its bytes.
#[tokio::test]
async fn a_publish_whose_upload_is_over_comes_to_nothing() {
    for setup in [Setup::default(), Setup::on_postgres()] {
        let app = in_the_present(setup).await;
        let running = Running::new(&app).await;
        let answer = running
            .publish(async || {
                app.advance(3 * DAY);
                clean_up(&app.app).await.unwrap();
                standing_behind(&app, "").await;
                sweep(&app.app).await.unwrap();
            })
            .await;
        answer.refused(404, "No upload has this id");
        let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
        assert_eq!(offer["updateAvailable"], Value::Bool(false));
        assert_eq!(stored(&app).await, Vec::<String>::new());
    }
}

/// The copy was inspected, and the publish waits for another change when clean-up runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publish_about_to_commit_is_refused_when_its_copy_went() {
    let app = in_the_present(Setup::on_postgres()).await;
    let running = Running::new(&app).await;
    let url = app.app.config.database_url.reveal();
    let mut other = app.app.db.write().await.unwrap();
    let bundle = BUNDLE.parse().unwrap();
    other.org(app.org(Tier::Pro).await).touch_updates(&bundle, 0).await.unwrap();
    let interrupted = async {
        until("the publish waits", async || {
            let waiting = "SELECT count(*) FROM pg_stat_activity \
                           WHERE datname = current_database() AND wait_event_type = 'Lock'";
            Postgres::shared().run_sql(url, waiting).unwrap() == "1"
        })
        .await;
        app.advance(3 * DAY);
        clean_up(&app.app).await.unwrap();
        standing_behind(&app, "").await;
        sweep(&app.app).await.unwrap();
        drop(other);
    };
    let (answer, ()) = tokio::join!(publish(&app, &running.key, &running.upload, "1.0.1"), interrupted);
    // On a machine so slow that the wait for the other's lock timed out first: then that is the reason of the
    // rejection.
    assert!([400, 503].contains(&answer.status.as_u16()), "{}", answer.text());
    let offer = app.checked(BUNDLE, "currentVersion=0.1.0").await;
    assert_eq!(offer["updateAvailable"], Value::Bool(false));
    assert_eq!(stored(&app).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_folders_of_what_went_are_gone() {
    let app = in_the_present(Setup::default()).await;
    let running = Running::new(&app).await;
    let update = running.publish(async || ()).await.created();
    app.delete(&running.key, &format!("/update?id={}", update.id())).await.ok();
    app.advance(2 * DAY);
    clean_up(&app.app).await.unwrap();
    assert_eq!(std::fs::read_dir(app.objects()).unwrap().count(), 0);
}
