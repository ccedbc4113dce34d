-- The scope `admin` of browser sign-ins, and of the keys that they made. It is not in `scopes`, so that a node of an older release, which
-- neither names the scope on its page nor knows that such a key has the rights of a role, grants and accepts everything but this scope.

-- 'asked' when a login wants the scope, 'granted' when a user approved it on a page that named the scope.
ALTER TABLE device_logins ADD COLUMN admin_scope TEXT COLLATE "C";
-- 1 for a key with the scope, which has the rights of the role of the user who approved its sign-in.
ALTER TABLE api_keys ADD COLUMN admin_scope BIGINT;
