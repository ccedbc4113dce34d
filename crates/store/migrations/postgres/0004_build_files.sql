-- Which objects belong to builds, and from which builds they were removed.

-- The key of the source in object storage; '' when it lies elsewhere or was removed.
ALTER TABLE builds ADD COLUMN source_key TEXT COLLATE "C" NOT NULL DEFAULT '';
-- When log, artifacts and source were removed.
ALTER TABLE builds ADD COLUMN cleared_at BIGINT;
CREATE INDEX builds_source ON builds (source_key);
CREATE INDEX builds_finished ON builds (finished_at) WHERE cleared_at IS NULL;
CREATE INDEX artifacts_blob ON artifacts (blob_key);
CREATE INDEX log_segments_blob ON log_segments (blob_key);
