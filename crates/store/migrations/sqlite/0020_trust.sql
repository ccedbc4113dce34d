-- Signed updates. `updates.awaiting_since` is set while an update awaits its signature: its `status` is `withdrawn` until then, so that a
-- node of an older release neither offers nor changes it. `updates.published_at` is when its signature was complete, NULL for updates
-- that were published when they were created. `updates.trust_role` is the role that signs it. `packages.manifest` is the SHA-256 of
-- the list of files, NULL where nobody has computed it. `webhooks.all_events` is set for a webhook with kinds of events that a node of
-- 0.1.0 cannot read; `events` has the others.
--
-- `trust_files` holds every root, and the current and previous version of other roles; `notice_at` is when the next notice about its
-- expiry is due. The sealed key in `trust_online_keys` is PKCS#8. A row stays when its app is deleted: phones know the repository.

ALTER TABLE updates ADD COLUMN awaiting_since BIGINT;
ALTER TABLE updates ADD COLUMN published_at BIGINT;
ALTER TABLE updates ADD COLUMN trust_role TEXT;
ALTER TABLE packages ADD COLUMN manifest TEXT;
ALTER TABLE webhooks ADD COLUMN all_events TEXT;
CREATE INDEX updates_awaiting ON updates (awaiting_since) WHERE awaiting_since IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE trust_repositories (
    bundle_key TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_id TEXT NOT NULL,
    repository TEXT NOT NULL,
    root_version BIGINT NOT NULL,
    snapshot_version BIGINT NOT NULL,
    timestamp_version BIGINT NOT NULL,
    online_key_id TEXT NOT NULL,
    other_formats BIGINT NOT NULL,
    began_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE TABLE trust_online_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_key TEXT NOT NULL,
    public_key TEXT NOT NULL,
    sealed TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX trust_online_keys_app ON trust_online_keys (bundle_key, state);

CREATE TABLE trust_files (
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_key TEXT NOT NULL,
    repository TEXT NOT NULL,
    role TEXT NOT NULL,
    version BIGINT NOT NULL,
    content TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT NOT NULL,
    accepted_by TEXT NOT NULL,
    notice_at BIGINT,
    PRIMARY KEY (bundle_key, repository, role, version)
);
CREATE INDEX trust_files_expiry ON trust_files (role, expires_at, bundle_key);
CREATE INDEX trust_files_notice ON trust_files (notice_at) WHERE notice_at IS NOT NULL;

CREATE TABLE trust_drafts (
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_key TEXT NOT NULL,
    role TEXT NOT NULL,
    version BIGINT NOT NULL,
    content TEXT NOT NULL,
    update_ids TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    PRIMARY KEY (bundle_key, role)
);
