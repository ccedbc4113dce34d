-- Logins of command lines that wait for a user to confirm them in a browser. Only hashes of the codes are here.

CREATE TABLE device_logins (
    id TEXT PRIMARY KEY,
    device_hash TEXT NOT NULL UNIQUE,
    user_hash TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    address TEXT NOT NULL,
    org_id TEXT,
    user_id TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
