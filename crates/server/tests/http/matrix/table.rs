//! Who may call what, written by hand from `docs/reference/callers.md#scopes-and-endpoints`: the second opinion that the
//! router's own list is compared with.

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Anybody: `docs/reference/conventions.md#routes-without-authentication`.
    Open,
    /// Anybody, but a browser only from the server's own pages: it signs somebody in.
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
    /// A signed-in user, where the operator lets users make organizations; here it does not.
    Founder,
    /// Any key or signed-in user.
    Anyone,
    /// A runner with its own token; to enrol, whoever holds a token that works once.
    Runner,
}

/// What the `id` of an endpoint names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    Build,
    Submission,
    Update,
    Env,
    Credential,
    Key,
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
}

/// An endpoint as the reference defines it.
pub struct Row {
    /// Such as `GET /build`.
    pub line: &'static str,
    pub door: Door,
    /// What `id` names, where there is one.
    pub thing: Option<Thing>,
    /// A body of the right form, for a change of one thing.
    pub body: Option<&'static str>,
}

const fn row(line: &'static str, door: Door, thing: Option<Thing>, body: Option<&'static str>) -> Row {
    Row {
        line,
        door,
        thing,
        body,
    }
}

/// Every endpoint.
pub const ROWS: &[Row] = &[
    row("GET /build", Door::Scope("build"), Some(Thing::Build), None),
    row("POST /build", Door::Scope("build"), None, None),
    row("DELETE /build", Door::Scope("build"), Some(Thing::Build), None),
    row("POST /build/cancel", Door::Scope("build"), Some(Thing::Build), None),
    row("POST /build/retry", Door::Scope("build"), Some(Thing::Build), None),
    row("GET /build/plan", Door::Scope("build"), Some(Thing::Build), None),
    row("GET /build/log", Door::Scope("build"), Some(Thing::Build), None),
    row("GET /build/log/stream", Door::Scope("build"), Some(Thing::Build), None),
    row("GET /submit", Door::Scope("submit"), Some(Thing::Submission), None),
    row("POST /submit", Door::Scope("submit"), None, None),
    row(
        "PATCH /submit",
        Door::Scope("submit"),
        Some(Thing::Submission),
        Some(r#"{"rollout": 7}"#),
    ),
    row(
        "POST /submit/cancel",
        Door::Scope("submit"),
        Some(Thing::Submission),
        None,
    ),
    row(
        "POST /submit/retry",
        Door::Scope("submit"),
        Some(Thing::Submission),
        None,
    ),
    row("DELETE /submit", Door::Scope("submit"), Some(Thing::Submission), None),
    row("POST /update", Door::Scope("update"), None, None),
    row("GET /update", Door::Scope("update"), Some(Thing::Update), None),
    row(
        "PATCH /update",
        Door::Scope("update"),
        Some(Thing::Update),
        Some(r#"{"rollout": 7}"#),
    ),
    row("DELETE /update", Door::Scope("update"), Some(Thing::Update), None),
    row("GET /update/check/{bundleId}", Door::Open, None, None),
    row("POST /update/report/{bundleId}", Door::Open, None, None),
    row("GET /env", Door::Admin, Some(Thing::Env), None),
    row("POST /env", Door::Admin, None, None),
    row("DELETE /env", Door::Admin, Some(Thing::Env), None),
    row("GET /api-keys", Door::Admin, Some(Thing::Key), None),
    row("POST /api-keys", Door::Admin, None, None),
    row("DELETE /api-keys", Door::Admin, Some(Thing::Key), None),
    row("GET /webhooks", Door::Admin, Some(Thing::Webhook), None),
    row("POST /webhooks", Door::Admin, None, None),
    row("PUT /webhooks", Door::Admin, None, None),
    row("DELETE /webhooks", Door::Admin, Some(Thing::Webhook), None),
    row("POST /webhooks/rotate-secret", Door::Admin, Some(Thing::Webhook), None),
    row("GET /webhooks/deliveries", Door::Admin, Some(Thing::Webhook), None),
    row("POST /webhooks/redeliver", Door::Admin, Some(Thing::Delivery), None),
    row("POST /webhooks/test", Door::Admin, Some(Thing::Webhook), None),
    row("GET /credentials", Door::Admin, Some(Thing::Credential), None),
    row("POST /credentials", Door::Admin, None, None),
    row("DELETE /credentials", Door::Admin, Some(Thing::Credential), None),
    row("GET /runners", Door::Admin, Some(Thing::Runner), None),
    row("POST /runners/tokens", Door::Admin, None, None),
    row("DELETE /runners", Door::Admin, Some(Thing::Runner), None),
    row("POST /runner/enrol", Door::Runner, None, None),
    row("POST /runner/lease", Door::Runner, None, None),
    row("POST /runner/renew", Door::Runner, None, None),
    row("POST /runner/plan", Door::Runner, None, None),
    row("POST /runner/log", Door::Runner, Some(Thing::Leased), None),
    row("POST /runner/artifacts", Door::Runner, None, None),
    row("POST /runner/finish", Door::Runner, None, None),
    row("GET /audit", Door::Admin, None, None),
    row("POST /uploads", Door::Member, None, None),
    row("GET /fingerprints", Door::Member, Some(Thing::Build), None),
    row("GET /fingerprints/diff", Door::Member, None, None),
    row("GET /fingerprints/latest", Door::Member, None, None),
    row("GET /apps", Door::Member, Some(Thing::App), None),
    row("POST /apps", Door::Member, None, None),
    row("DELETE /apps", Door::Admin, Some(Thing::App), None),
    row("GET /usage", Door::Member, Some(Thing::Month), None),
    row("GET /orgs", Door::Anyone, Some(Thing::Org), None),
    row("POST /orgs", Door::Founder, None, None),
    row(
        "PATCH /orgs",
        Door::Owner,
        Some(Thing::Org),
        Some(r#"{"name": "Taken"}"#),
    ),
    row("GET /orgs/members", Door::Member, Some(Thing::Member), None),
    row(
        "PATCH /orgs/members",
        Door::Admin,
        Some(Thing::Member),
        Some(r#"{"role": "admin"}"#),
    ),
    // A member may also leave by its own id; without one it is an admin's.
    row("DELETE /orgs/members", Door::Admin, Some(Thing::Member), None),
    row("GET /orgs/invitations", Door::Admin, Some(Thing::Invitation), None),
    row("POST /orgs/invitations", Door::Admin, None, None),
    row("DELETE /orgs/invitations", Door::Admin, Some(Thing::Invitation), None),
    row("POST /auth/sign-in", Door::OwnPages, None, None),
    row("POST /auth/setup", Door::OwnPages, None, None),
    row("POST /auth/invitation", Door::OwnPages, None, None),
    row("POST /auth/reset", Door::OwnPages, None, None),
    row("POST /auth/device", Door::Open, None, None),
    row("POST /auth/device/key", Door::Open, None, None),
    row("POST /auth/sign-out", Door::User, None, None),
    row("GET /auth/session", Door::Anyone, None, None),
    row("GET /auth/sessions", Door::User, None, None),
    row("DELETE /auth/sessions", Door::User, Some(Thing::Session), None),
    row("GET /healthz", Door::Open, None, None),
    row("GET /readyz", Door::Open, None, None),
    row("GET /openapi.json", Door::Open, None, None),
    row("GET /docs", Door::Open, None, None),
];

/// The row of a line of the router's list.
pub fn row_of(method: &str, path: &str) -> &'static Row {
    let line = format!("{method} {path}");
    ROWS.iter().find(|row| row.line == line).unwrap_or_else(|| {
        panic!("`{line}` is new: add it to ROWS in tests/http/matrix/table.rs with who may call it by the reference")
    })
}

/// An id of the right shape that names nothing.
pub fn unused_id(thing: Thing) -> String {
    let prefix = match thing {
        Thing::Build => "build",
        Thing::Submission => "submission",
        Thing::Update => "update",
        Thing::Env => "env",
        Thing::Credential => "credential",
        Thing::Key => "key",
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
    };
    format!("{prefix}_01h455vb4pex5vsknk084sn02q")
}
