-- The first schema. Columns are TEXT or BIGINT (numbers, epoch milliseconds, 0/1), so that one body of SQL
-- and one form of backup serve PostgreSQL and SQLite alike. The twin file beside this one differs in the collation
-- and the unlogged table only.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Each change that nodes keep in memory takes the next revision in its own transaction.
CREATE TABLE revision (
    one BIGINT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO revision (one, value) VALUES (1, 0);

CREATE TABLE changes (
    revision BIGINT PRIMARY KEY,
    bundle_key TEXT NOT NULL,
    at BIGINT NOT NULL
);

CREATE TABLE orgs (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    tier TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE members (
    org_id TEXT NOT NULL REFERENCES orgs (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT
);
CREATE INDEX invitations_org ON invitations (org_id, id);

CREATE TABLE reset_links (
    token_hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL
);

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES users (id),
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id, id);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);
CREATE INDEX api_keys_org ON api_keys (org_id, id);

-- A row stays when its app is deleted: the identifier never goes to another organization by itself.
CREATE TABLE apps (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_key TEXT NOT NULL UNIQUE,
    bundle_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX apps_org ON apps (org_id, id);

-- The highest build number of a bundle and platform, whether of a build or of an update.
CREATE TABLE build_numbers (
    bundle_key TEXT NOT NULL,
    platform TEXT NOT NULL,
    highest BIGINT NOT NULL,
    PRIMARY KEY (bundle_key, platform)
);

CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    file_name TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    used BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX uploads_expiry ON uploads (expires_at);

CREATE TABLE packages (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    blob_key TEXT NOT NULL UNIQUE,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    file_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    unused_since BIGINT
);

-- A row stays when its update is deleted: the identity stays taken. No configuration is ''.
CREATE TABLE updates (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    status TEXT NOT NULL,
    bundle_key TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    version TEXT NOT NULL,
    version_key TEXT NOT NULL,
    build_number TEXT NOT NULL,
    build_value BIGINT NOT NULL,
    configuration TEXT NOT NULL,
    fingerprint TEXT,
    build_id TEXT,
    source_update_id TEXT,
    package_id TEXT NOT NULL REFERENCES packages (id),
    release_notes TEXT NOT NULL,
    mandatory BIGINT NOT NULL,
    rollout BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT,
    UNIQUE (bundle_key, platform, configuration, version_key, build_value)
);
CREATE INDEX updates_org ON updates (org_id, id);
CREATE INDEX updates_package ON updates (package_id);

-- Fingerprint documents by the hash that devices send.
CREATE TABLE fingerprints (
    bundle_key TEXT NOT NULL,
    hash TEXT NOT NULL,
    document TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (bundle_key, hash)
);

CREATE TABLE report_devices (
    update_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    device BIGINT NOT NULL,
    PRIMARY KEY (update_id, kind, device)
);

CREATE TABLE report_counts (
    update_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (update_id, kind)
);

CREATE TABLE report_reasons (
    update_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (update_id, number)
);

-- The outbox: what webhooks tell of, written in the transaction of the change. Until it is fanned out, 0.
CREATE TABLE events (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL,
    type TEXT NOT NULL,
    at BIGINT NOT NULL,
    data TEXT NOT NULL,
    fanned_out BIGINT NOT NULL
);
CREATE INDEX events_fan_out ON events (fanned_out, id);

-- The audit log: one chain for each organization. `hash` covers the row and the hash before it; the head names the last.
CREATE TABLE audit (
    org_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    resource TEXT NOT NULL,
    before TEXT,
    after TEXT,
    address TEXT NOT NULL,
    request_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (org_id, seq)
);

CREATE TABLE audit_heads (
    org_id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);

CREATE TABLE idempotency (
    org_id TEXT NOT NULL,
    caller TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    status BIGINT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, caller, method, path, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Counts of the running minute; worth nothing after a crash.
CREATE TABLE rate_counts (
    subject TEXT PRIMARY KEY,
    minute BIGINT NOT NULL,
    count BIGINT NOT NULL
);
