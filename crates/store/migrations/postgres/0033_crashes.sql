-- Crashes that devices report, equal ones together. A row of `crash_updates` is locked while the groups of its update change, so that two
-- nodes keep their bound. `group_key` is the hash of what equal stacks share, `stack` the first of them; `devices` is the number of rows in
-- `crash_devices`, where a device is a keyed hash.

CREATE TABLE crash_updates (
    update_id TEXT COLLATE "C" PRIMARY KEY
);

CREATE TABLE crash_groups (
    update_id TEXT COLLATE "C" NOT NULL REFERENCES crash_updates (update_id),
    group_key TEXT COLLATE "C" NOT NULL,
    devices BIGINT NOT NULL,
    first_seen BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    stack TEXT NOT NULL,
    PRIMARY KEY (update_id, group_key)
);
CREATE INDEX crash_groups_age ON crash_groups (last_seen);

CREATE TABLE crash_devices (
    update_id TEXT COLLATE "C" NOT NULL,
    group_key TEXT COLLATE "C" NOT NULL,
    device BIGINT NOT NULL,
    PRIMARY KEY (update_id, group_key, device)
);
