//! A change of state: one transaction with its audit rows, its events and, for an idempotent request, its answer.

mod answers;
mod audit;
mod secrets;

use std::collections::HashMap;
use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{BuildId, KeyId, OrgId, UserId};
use launchway_domain::time::EpochMs;
use launchway_store::{EventRow, Org, RequestKey, System, Tx};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::{Caller, Origin};
use crate::ops::audit_lines::AuditLines;
use crate::vault::DataKey;

pub use answers::{ANSWER_LIFE, Creation, kept_answer};

/// What is said of a form that was sent twice.
const SENT_TWICE: &str = "This form was sent twice; what it made is in the list. A secret is shown once: if nobody kept it, take it \
                          back and make another";

/// The event that a build waits for a runner.
const BUILD_QUEUED: &str = "build.queued";

/// An open change. Dropped without [`Write::commit`] nothing of it happened.
pub struct Write<'a> {
    app: &'a App,
    tx: Tx,
    org: OrgId,
    actor: Actor,
    address: String,
    request_id: String,
    /// Where the answer is kept, and under what.
    request: Option<(OrgId, RequestKey)>,
    /// The bundle whose updates change.
    touched: Option<BundleId>,
    /// Whether webhooks have something to do once it is durable.
    wakes: bool,
    /// Builds that whoever follows them looks at once it is durable.
    builds: Vec<BuildId>,
    /// Whether runners have something to take once it is durable.
    queues: bool,
    /// Whether a submission's work has something to do once it is durable.
    submits: bool,
    /// Lines of the audit log. They are added last: from then on nobody else adds to the organization's log.
    audit: AuditLines,
    /// Keys that it seals with.
    keys: HashMap<OrgId, Arc<DataKey>>,
    now: EpochMs,
}

/// Whose access a change takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A member's.
    Member(UserId),
    /// A key's.
    Key(KeyId),
}

