-- What builds, submissions and the world outside need: sealed secrets, webhooks and their deliveries, usage, leases of jobs.
-- `sealed` columns hold base64 of ciphertexts, bound to organization, record and field.

-- The key that seals the values of one organization, itself sealed by the master key. '' is the installation's own.
CREATE TABLE data_keys (
    org_id TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Everywhere is '': no bundle, no configurations, no platforms. Lists are sorted and joined by commas.
CREATE TABLE env_vars (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT,
    visibility TEXT NOT NULL,
    bundle_key TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    configurations TEXT NOT NULL,
    platforms TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (org_id, name, bundle_key, configurations, platforms)
);
CREATE INDEX env_vars_org ON env_vars (org_id, id);

-- `facts` is JSON of what was read from the file, without secrets. `told_days`: the notice of expiry told last, or NULL.
CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    bundle_id TEXT,
    fingerprint TEXT NOT NULL,
    facts TEXT NOT NULL,
    sealed TEXT NOT NULL,
    expires_at BIGINT,
    told_days BIGINT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX credentials_org ON credentials (org_id, id);
CREATE INDEX credentials_expiry ON credentials (expires_at);

-- `events` and `bundle_ids` are JSON lists, `old_secrets` too: `[{sealed, until}]`, secrets that a rotation replaced and that
-- sign until then. `failing_since`: the first try that failed after the last that did not.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    status TEXT NOT NULL,
    disabled_reason TEXT,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    type TEXT NOT NULL,
    events TEXT NOT NULL,
    bundle_ids TEXT NOT NULL,
    sealed TEXT NOT NULL,
    old_secrets TEXT,
    failing_since BIGINT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_org ON webhooks (org_id, id);

-- One event on its way to one webhook. `claim` counts the times that a node took it to try it: what is reported of an older
-- claim is refused. While it is being tried, `due_at` is when that claim lapses.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    tries BIGINT NOT NULL,
    claim BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (webhook_id, status, due_at);
CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id);
CREATE INDEX deliveries_age ON deliveries (created_at);

CREATE TABLE delivery_tries (
    delivery_id TEXT NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    response_status BIGINT,
    error TEXT,
    PRIMARY KEY (delivery_id, number)
);

-- What an organization used in a month ('2026-11'), one row for each counter.
CREATE TABLE usage (
    org_id TEXT NOT NULL REFERENCES orgs (id),
    month TEXT NOT NULL,
    counter TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (org_id, month, counter)
);

-- A job that must run on one node only is run by who holds its lease.
CREATE TABLE job_leases (
    job TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until BIGINT NOT NULL
);
