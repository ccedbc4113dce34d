-- What devices reported on which day, and builds by their status.

-- `day` is the number of days since 1970, in UTC.
CREATE TABLE report_days (
    update_id TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (update_id, day, kind)
);
CREATE INDEX report_days_age ON report_days (day);

CREATE INDEX builds_org_status ON builds (org_id, status, id);
