-- Builds, the runners that make them, what they say and what they give.

-- Whoever shows the token enrols a runner, once. '' is every organization.
CREATE TABLE runner_tokens (
    token_hash TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE runners (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    slots BIGINT NOT NULL,
    version TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX runners_org ON runners (org_id, id);

-- `labels` are those a runner must have, sorted and joined by commas; `spec`, `phases`, `plan` and `warnings` are JSON.
-- `urgency` orders the queue: priority first, then what was given back before.
CREATE TABLE builds (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES orgs (id),
    status TEXT COLLATE "C" NOT NULL,
    attempt BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    lease_until BIGINT,
    cancel_requested BIGINT NOT NULL,
    urgency BIGINT NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    bundle_key TEXT COLLATE "C" NOT NULL,
    bundle_id TEXT NOT NULL,
    platform TEXT COLLATE "C" NOT NULL,
    configuration TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    plan TEXT,
    plan_origin TEXT,
    fingerprint TEXT,
    runner_id TEXT COLLATE "C",
    phases TEXT NOT NULL,
    error_code TEXT,
    error_phase TEXT,
    error_message TEXT,
    warnings TEXT NOT NULL,
    parent_id TEXT,
    log_size BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX builds_org ON builds (org_id, id);
CREATE INDEX builds_queue ON builds (status, labels, urgency, id);
CREATE INDEX builds_lease ON builds (status, lease_until);

-- The end of a log, until it goes to object storage; `bytes` are base64.
CREATE TABLE log_tails (
    build_id TEXT COLLATE "C" NOT NULL REFERENCES builds (id) ON DELETE CASCADE,
    start BIGINT NOT NULL,
    size BIGINT NOT NULL,
    bytes TEXT NOT NULL,
    PRIMARY KEY (build_id, start)
);

-- The parts of a log in object storage.
CREATE TABLE log_segments (
    build_id TEXT COLLATE "C" NOT NULL REFERENCES builds (id) ON DELETE CASCADE,
    start BIGINT NOT NULL,
    size BIGINT NOT NULL,
    blob_key TEXT NOT NULL,
    PRIMARY KEY (build_id, start)
);

-- A file that a build gave. Until its bytes are checked its status is 'pending'; `facts` is JSON of what it says of itself.
CREATE TABLE artifacts (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES orgs (id),
    build_id TEXT COLLATE "C" NOT NULL REFERENCES builds (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    blob_key TEXT NOT NULL,
    facts TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX artifacts_build ON artifacts (build_id, id);
