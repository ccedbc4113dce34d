//! The permissions of all endpoints, written by hand from `docs/reference/callers.md#scopes-and-endpoints` as a second
//! opinion on the router's own list.

use Door::{Admin, Anyone, Founder, Member, Open, OwnPages, Owner, Scope, User};

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Everyone: `docs/reference/conventions.md#routes-without-authentication`.
    Open,
    /// Everyone, but browsers only from the server's own pages, because it signs a user in.
    OwnPages,
    /// A key with this scope, or any member.
    Scope(&'static str),
    /// Any key, or any member.
    Member,
    /// A key with the admin scope, or an admin (`docs/reference/callers.md#admin-scope`).
    Admin,
    /// A key with the admin scope, or an owner.
    Owner,
    /// A signed-in user.
    User,
    /// A signed-in user, if the operator allows users to create organizations; here it does not.
    Founder,
    /// Any key or signed-in user.
    Anyone,
    /// A runner with its own token; to enroll, the holder of a one-time token.
    Runner,
}

/// The kind of resource that an endpoint's `id` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    Build,
    Submission,
    Update,
    Env,
    Credential,
    Key,
    DeploymentKey,
    Webhook,
    Delivery,
    App,
    Org,
    Member,
    Invitation,
    Session,
    Month,
    Runner,
    /// A build, as a runner names it.
    Leased,
    /// An upload, which only bodies name.
    Upload,
}

/// An endpoint according to the reference.
pub struct Row {
    /// Method and path, such as `GET /build`.
    pub line: &'static str,
    pub door: Door,
    /// The resource that `id` names, if there is one.
    pub thing: Option<Thing>,
    /// A valid body, for a change of one resource.
    pub body: Option<&'static str>,
}

/// Rows of the table: `"GET /build": who may call it, what its id names => a valid body for a change of one thing;`.
macro_rules! rows {
    ($($line:literal: $door:expr $(, $thing:ident)? $(=> $body:literal)?;)+) => {
        &[$(Row {
            line: $line,
            door: $door,
            thing: rows!(@optional $(Thing::$thing)?),
            body: rows!(@optional $($body)?),
        }),+]
    };
    (@optional) => { None };
    (@optional $value:expr) => { Some($value) };
}

