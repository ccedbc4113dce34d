-- Which access came from a browser sign-in, and which accounts the sign-in provider has proven.

-- The browser sign-in that a key was made by; it works only while its user may still approve one.
ALTER TABLE api_keys ADD COLUMN device_login TEXT;
-- When the sign-in provider first confirmed that the address belongs to the user.
ALTER TABLE users ADD COLUMN proven_at BIGINT;
CREATE INDEX api_keys_creator ON api_keys (org_id, created_by);
CREATE INDEX invitations_email ON invitations (email);
CREATE INDEX device_logins_user ON device_logins (user_id);
