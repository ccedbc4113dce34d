-- Wrong passwords and codes by day. A subject is a user's budget or one of a fixed number of buckets for addresses without an
-- account, so the table stays small.

CREATE TABLE failed_tries (
    subject TEXT COLLATE "C" PRIMARY KEY,
    day BIGINT NOT NULL,
    count BIGINT NOT NULL
);