/// Every endpoint.
pub const ROWS: &[Row] = rows! {
    "GET /build": Scope("build"), Build;
    "POST /build": Scope("build");
    "DELETE /build": Scope("build"), Build;
    "POST /build/cancel": Scope("build"), Build;
    "POST /build/retry": Scope("build"), Build;
    "GET /build/plan": Scope("build"), Build;
    "GET /build/log": Scope("build"), Build;
    "GET /build/log/stream": Scope("build"), Build;
    "GET /submit": Scope("submit"), Submission;
    "POST /submit": Scope("submit");
    "PATCH /submit": Scope("submit"), Submission => r#"{"rollout": 7}"#;
    "POST /submit/cancel": Scope("submit"), Submission;
    "POST /submit/retry": Scope("submit"), Submission;
    "DELETE /submit": Scope("submit"), Submission;
    "POST /update": Scope("update");
    "GET /update": Scope("update"), Update;
    "PATCH /update": Scope("update"), Update => r#"{"rollout": 7}"#;
    "DELETE /update": Scope("update"), Update;
    "GET /update/package": Scope("update"), Update;
    "GET /deployment-keys": Scope("update"), DeploymentKey;
    "POST /deployment-keys": Scope("update");
    "DELETE /deployment-keys": Scope("update"), DeploymentKey;
    "GET /trust": Scope("update");
    "POST /trust": Scope("update");
    "GET /trust/drafts": Scope("update");
    "POST /trust/drafts": Scope("update");
    "DELETE /trust/drafts": Scope("update");
    "POST /trust/signatures": Scope("update");
    "POST /trust/online-key": Admin;
    "POST /trust/reset": Owner;
    "POST /trust/other-formats": Owner;
    "GET /update/check/{bundleId}": Open;
    "POST /update/report/{bundleId}": Open;
    "GET /env": Admin, Env;
    "POST /env": Admin;
    "DELETE /env": Admin, Env;
    "GET /api-keys": Admin, Key;
    "POST /api-keys": Admin;
    "DELETE /api-keys": Admin, Key;
    "GET /webhooks": Admin, Webhook;
    "POST /webhooks": Admin;
    "PUT /webhooks": Admin;
    "DELETE /webhooks": Admin, Webhook;
    "POST /webhooks/rotate-secret": Admin, Webhook;
    "GET /webhooks/deliveries": Admin, Webhook;
    "POST /webhooks/redeliver": Admin, Delivery;
    "POST /webhooks/test": Admin, Webhook;
    "GET /credentials": Admin, Credential;
    "POST /credentials": Admin;
    "DELETE /credentials": Admin, Credential;
    "POST /credentials/rotate-events-secret": Admin, Credential;
    "GET /runners": Admin, Runner;
    "POST /runners/tokens": Admin;
    "DELETE /runners": Admin, Runner;
    "POST /runner/enrol": Door::Runner;
    "POST /runner/lease": Door::Runner;
    "POST /runner/renew": Door::Runner;
    "POST /runner/plan": Door::Runner;
    "POST /runner/log": Door::Runner, Leased;
    "POST /runner/artifacts": Door::Runner;
    "POST /runner/finish": Door::Runner;
    "GET /audit": Admin;
    "POST /uploads": Member;
    "GET /fingerprints": Member, Build;
    "GET /fingerprints/diff": Member;
    "GET /fingerprints/latest": Member;
    "GET /apps": Member, App;
    "POST /apps": Member;
    "DELETE /apps": Admin, App;
    "GET /usage": Member, Month;
    "GET /orgs": Anyone, Org;
    "POST /orgs": Founder;
    "PATCH /orgs": Owner, Org => r#"{"name": "Taken"}"#;
    "GET /orgs/members": Member, Member;
    "PATCH /orgs/members": Admin, Member => r#"{"role": "admin"}"#;
    // A member may remove itself by its own id; other removals need an admin.
    "GET /names": Member;
    "DELETE /orgs/members": Admin, Member;
    "GET /orgs/invitations": Admin, Invitation;
    "POST /orgs/invitations": Admin;
    "DELETE /orgs/invitations": Admin, Invitation;
    "POST /auth/sign-in": OwnPages;
    "POST /auth/setup": OwnPages;
    "POST /auth/invitation": OwnPages;
    "POST /auth/reset": OwnPages;
    "POST /auth/device": Open;
    "POST /auth/device/key": Open;
    "POST /auth/sign-out": User;
    "GET /auth/session": Anyone;
    "GET /auth/sessions": User;
    "DELETE /auth/sessions": User, Session;
    "GET /healthz": Open;
    "GET /readyz": Open;
    "GET /openapi.json": Open;
    "GET /docs": Open;
};

/// The row for a line of the router's list.
pub fn row_of(method: &str, path: &str) -> &'static Row {
    let line = format!("{method} {path}");
    ROWS.iter().find(|row| row.line == line).unwrap_or_else(|| {
        panic!("`{line}` is new: add it to ROWS in tests/http/matrix/table.rs with who may call it by the reference")
    })
}

/// An id of the right form that names nothing.
pub fn unused_id(thing: Thing) -> String {
    let prefix = match thing {
        Thing::Build => "build",
        Thing::Submission => "submission",
        Thing::Update => "update",
        Thing::Env => "env",
        Thing::Credential => "credential",
        Thing::Key => "key",
        Thing::DeploymentKey => "deploykey",
        Thing::Webhook => "webhook",
        Thing::Delivery => "delivery",
        Thing::App => "app",
        Thing::Org => "org",
        Thing::Member => "user",
        Thing::Invitation => "invitation",
        Thing::Session => "session",
        Thing::Month => return "1999-12".to_owned(),
        Thing::Runner => "runner",
        Thing::Leased => "build",
        Thing::Upload => "upload",
    };
    format!("{prefix}_01h455vb4pex5vsknk084sn02q")
}
