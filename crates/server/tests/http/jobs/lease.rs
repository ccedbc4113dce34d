//! Jobs that run on one node only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use launchway_domain::time::MINUTE;
use launchway_jobs::{Jobs, lease};
use launchway_ops::app::App;
use launchway_testing::wait::pass;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::support::{Setup, TestApp, until};

const JOB: &str = "a_job";

async fn holds(node: &TestApp) -> bool {
    node.app.job_leases.hold(&node.app.db, JOB, node.app.clock.now()).await.unwrap()
}

/// How often a job started, and how many run now.
#[derive(Clone, Default)]
struct Runs {
    begun: Arc<AtomicUsize>,
    now: Arc<AtomicUsize>,
}

impl Runs {
    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// A job that continues until it is dropped.
    fn job(&self) -> impl Future<Output = ()> + Send + use<> {
        struct Running(Arc<AtomicUsize>);
        impl Drop for Running {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let runs = self.clone();
        async move {
            runs.begun.fetch_add(1, Ordering::SeqCst);
            runs.now.fetch_add(1, Ordering::SeqCst);
            let _running = Running(runs.now);
            std::future::pending().await
        }
    }

    fn start_on(&self, node: &TestApp) -> JoinHandle<()> {
        let runs = self.clone();
        let every = Duration::from_millis(5);
        tokio::spawn(lease::run(node.app.clone(), JOB, every, move |_: Arc<App>| runs.job()))
    }
}

#[tokio::test]
async fn one_node_has_it_until_it_is_silent_for_a_minute() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    assert!(holds(&one).await);
    assert!(!holds(&other).await);
    for node in [&one, &other] {
        node.advance(MINUTE - 1);
    }
    assert!(!holds(&other).await);
    assert!(holds(&one).await, "renewed");
    for node in [&one, &other] {
        node.advance(MINUTE - 1);
    }
    assert!(!holds(&other).await, "it counts from the renewal");
    other.advance(1);
    assert!(holds(&other).await);
    assert!(!holds(&one).await);
}

#[tokio::test]
async fn what_is_given_back_is_free_at_once_and_not_taken_again() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    assert!(holds(&one).await && !holds(&other).await);
    other.app.job_leases.give_back(&other.app.db).await.unwrap();
    assert!(holds(&one).await, "only what is held is given back");
    one.app.job_leases.give_back(&one.app.db).await.unwrap();
    assert!(!holds(&one).await, "it stops");
    let third = one.another_node().await;
    assert!(holds(&third).await);
}

#[tokio::test]
async fn a_job_runs_on_one_node_and_another_takes_over_when_it_dies() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    let runs = [Runs::default(), Runs::default()];
    let first = runs[0].start_on(&one);
    until("the first runs", async || runs[0].now() == 1).await;
    let second = runs[1].start_on(&other);
    // It retries the lease meanwhile, while the holder renews it.
    for _ in 0..20 {
        assert!(!holds(&other).await);
        assert_eq!((runs[0].now(), runs[1].begun()), (1, 0));
    }
    first.abort();
    until("the first is gone", async || runs[0].now() == 0).await;
    assert!(!holds(&other).await, "nobody knows yet that it is dead");
    other.advance(MINUTE);
    until("the second runs", async || runs[1].now() == 1).await;
    assert_eq!((runs[0].begun(), runs[1].begun()), (1, 1));
    second.abort();
}

#[tokio::test]
async fn a_job_whose_lease_is_lost_is_dropped_and_begins_anew_later() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    let runs = Runs::default();
    let job = runs.start_on(&one);
    until("it runs", async || runs.now() == 1).await;
    other.advance(2 * MINUTE);
    assert!(holds(&other).await, "by its clock the lease lapsed");
    until("it is dropped", async || runs.now() == 0).await;
    other.app.job_leases.give_back(&other.app.db).await.unwrap();
    until("it begins anew", async || runs.now() == 1).await;
    assert_eq!(runs.begun(), 2);
    job.abort();
}

/// The embedded database has one writer, and a renewal needs it, too.
#[tokio::test]
async fn a_job_that_is_writing_keeps_its_lease() {
    let node = TestApp::start().await;
    let begun = Arc::new(AtomicUsize::new(0));
    let every = Duration::from_millis(1);
    let job = |app: Arc<App>| {
        let begun = begun.clone();
        async move {
            if begun.fetch_add(1, Ordering::SeqCst) > 0 {
                return;
            }
            let tx = app.db.write().await.unwrap();
            pass(every * 20).await;
            tx.commit().await.unwrap();
        }
    };
    lease::run(node.app.clone(), JOB, every, job).await;
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

/// SIGTERM: leases that another node would wait for are released, and data that is only in memory is written.
#[tokio::test]
async fn stopping_gives_leases_back_and_writes_what_waits() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    let (_, key) = one.org_with_key().await;
    one.published(&key, json!({})).await;
    // Taken beforehand, so there is nothing to wait for: the job only renews it.
    assert!(one.app.job_leases.hold(&one.app.db, "clean_up", one.app.clock.now()).await.unwrap());
    let jobs = Jobs::start(&one.app);
    let taken_over =
        async || other.app.job_leases.hold(&other.app.db, "clean_up", other.app.clock.now()).await.unwrap();
    assert!(!taken_over().await);
    one.checked("com.example.app", "currentVersion=1.0.0").await;
    jobs.stop(&one.app).await;
    assert!(taken_over().await, "at once");
    let used = other.get(&key, "/usage?id=2026-11").await.ok();
    assert_eq!(used["checks"], 1);
}
