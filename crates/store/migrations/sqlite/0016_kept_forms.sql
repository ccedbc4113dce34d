-- Forms that were sent after their session had ended: sealed for the user whose page they come from, until that user signs in
-- again or the time is over.

CREATE TABLE kept_forms (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    sealed TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX kept_forms_of_user ON kept_forms (user_id, expires_at);
CREATE INDEX kept_forms_over ON kept_forms (expires_at);