impl<'a> Write<'a> {
    /// Begins a change by a caller in its organization. What the caller was admitted by is asked for again, and held: it ends
    /// before this change or after it, so that nothing is made by somebody who is gone.
    pub async fn begin(app: &'a App, caller: &Caller) -> Result<Write<'a>, ApiError> {
        let mut write = Self::open(app, caller.home()?, caller.actor(), Some(&caller.origin)).await?;
        caller.hold(&mut write.tx, write.now).await?;
        Ok(write)
    }

    /// Begins a change that takes access away. It waits for changes that the target makes, and new ones wait for it. Caller
    /// and target are locked in one order, so that two who remove each other do not wait for each other.
    pub async fn begin_against(app: &'a App, caller: &Caller, target: Target) -> Result<Write<'a>, ApiError> {
        let mut write = Self::open(app, caller.home()?, caller.actor(), Some(&caller.origin)).await?;
        let name = match target {
            Target::Member(id) => id.to_string(),
            Target::Key(id) => id.to_string(),
        };
        let target_first = name <= caller.actor().to_string();
        if target_first {
            write.lock(target).await?;
        }
        caller.hold(&mut write.tx, write.now).await?;
        if !target_first {
            write.lock(target).await?;
        }
        Ok(write)
    }

    async fn lock(&mut self, target: Target) -> Result<(), ApiError> {
        match target {
            Target::Member(id) => self.org().lock_member(id).await?,
            Target::Key(id) => self.org().lock_key(id).await?,
        }
        Ok(())
    }

    /// Makes a change that is one call with what is `given`. When this returns, it is durable.
    pub async fn run<G, T>(
        app: &'a App,
        caller: &Caller,
        given: G,
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut write = Self::begin(app, caller).await?;
        let made = change(&mut write, given).await?;
        write.commit().await?;
        Ok(made)
    }

    /// The same for a change that takes access away.
    pub async fn run_against<G, T>(
        app: &'a App,
        caller: &Caller,
        target: Target,
        given: G,
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut write = Self::begin_against(app, caller, target).await?;
        let made = change(&mut write, given).await?;
        write.commit().await?;
        Ok(made)
    }

    /// The same for a form: one that is sent again under the same key makes nothing more, and is told so.
    pub async fn run_once<G, T>(
        app: &'a App,
        caller: &Caller,
        request: Option<RequestKey>,
        given: G,
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let Creation::New(mut write) = Self::begin_create(app, caller, request).await? else {
            return Err(ApiError::bad(SENT_TWICE));
        };
        let made = change(&mut write, given).await?;
        write.commit_created(&()).await?;
        Ok(made)
    }

    /// Begins a change that is not made by a caller of the API: by the operator, or by who holds a link.
    pub async fn open(app: &'a App, org: OrgId, actor: Actor, origin: Option<&Origin>) -> Result<Write<'a>, ApiError> {
        Ok(Self::within(app, app.db.write().await?, org, actor, origin))
    }

    /// Goes on with a transaction in which the organization was found that the change happens in.
    pub fn within(app: &'a App, tx: Tx, org: OrgId, actor: Actor, origin: Option<&Origin>) -> Write<'a> {
        Write {
            app,
            tx,
            org,
            actor,
            address: origin.map(|origin| origin.address.to_string()).unwrap_or_default(),
            request_id: origin.map(|origin| origin.request_id.clone()).unwrap_or_default(),
            request: None,
            touched: None,
            wakes: false,
            builds: Vec::new(),
            queues: false,
            submits: false,
            audit: AuditLines::default(),
            keys: HashMap::new(),
            now: app.clock.now(),
        }
    }

    /// Begins a change of a user's account, which may concern several organizations (see [`Write::enter`]).
    pub fn of_account(app: &'a App, tx: Tx, user: UserId, origin: Option<&Origin>) -> Write<'a> {
        // The account stands in no organization: until one is entered, the user's own id stands for it.
        Self::within(app, tx, OrgId::from_uuid(user.uuid()), Actor::User(user), origin)
    }

    /// Goes on in another organization.
    pub fn enter(&mut self, org: OrgId) {
        self.org = org;
    }

    /// The organization's rows.
    pub fn org(&mut self) -> Org<'_> {
        self.tx.org(self.org)
    }

    /// All rows; `reason` says why.
    pub fn system(&mut self, reason: &'static str) -> System<'_> {
        self.tx.system(reason)
    }

    /// When the change happens.
    pub fn now(&self) -> EpochMs {
        self.now
    }

    /// Who makes it, as text.
    pub fn by(&self) -> String {
        self.actor.to_string()
    }

    /// The organization it happens in.
    pub fn org_id(&self) -> OrgId {
        self.org
    }

    /// The app it happens in.
    pub fn app(&self) -> &'a App {
        self.app
    }

    /// Announces that a bundle's updates change; the answer waits until the index of this node has followed. The lock that
    /// comes with it is held from the first call on.
    pub async fn touch_updates(&mut self, bundle: &BundleId) -> Result<(), ApiError> {
        if self.touched.as_ref() == Some(bundle) {
            return Ok(());
        }
        let now = self.now;
        self.org().touch_updates(bundle, now).await?;
        self.touched = Some(bundle.clone());
        Ok(())
    }

    /// Adds an event to the outbox, with the resource as the API shows it.
    pub async fn event(&mut self, kind: &str, data: &impl Serialize) -> Result<(), ApiError> {
        let event = EventRow {
            id: self.app.random.id(self.now),
            kind: kind.to_owned(),
            at: self.now,
            data: to_json(data)?,
        };
        self.wakes = true;
        self.queues |= kind == BUILD_QUEUED;
        Ok(self.org().add_event(&event).await?)
    }

    /// Has runners look for a build once the change is durable.
    pub fn wake_runners(&mut self) {
        self.queues = true;
    }

    /// Has the delivery of webhooks look for what is due once the change is durable.
    pub fn wake_webhooks(&mut self) {
        self.wakes = true;
    }

    /// Has the work on submissions look for what is due once the change is durable.
    pub fn wake_submissions(&mut self) {
        self.submits = true;
    }

    /// Has whoever follows a build look at it once the change is durable.
    pub fn tell_build(&mut self, id: BuildId) {
        self.builds.push(id);
    }

    /// Makes the change durable. When it returns, this node's checks see it.
    pub async fn commit(mut self) -> Result<(), ApiError> {
        self.audit.write(self.app, &mut self.tx).await?;
        self.tx.commit().await?;
        if self.wakes {
            self.app.webhooks.events.notify_one();
            self.app.webhooks.deliveries.notify_one();
        }
        for id in self.builds {
            self.app.build_news.tell(id);
        }
        if self.queues {
            self.app.build_queue.notify_waiters();
        }
        if self.submits {
            self.app.submissions.notify_one();
        }
        if self.touched.is_some() {
            // The change stands whatever happens here; the follower tries again by itself.
            if let Err(error) = self.app.index.catch_up(&self.app.db).await {
                tracing::warn!(%error, "the index of checks is behind the database");
            }
        }
        Ok(())
    }
}

fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| ApiError::Internal(error.to_string()))
}

/// Stands for "nothing" in [`Write::audit`].
pub const NOTHING: Option<&()> = None;
