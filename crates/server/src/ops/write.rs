//! A change of state: one transaction with its audit rows, its events and, for an idempotent request, its answer.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::StatusCode;
use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{BuildId, KeyId, OrgId, UserId};
use launchway_domain::time::{DAY, EpochMs};
use launchway_store::{AuditRow, EventRow, KeptAnswer, Org, RequestKey, System, Tx};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::app::App;
use crate::caller::{Caller, Origin};
use crate::failure::Failure;
use crate::ops::audit_lines::AuditLines;
use crate::vault::{DataKey, Place};

/// How long the first answer to an idempotent request is kept.
pub const ANSWER_LIFE: EpochMs = DAY;

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

/// What a request that creates something begins with.
#[expect(clippy::large_enum_variant, reason = "it lives for one match; a box would only cost")]
pub enum Begun<'a> {
    /// It was answered before: this is the answer.
    Kept(KeptAnswer),
    /// It is new.
    Fresh(Write<'a>),
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
    pub async fn begin(app: &'a App, caller: &Caller) -> Result<Write<'a>, Failure> {
        let mut write = Self::open(app, caller.home()?, caller.actor(), Some(&caller.origin)).await?;
        caller.hold(&mut write.tx, write.now).await?;
        Ok(write)
    }

    /// Begins a change that takes access away. It waits for changes that the target makes, and new ones wait for it. Caller
    /// and target are locked in one order, so that two who remove each other do not wait for each other.
    pub async fn begin_against(app: &'a App, caller: &Caller, target: Target) -> Result<Write<'a>, Failure> {
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

    async fn lock(&mut self, target: Target) -> Result<(), Failure> {
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
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
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
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
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
        change: impl AsyncFnOnce(&mut Write<'_>, G) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Begun::Fresh(mut write) = Self::begin_create(app, caller, request).await? else {
            return Err(Failure::bad(SENT_TWICE));
        };
        let made = change(&mut write, given).await?;
        write.commit_created(&()).await?;
        Ok(made)
    }

    /// Begins a change that is not made by a caller of the API: by the operator, or by who holds a link.
    pub async fn open(app: &'a App, org: OrgId, actor: Actor, origin: Option<&Origin>) -> Result<Write<'a>, Failure> {
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

    /// Begins a change that creates something, or finds the answer that the same request got before.
    /// A simultaneous twin waits here for the first to end.
    pub async fn begin_create(
        app: &'a App,
        caller: &Caller,
        request: Option<RequestKey>,
    ) -> Result<Begun<'a>, Failure> {
        let home = caller.home()?;
        Self::begin(app, caller).await?.claim(home, request).await
    }

    /// Goes on with a change that creates something, or finds the answer that `place` keeps for the same request.
    pub async fn claim(mut self, place: OrgId, request: Option<RequestKey>) -> Result<Begun<'a>, Failure> {
        if let Some(request) = request {
            let (now, since) = (self.now, self.now - ANSWER_LIFE);
            let mut keeper = self.tx.org(place);
            if !keeper.claim_answer(&request, now, since).await? {
                let kept = keeper.kept_answer(&request, since).await?;
                let kept = kept.ok_or_else(|| Failure::Internal("a claimed answer is not there".to_owned()))?;
                return read_answer(self.app, &mut self.tx, place, kept, &request)
                    .await
                    .map(Begun::Kept);
            }
            self.request = Some((place, request));
        }
        Ok(Begun::Fresh(self))
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
    pub async fn touch_updates(&mut self, bundle: &BundleId) -> Result<(), Failure> {
        if self.touched.as_ref() == Some(bundle) {
            return Ok(());
        }
        let now = self.now;
        self.org().touch_updates(bundle, now).await?;
        self.touched = Some(bundle.clone());
        Ok(())
    }

    /// Adds a line to the audit log. `before` and `after` must hold no secret.
    pub async fn audit(
        &mut self,
        action: &str,
        resource: impl ToString,
        before: Option<&(impl Serialize + ?Sized)>,
        after: Option<&(impl Serialize + ?Sized)>,
    ) -> Result<(), Failure> {
        let row = AuditRow {
            before: before.map(to_json).transpose()?,
            after: after.map(to_json).transpose()?,
            ..self.line(action, resource)
        };
        self.audit.add(self.org, row);
        Ok(())
    }

    /// Adds a line also to the audit log of another organization that the change concerns.
    pub fn audit_elsewhere(
        &mut self,
        org: OrgId,
        action: &str,
        resource: impl ToString,
        after: &impl Serialize,
    ) -> Result<(), Failure> {
        let row = AuditRow {
            after: Some(to_json(after)?),
            ..self.line(action, resource)
        };
        self.audit.add(org, row);
        Ok(())
    }

    /// Adds a line about what a user did with the account to the audit log of each of the user's organizations.
    pub async fn audit_for_user(&mut self, user: UserId, action: &str, resource: impl ToString) -> Result<(), Failure> {
        let row = AuditRow {
            actor: Actor::User(user).to_string(),
            ..self.line(action, resource)
        };
        self.audit.add_for_user(&mut self.tx, user, &row).await
    }

    fn line(&self, action: &str, resource: impl ToString) -> AuditRow {
        AuditRow {
            at: self.now,
            actor: self.by(),
            action: action.to_owned(),
            resource: resource.to_string(),
            before: None,
            after: None,
            address: self.address.clone(),
            request_id: self.request_id.clone(),
        }
    }

    /// Seals a secret for its place.
    pub async fn seal(&mut self, place: &Place<'_>, value: &[u8]) -> Result<String, Failure> {
        self.seal_for(self.org, place, value).await
    }

    async fn seal_for(&mut self, org: OrgId, place: &Place<'_>, value: &[u8]) -> Result<String, Failure> {
        let key = match self.keys.get(&org) {
            Some(key) => key.clone(),
            None => self.app.vault.sealing_key(&mut self.tx, org).await?,
        };
        let sealed = key.seal(org, place, value, &*self.app.random);
        self.keys.insert(org, key);
        Ok(sealed)
    }

    /// Opens a secret, and says in the audit log what for.
    pub async fn open_secret(
        &mut self,
        place: &Place<'_>,
        sealed: &str,
        what_for: &str,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let value = self.app.vault.unseal(&mut self.tx, self.org, place, sealed).await?;
        let told = serde_json::json!({"field": place.field, "for": what_for});
        self.audit("secret.open", &place.record, NOTHING, Some(&told)).await?;
        Ok(value)
    }

    /// Opens a value that everybody who may list it may read.
    pub async fn open_plain(&mut self, place: &Place<'_>, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
        self.app.vault.unseal(&mut self.tx, self.org, place, sealed).await
    }

    /// Adds an event to the outbox, with the resource as the API shows it.
    pub async fn event(&mut self, kind: &str, data: &impl Serialize) -> Result<(), Failure> {
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
    pub async fn commit(mut self) -> Result<(), Failure> {
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

    /// Makes the change durable together with the answer (201) that a repeated request gets.
    /// `shown_again` is the answer without what is shown only once.
    pub async fn commit_created(self, shown_again: &impl Serialize) -> Result<(), Failure> {
        self.commit_answered(StatusCode::CREATED, shown_again).await
    }

    /// The same for an answer with another status.
    pub async fn commit_answered(mut self, status: StatusCode, shown_again: &impl Serialize) -> Result<(), Failure> {
        if let Some((place, request)) = self.request.take() {
            // Sealed: an answer may hold what is sealed elsewhere, such as the value of a plain variable.
            let body = to_json(shown_again)?;
            let at = answer_place(&request);
            let sealed = self.seal_for(place, &at, body.as_bytes()).await?;
            self.tx
                .org(place)
                .keep_answer(&request, status.as_u16(), &sealed)
                .await?;
        }
        self.commit().await
    }
}

/// The answer that an idempotent request got before, if it did: for work that is done ahead of the transaction.
pub async fn kept_answer(
    app: &App,
    caller: &Caller,
    request: &Option<RequestKey>,
) -> Result<Option<KeptAnswer>, Failure> {
    let Some(request) = request else { return Ok(None) };
    let (home, since) = (caller.home()?, app.clock.now() - ANSWER_LIFE);
    let mut tx = app.db.read().await?;
    match tx.org(home).kept_answer(request, since).await? {
        Some(kept) => read_answer(app, &mut tx, home, kept, request).await.map(Some),
        None => Ok(None),
    }
}

/// The answer that was kept for the same request; another body under the same key is refused.
async fn read_answer(
    app: &App,
    tx: &mut Tx,
    place: OrgId,
    kept: KeptAnswer,
    request: &RequestKey,
) -> Result<KeptAnswer, Failure> {
    if kept.body_hash != request.body_hash {
        return Err(Failure::bad(
            "This Idempotency-Key was used with another body; take a new key",
        ));
    }
    let body = app.vault.unseal(tx, place, &answer_place(request), &kept.body).await?;
    let body = std::str::from_utf8(&body).map_err(|error| Failure::Internal(error.to_string()))?;
    Ok(KeptAnswer {
        body: body.to_owned(),
        ..kept
    })
}

fn answer_place(request: &RequestKey) -> Place<'static> {
    let parts = [&request.caller, &request.method, &request.path, &request.key];
    Place::new(parts.map(String::as_str).join(" "), "answer")
}

fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::Internal(error.to_string()))
}

/// Stands for "nothing" in [`Write::audit`].
pub const NOTHING: Option<&()> = None;
