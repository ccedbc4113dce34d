-- What only one submission of an app does at a time in App Store Connect, and which submissions must not wait.

-- `part` is `version`, or `upload` with the version and build number. A row counts as long as its submission is under way.
CREATE TABLE app_store_turns (
    app TEXT NOT NULL,
    platform TEXT NOT NULL,
    part TEXT NOT NULL,
    submission_id TEXT NOT NULL,
    PRIMARY KEY (app, platform, part)
);
CREATE INDEX app_store_turns_submission ON app_store_turns (submission_id);

-- The part that a submission waits for, and the claim under which it began to wait.
ALTER TABLE submissions ADD COLUMN waits_for TEXT;
ALTER TABLE submissions ADD COLUMN waits_claim BIGINT;
-- 1 while a change of a release is under way.
ALTER TABLE submissions ADD COLUMN urgent BIGINT NOT NULL DEFAULT 0;

CREATE INDEX submissions_under_way ON submissions (bundle_key, platform, id) WHERE due_at IS NOT NULL;
CREATE INDEX submissions_binary ON submissions (bundle_key, sha256);
