-- Releases for clients of other services. An update that our own check does not offer (of another format, for a range of versions or a
-- runtime, or the return to the built-in content) has its true state in `updates.release_status`: its `status` is `withdrawn` for good, so
-- that a node of an older release neither offers nor changes it. NULL: `status` is the state. `updates.sequence` is NULL for updates that
-- a node of an older release published, until the job `sequences` or the next publish numbers them. `packages.content_id` is how clients of
-- the format identify the content. The package of a return to the built-in content has no bytes.
--
-- `foreign_ids.foreign_id` is how a client of a protocol names an update; one of CodePush begins with the configuration and a slash.

ALTER TABLE updates ADD COLUMN kind TEXT NOT NULL DEFAULT 'update';
ALTER TABLE updates ADD COLUMN sequence BIGINT;
ALTER TABLE updates ADD COLUMN release_status TEXT;
ALTER TABLE updates ADD COLUMN runtime_version TEXT;
ALTER TABLE updates ADD COLUMN binary_range TEXT;
ALTER TABLE packages ADD COLUMN format TEXT NOT NULL DEFAULT 'archive';
ALTER TABLE packages ADD COLUMN content_id TEXT;
CREATE INDEX updates_unnumbered ON updates (bundle_key) WHERE sequence IS NULL;
CREATE INDEX updates_sequence ON updates (bundle_key, platform, configuration, sequence);

CREATE TABLE foreign_ids (
    bundle_key TEXT NOT NULL,
    platform TEXT NOT NULL,
    protocol TEXT NOT NULL,
    foreign_id TEXT NOT NULL,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    update_id TEXT NOT NULL REFERENCES updates (id),
    PRIMARY KEY (bundle_key, platform, protocol, foreign_id)
);
CREATE INDEX foreign_ids_update ON foreign_ids (update_id);

CREATE TABLE deployment_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES orgs (id),
    bundle_key TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    platform TEXT NOT NULL,
    configuration TEXT NOT NULL,
    deployment_key TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (bundle_key, deployment_key)
);
CREATE INDEX deployment_keys_org ON deployment_keys (org_id, id);
