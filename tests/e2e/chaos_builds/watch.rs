//! Watches builds continuously: what was observed once must remain true.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use launchway_testing::says::Fields;
use launchway_testing::wait::pass;
use reqwest::Method;
use serde_json::Value;

use crate::api::Api;
use crate::builds::calls::is_over;

/// Between two polls: an organization may call a thousand times a minute.
const PAUSE: Duration = Duration::from_millis(600);
const PAGE: usize = 100;

/// The observations of some builds.
pub struct Watch {
    seen: Mutex<HashMap<String, Seen>>,
}

#[derive(Default)]
struct Seen {
    status: String,
    is_over: bool,
    is_deleted: bool,
    attempt: u64,
    log: Vec<u8>,
}

impl Watch {
    /// No observations yet.
    pub fn of(builds: &[String]) -> Watch {
        let seen = builds.iter().map(|id| (id.clone(), Seen::default())).collect();
        Watch { seen: Mutex::new(seen) }
    }

    /// Polls until aborted. A request that the server does not answer is ignored.
    pub async fn look(self: std::sync::Arc<Self>, api: Api) {
        let ids = self.ids();
        for id in ids.iter().cycle() {
            for offset in (0..ids.len()).step_by(PAGE) {
                if let Some(page) = get(&api, &format!("/build?limit={PAGE}&offset={offset}")).await {
                    let page: Value = serde_json::from_slice(&page).unwrap();
                    page["items"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .for_each(|build| self.agrees(build));
                }
            }
            if let Some(log) = get(&api, &format!("/build/log?id={id}")).await {
                self.has_grown(id, log);
            }
            pass(PAUSE).await;
        }
    }

    /// Whether every build was observed at its end, or deleted.
    pub fn all_are_over(&self) -> bool {
        self.lock().values().all(|seen| seen.is_over || seen.is_deleted)
    }

    /// Records that the server confirmed the deletion of a build.
    pub fn was_deleted(&self, id: &str) {
        self.lock().get_mut(id).unwrap().is_deleted = true;
    }

    /// Whether a build was deleted.
    pub fn is_deleted(&self, id: &str) -> bool {
        self.lock()[id].is_deleted
    }

    /// A build is unchanged, or has progressed: an end is final, and attempts increase.
    pub fn agrees(&self, build: &Value) {
        let mut all = self.lock();
        let seen = all.get_mut(build.id()).unwrap();
        let (status, attempt) = (build.text("status"), build["attempt"].as_u64().unwrap());
        assert!(!seen.is_over || seen.status == status, "{} became {build}", seen.status);
        assert!(
            (seen.attempt..=3).contains(&attempt),
            "attempt {} before {build}",
            seen.attempt
        );
        *seen = Seen {
            status: status.to_owned(),
            is_over: is_over(build),
            is_deleted: seen.is_deleted,
            attempt,
            log: std::mem::take(&mut seen.log),
        };
    }

    /// A part of a log that was returned once remains in its place.
    fn has_grown(&self, id: &str, log: Vec<u8>) {
        let mut all = self.lock();
        let seen = all.get_mut(id).unwrap();
        assert!(log.starts_with(&seen.log), "the log of {id} lost or changed something");
        seen.log = log;
    }

    fn ids(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn get(api: &Api, path: &str) -> Option<Vec<u8>> {
    let answer = api.try_call(Method::GET, path, None, None).await.ok()?;
    (answer.status == 200).then_some(answer.bytes)
}
