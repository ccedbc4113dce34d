-- The withdrawn and deleted updates of each bundle: a change of a bundle reads the newest of them, and a start those of all.

CREATE INDEX updates_retired ON updates (bundle_key, id DESC) WHERE deleted_at IS NOT NULL OR status = 'withdrawn';
