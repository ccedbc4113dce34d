-- `submissions.error_word` is the code of the error. `error_code` has a code that a node of 0.1.0 can read: the same one, or for a newer code
-- the one that comes closest.
--
-- `credentials.events_rotations` counts how often the secret for the store's events was replaced, and `events_rotated_at` is when: the one
-- before stays valid for a while. NULL: never. A node of 0.1.0 knows the first secret only.

ALTER TABLE submissions ADD COLUMN error_word TEXT;
ALTER TABLE credentials ADD COLUMN events_rotations BIGINT;
ALTER TABLE credentials ADD COLUMN events_rotated_at BIGINT;
