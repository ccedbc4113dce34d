-- Logins of command lines that wait for a user to confirm them in a browser. Only hashes of the codes are here.

CREATE TABLE device_logins (
    id TEXT COLLATE "C" PRIMARY KEY,
    device_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    user_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    status TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    address TEXT NOT NULL,
    org_id TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
