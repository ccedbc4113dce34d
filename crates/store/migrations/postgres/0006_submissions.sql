-- Submissions to the stores, their files, and who may change an app in Google Play now.

-- `spec`, `external`, `change` and `events` are JSON; `progress` is sealed. Whose step is due is taken by whoever raises
-- `claim`, until `claimed_until`.
CREATE TABLE submissions (
    id TEXT COLLATE "C" PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES orgs (id),
    status TEXT NOT NULL,
    cancel_requested BIGINT NOT NULL,
    build_id TEXT NOT NULL,
    bundle_key TEXT COLLATE "C" NOT NULL,
    bundle_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    store TEXT NOT NULL,
    destination TEXT NOT NULL,
    version TEXT,
    build_number TEXT,
    sha256 TEXT NOT NULL,
    rollout BIGINT NOT NULL,
    spec TEXT NOT NULL,
    credential_id TEXT,
    external TEXT NOT NULL,
    change TEXT,
    error_code TEXT,
    error_message TEXT,
    events TEXT NOT NULL,
    progress TEXT,
    due_at BIGINT,
    claim BIGINT NOT NULL,
    claimed_until BIGINT,
    failures BIGINT NOT NULL,
    failing_since BIGINT NOT NULL,
    since BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);
CREATE INDEX submissions_org ON submissions (org_id, id);
CREATE INDEX submissions_bundle ON submissions (bundle_key, id);
CREATE INDEX submissions_due ON submissions (due_at);
CREATE INDEX submissions_finished ON submissions (finished_at);

CREATE TABLE submission_files (
    blob_key TEXT COLLATE "C" PRIMARY KEY,
    submission_id TEXT COLLATE "C" NOT NULL REFERENCES submissions (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    file_name TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL
);
CREATE INDEX submission_files_submission ON submission_files (submission_id, number);

-- One submission of an app at a time makes changes in Google Play.
CREATE TABLE package_locks (
    package TEXT COLLATE "C" PRIMARY KEY,
    submission_id TEXT NOT NULL,
    locked_until BIGINT NOT NULL
);
