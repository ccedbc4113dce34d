-- Two-factor codes of users. `sealed` is what the authenticator app shares with the server, `last_step` the last step whose
-- code was taken. Until `confirmed_at` nobody is asked for a code. Of recovery codes only the hashes of those left are here.

CREATE TABLE two_factor (
    user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id),
    sealed TEXT NOT NULL,
    last_step BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT
);

CREATE TABLE recovery_codes (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    code_hash TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);
