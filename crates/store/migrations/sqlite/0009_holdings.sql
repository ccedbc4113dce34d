-- What an organization holds, against its limits: bytes in object storage and claimed bundle ids. Both are counted from the rows
-- themselves, so nothing can drift, and a node of an older release needs to know nothing of it.

-- A transaction that checks an organization against a limit locks its row here first, so that two at once are serialized.
CREATE TABLE org_turns (
    org_id TEXT PRIMARY KEY REFERENCES orgs (id),
    taken BIGINT NOT NULL
);

-- '' and 0 mean unknown: an older release leaves the defaults, and the clean-up job fills them in.
ALTER TABLE log_segments ADD COLUMN org_id TEXT NOT NULL DEFAULT '';
ALTER TABLE submission_files ADD COLUMN org_id TEXT NOT NULL DEFAULT '';
ALTER TABLE builds ADD COLUMN source_size BIGINT NOT NULL DEFAULT 0;

-- The sums are read from these alone.
CREATE INDEX uploads_stored ON uploads (org_id, used, size);
CREATE INDEX packages_stored ON packages (org_id, blob_key, size);
CREATE INDEX artifacts_stored ON artifacts (org_id, size);
CREATE INDEX log_segments_stored ON log_segments (org_id, size);
CREATE INDEX submission_files_stored ON submission_files (org_id, size);
CREATE INDEX builds_stored ON builds (org_id, source_key, source_size) WHERE source_key <> '';
CREATE INDEX builds_unsized ON builds (id) WHERE source_key <> '' AND source_size = 0;
