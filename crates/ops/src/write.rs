//! A change of state: one transaction with its audit rows, its events and, for an idempotent request, its answer.

mod answers;
mod audit;
mod secrets;
mod signals;

use std::collections::HashMap;
use std::sync::Arc;

use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{KeyId, OrgId, UserId};
use launchway_domain::time::EpochMs;
use launchway_store::{EventRow, Org, RequestKey, System, Tx};
use launchway_vault::DataKey;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit_lines::AuditLines;
use crate::caller::{Caller, Origin};
use crate::counters::Observation;

pub use answers::{ANSWER_LIFE, Creation, kept_answer};
pub use signals::Signal;
use signals::Signals;

/// The error for a form that was submitted twice.
const SENT_TWICE: &str = "This form was sent twice, and its result is in the list. A secret is shown once: if it was \
                          not saved, revoke it and create another.";

/// The event of a build that waits for a runner.
const BUILD_QUEUED: &str = "build.queued";

/// An open change. Dropping it without [`Write::commit`] rolls it back.
pub struct Write<'a> {
    app: &'a App,
    tx: Tx,
    org: OrgId,
    actor: Actor,
    address: String,
    request_id: String,
    /// The organization and key under which the answer is stored.
    request: Option<(OrgId, RequestKey)>,
    /// What it wakes on commit.
    signals: Signals,
    /// What it counts on commit.
    observations: Vec<Observation>,
    /// Lines of the audit log. They are written last, because they lock the organization's log.
    audit: AuditLines,
    /// Data keys that it seals with.
    keys: HashMap<OrgId, Arc<DataKey>>,
    now: EpochMs,
}

/// The holder of the access that a change removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A member's.
    Member(UserId),
    /// A key's.
    Key(KeyId),
}

impl<'a> Write<'a> {
    /// Begins a change by a caller in its organization. Repeats the caller's admission check and locks what it rests
    /// on: access ends before this change or after it, so that a removed caller changes nothing.
    pub async fn begin(app: &'a App, caller: &Caller) -> Result<Write<'a>, ApiError> {
        let mut write = Self::open(app, caller.org_id()?, caller.actor(), Some(&caller.origin)).await?;
        caller.hold(&mut write.tx, write.now).await?;
        Ok(write)
    }

    /// Begins a change that removes access. It waits for changes by the target, and new ones wait for it. Caller and
    /// target are locked in a fixed order, members before keys and each by id, so that two who remove each other do not
    /// deadlock.
    pub async fn begin_against(app: &'a App, caller: &Caller, target: Target) -> Result<Write<'a>, ApiError> {
        let mut write = Self::open(app, caller.org_id()?, caller.actor(), Some(&caller.origin)).await?;
        let now = write.now;
        match target {
            Target::Member(id) if caller.user().is_none_or(|own| id <= own) => {
                write.org().lock_member(id).await?;
                caller.hold(&mut write.tx, now).await?;
            }
            Target::Member(id) => {
                caller.hold_role(&mut write.tx, now).await?;
                write.org().lock_member(id).await?;
                caller.hold_key(&mut write.tx, now).await?;
            }
            Target::Key(id) => {
                caller.hold_role(&mut write.tx, now).await?;
                let target_first = caller.key().is_none_or(|own| id <= own);
                if target_first {
                    write.org().lock_key(id).await?;
                }
                caller.hold_key(&mut write.tx, now).await?;
                if !target_first {
                    write.org().lock_key(id).await?;
                }
            }
        }
        Ok(write)
    }

    /// Runs a change that is one call with `given` as its argument. It is durable when this returns.
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

    /// Like [`Write::run`], for a change that removes access.
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

    /// Like [`Write::run`], for a form: a second submission under the same key changes nothing, and gets an error that
    /// says so.
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

    /// Begins a change whose actor is not a caller of the API: the operator, or the holder of a link.
    pub async fn open(app: &'a App, org: OrgId, actor: Actor, origin: Option<&Origin>) -> Result<Write<'a>, ApiError> {
        Ok(Self::within(app, app.db.write().await?, org, actor, origin))
    }

    /// Continues a transaction in which the organization of the change was determined.
    pub fn within(app: &'a App, tx: Tx, org: OrgId, actor: Actor, origin: Option<&Origin>) -> Write<'a> {
        Write {
            app,
            tx,
            org,
            actor,
            address: origin.map(|origin| origin.address.to_string()).unwrap_or_default(),
            request_id: origin.map(|origin| origin.request_id.clone()).unwrap_or_default(),
            request: None,
            signals: Signals::default(),
            observations: Vec::new(),
            audit: AuditLines::default(),
            keys: HashMap::new(),
            now: app.clock.now(),
        }
    }

    /// Begins a change of a user's account, which may concern several organizations (see [`Write::enter`]).
    pub fn of_account(app: &'a App, tx: Tx, user: UserId, origin: Option<&Origin>) -> Write<'a> {
        // The account belongs to no organization: until one is entered, the user's own id takes its place.
        Self::within(app, tx, OrgId::from_uuid(user.uuid()), Actor::User(user), origin)
    }

    /// Continues in another organization.
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

    /// The time of the change.
    pub fn now(&self) -> EpochMs {
        self.now
    }

    /// Its actor, as text.
    pub fn actor_text(&self) -> String {
        self.actor.to_string()
    }

    /// The organization in which it happens.
    pub fn org_id(&self) -> OrgId {
        self.org
    }

    /// The app in which it happens.
    pub fn app(&self) -> &'a App {
        self.app
    }

    /// Announces that a bundle's updates change: the commit waits until the index of this node has followed. The first
    /// call takes a lock until the end of the transaction.
    pub async fn touch_updates(&mut self, bundle: &BundleId) -> Result<(), ApiError> {
        if !self.signals.has_updates(bundle) {
            let now = self.now;
            let revision = self.org().touch_updates(bundle, now).await?;
            self.signals.add_updates(bundle.clone(), revision);
        }
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
        self.signal(Signal::Webhooks);
        if kind == BUILD_QUEUED {
            self.signal(Signal::Runners);
        }
        Ok(self.org().add_event(&event).await?)
    }

    /// Wakes something on commit.
    pub fn signal(&mut self, signal: Signal) {
        self.signals.add(signal);
    }

    /// Counts something on commit.
    pub fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Commits the change. Checks on this node see it when this returns.
    pub async fn commit(mut self) -> Result<(), ApiError> {
        self.audit.write(self.app, &mut self.tx).await?;
        self.tx.commit().await?;
        for observation in self.observations {
            self.app.counters.observe(observation);
        }
        self.signals.send(self.app).await;
        Ok(())
    }
}

fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String, ApiError> {
    serde_json::to_string(value).map_err(|error| ApiError::Internal(error.to_string()))
}

/// The absent value of [`Write::audit`].
pub const NOTHING: Option<&()> = None;
