//! A test's fixture, built step by step: `Stage::new().app_stores().await` is a service with both app stores, an
//! organization, and its key. Everything else is a step on it, such as `runner`, `queue`, `submitted` or `webhook`.

pub mod app_stores;
pub mod builds;
pub mod developers;
pub mod runners;
pub mod webhooks;

use std::ops::Deref;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use launchway_app_store_simulator::{ADDRESS, Settings};
use launchway_domain::id::OrgId;
use launchway_jobs::deliver::Deliverer;
use launchway_jobs::submissions::Submitter;

use crate::support::{Setup, TestApp};
use app_stores::Way;

/// The default app of the tests.
pub const BUNDLE: &str = "com.example.app";

/// A service, an organization, and a key with every scope that keys can have. It dereferences to the service.
pub struct Stage {
    service: TestApp,
    pub org: OrgId,
    pub key: String,
    /// The transport to the app stores, if there are any.
    pub way: Arc<Way>,
    submitter: Option<Submitter>,
    deliverer: Option<Deliverer>,
}

impl Deref for Stage {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.service
    }
}

impl Stage {
    /// The builder of a stage. Await it after the last step.
    #[expect(clippy::new_ret_no_self, reason = "the stage is there when its steps are awaited")]
    pub fn new() -> Steps {
        Steps::default()
    }
}

/// The steps to a stage.
#[derive(Default)]
pub struct Steps {
    setup: Setup,
    app_stores: Option<Settings>,
}

impl Steps {
    /// Other settings, database or ports. Call it first.
    pub fn with(mut self, setup: impl Into<Setup>) -> Steps {
        self.setup = setup.into();
        self
    }

    /// Both app stores in this process, with an app each, and a credential for each.
    pub fn app_stores(self) -> Steps {
        self.app_stores_with(app_stores::settings())
    }

    /// App stores with these settings.
    pub fn app_stores_with(mut self, settings: Settings) -> Steps {
        self.app_stores = Some(settings);
        self
    }

    /// Allows webhooks to this machine.
    pub fn local_webhooks(mut self) -> Steps {
        self.setup.settings.allow_private_webhooks = Some("true".to_owned());
        self
    }

    async fn take(mut self) -> Stage {
        let way = Arc::new(Way::default());
        if self.app_stores.is_some() {
            self.setup.settings = self.setup.settings.with_fallback(settings!(
                app_store_connect_url = ADDRESS,
                google_play_url = format!("{ADDRESS}/"),
                target_sdk_floor = 34
            ));
            self.setup.app_stores = Some(way.clone());
        }
        let service = TestApp::with(self.setup).await;
        let (org, key) = service.org_with_key().await;
        let stage = Stage { service, org, key, way, submitter: None, deliverer: None };
        if let Some(settings) = self.app_stores {
            stage.open_stores(settings);
            stage.store_credentials(&stage.key).await;
        }
        stage
    }
}

impl IntoFuture for Steps {
    type Output = Stage;
    type IntoFuture = LocalBoxFuture<'static, Stage>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.take())
    }
}
