-- Kept totals of lists: how many rows each list of an organization has for each combination of what it can be filtered by, so that a page does
-- not count them. The total of a list is the sum of `n` over the rows that match its filter.
--
-- Triggers keep them, so that the writes of a node of an older release count as well. They only add rows, of `n` = 1 or -1: transactions that
-- change one list at the same time do not wait for each other. The job `list_totals` replaces the rows of a list by their sums. `folded` is
-- 0 for a row of a trigger, 1 for a sum, and 2 for a row that is being replaced, which no other transaction sees.
--
-- `list` is `builds`, `branches` (builds, by branch), `updates`, `submissions`, `deliveries` or `audit`; `name` is the branch, the webhook or the
-- actor, and empty in other lists. The `status` of the audit log is the action. `builds` and `branches` are separate because an organization may
-- have very many branches.

CREATE TABLE list_totals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    list TEXT NOT NULL,
    org_id TEXT NOT NULL,
    name TEXT NOT NULL,
    bundle_key TEXT NOT NULL,
    platform TEXT NOT NULL,
    configuration TEXT NOT NULL,
    status TEXT NOT NULL,
    folded BIGINT NOT NULL,
    n BIGINT NOT NULL
);
-- Everything that a total is made of, so that it is read from the index alone.
CREATE INDEX list_totals_key ON list_totals (org_id, list, name, bundle_key, platform, configuration, status, n);
CREATE INDEX list_totals_new ON list_totals (org_id, list) WHERE folded = 0;

-- The triggers come before the sums of what exists, as on PostgreSQL, where their lock keeps other writers out until this migration is committed.
-- SQLite has one writer.
CREATE TRIGGER builds_counted_in AFTER INSERT ON builds FOR EACH ROW
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('builds', NEW.org_id, '', NEW.bundle_key, NEW.platform, NEW.configuration, NEW.status, 0, 1),
        ('branches', NEW.org_id, NEW.branch, NEW.bundle_key, NEW.platform, NEW.configuration, NEW.status, 0, 1);
END;
CREATE TRIGGER builds_counted_out AFTER DELETE ON builds FOR EACH ROW
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('builds', OLD.org_id, '', OLD.bundle_key, OLD.platform, OLD.configuration, OLD.status, 0, -1),
        ('branches', OLD.org_id, OLD.branch, OLD.bundle_key, OLD.platform, OLD.configuration, OLD.status, 0, -1);
END;
CREATE TRIGGER builds_counted_anew AFTER UPDATE OF org_id, bundle_key, platform, configuration, status, branch ON builds FOR EACH ROW
WHEN (OLD.org_id <> NEW.org_id
    OR OLD.bundle_key <> NEW.bundle_key
    OR OLD.platform <> NEW.platform
    OR OLD.configuration <> NEW.configuration
    OR OLD.status <> NEW.status
    OR OLD.branch <> NEW.branch)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('builds', OLD.org_id, '', OLD.bundle_key, OLD.platform, OLD.configuration, OLD.status, 0, -1),
        ('branches', OLD.org_id, OLD.branch, OLD.bundle_key, OLD.platform, OLD.configuration, OLD.status, 0, -1);
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('builds', NEW.org_id, '', NEW.bundle_key, NEW.platform, NEW.configuration, NEW.status, 0, 1),
        ('branches', NEW.org_id, NEW.branch, NEW.bundle_key, NEW.platform, NEW.configuration, NEW.status, 0, 1);
END;
CREATE TRIGGER updates_counted_in AFTER INSERT ON updates FOR EACH ROW
WHEN (NEW.deleted_at IS NULL)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('updates', NEW.org_id, '', NEW.bundle_key, NEW.platform, NEW.configuration, COALESCE(NEW.release_status, CASE WHEN NEW.awaiting_since IS NULL THEN NEW.status ELSE 'awaiting_signature' END), 0, 1);
END;
CREATE TRIGGER updates_counted_out AFTER DELETE ON updates FOR EACH ROW
WHEN (OLD.deleted_at IS NULL)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('updates', OLD.org_id, '', OLD.bundle_key, OLD.platform, OLD.configuration, COALESCE(OLD.release_status, CASE WHEN OLD.awaiting_since IS NULL THEN OLD.status ELSE 'awaiting_signature' END), 0, -1);
END;
CREATE TRIGGER updates_counted_anew AFTER UPDATE OF org_id, bundle_key, platform, configuration, status, release_status, awaiting_since, deleted_at ON updates FOR EACH ROW
WHEN (OLD.org_id <> NEW.org_id
    OR OLD.bundle_key <> NEW.bundle_key
    OR OLD.platform <> NEW.platform
    OR OLD.configuration <> NEW.configuration
    OR COALESCE(OLD.release_status, CASE WHEN OLD.awaiting_since IS NULL THEN OLD.status ELSE 'awaiting_signature' END) <> COALESCE(NEW.release_status, CASE WHEN NEW.awaiting_since IS NULL THEN NEW.status ELSE 'awaiting_signature' END)
    OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'updates', OLD.org_id, '', OLD.bundle_key, OLD.platform, OLD.configuration, COALESCE(OLD.release_status, CASE WHEN OLD.awaiting_since IS NULL THEN OLD.status ELSE 'awaiting_signature' END), 0, -1 WHERE OLD.deleted_at IS NULL;
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'updates', NEW.org_id, '', NEW.bundle_key, NEW.platform, NEW.configuration, COALESCE(NEW.release_status, CASE WHEN NEW.awaiting_since IS NULL THEN NEW.status ELSE 'awaiting_signature' END), 0, 1 WHERE NEW.deleted_at IS NULL;
END;
CREATE TRIGGER submissions_counted_in AFTER INSERT ON submissions FOR EACH ROW
WHEN (NEW.deleted = 0)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('submissions', NEW.org_id, '', NEW.bundle_key, NEW.platform, '', NEW.status, 0, 1);
END;
CREATE TRIGGER submissions_counted_out AFTER DELETE ON submissions FOR EACH ROW
WHEN (OLD.deleted = 0)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('submissions', OLD.org_id, '', OLD.bundle_key, OLD.platform, '', OLD.status, 0, -1);
END;
CREATE TRIGGER submissions_counted_anew AFTER UPDATE OF org_id, bundle_key, platform, status, deleted ON submissions FOR EACH ROW
WHEN (OLD.org_id <> NEW.org_id
    OR OLD.bundle_key <> NEW.bundle_key
    OR OLD.platform <> NEW.platform
    OR OLD.status <> NEW.status
    OR OLD.deleted <> NEW.deleted)
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'submissions', OLD.org_id, '', OLD.bundle_key, OLD.platform, '', OLD.status, 0, -1 WHERE OLD.deleted = 0;
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'submissions', NEW.org_id, '', NEW.bundle_key, NEW.platform, '', NEW.status, 0, 1 WHERE NEW.deleted = 0;
END;
CREATE TRIGGER deliveries_counted_in AFTER INSERT ON deliveries FOR EACH ROW
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('deliveries', NEW.org_id, NEW.webhook_id, '', '', '', '', 0, 1);
END;
CREATE TRIGGER deliveries_counted_out AFTER DELETE ON deliveries FOR EACH ROW
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('deliveries', OLD.org_id, OLD.webhook_id, '', '', '', '', 0, -1);
END;
CREATE TRIGGER audit_counted_in AFTER INSERT ON audit FOR EACH ROW
WHEN (NEW.org_id <> '')
BEGIN
    INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    VALUES ('audit', NEW.org_id, NEW.actor, '', '', '', NEW.action, 0, 1);
END;

INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'builds', t.org_id, '', t.bundle_key, t.platform, t.configuration, t.status, 1, COUNT(*) FROM builds t
    GROUP BY t.org_id, t.bundle_key, t.platform, t.configuration, t.status;
INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'branches', t.org_id, t.branch, t.bundle_key, t.platform, t.configuration, t.status, 1, COUNT(*) FROM builds t
    GROUP BY t.org_id, t.bundle_key, t.platform, t.configuration, t.status, t.branch;
INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'updates', t.org_id, '', t.bundle_key, t.platform, t.configuration, COALESCE(t.release_status, CASE WHEN t.awaiting_since IS NULL THEN t.status ELSE 'awaiting_signature' END), 1, COUNT(*) FROM updates t WHERE t.deleted_at IS NULL
    GROUP BY t.org_id, t.bundle_key, t.platform, t.configuration, COALESCE(t.release_status, CASE WHEN t.awaiting_since IS NULL THEN t.status ELSE 'awaiting_signature' END);
INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'submissions', t.org_id, '', t.bundle_key, t.platform, '', t.status, 1, COUNT(*) FROM submissions t WHERE t.deleted = 0
    GROUP BY t.org_id, t.bundle_key, t.platform, t.status;
INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'deliveries', t.org_id, t.webhook_id, '', '', '', '', 1, COUNT(*) FROM deliveries t
    GROUP BY t.org_id, t.webhook_id;
INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n)
    SELECT 'audit', t.org_id, t.actor, '', '', '', t.action, 1, COUNT(*) FROM audit t WHERE t.org_id <> ''
    GROUP BY t.org_id, t.actor, t.action;

-- A page of a list by each of its filters, without what the filter leaves out.
CREATE INDEX builds_listed_platform ON builds (org_id, platform, id);
CREATE INDEX builds_listed_configuration ON builds (org_id, configuration, id);
CREATE INDEX builds_listed_bundle ON builds (org_id, bundle_key, id);
CREATE INDEX builds_listed_branch ON builds (org_id, branch, id);
CREATE INDEX updates_listed ON updates (org_id, id) WHERE deleted_at IS NULL;
CREATE INDEX updates_listed_platform ON updates (org_id, platform, id) WHERE deleted_at IS NULL;
CREATE INDEX updates_listed_configuration ON updates (org_id, configuration, id) WHERE deleted_at IS NULL;
CREATE INDEX updates_listed_bundle ON updates (org_id, bundle_key, id) WHERE deleted_at IS NULL;
CREATE INDEX updates_listed_status ON updates (org_id, (COALESCE(release_status, CASE WHEN awaiting_since IS NULL THEN status ELSE 'awaiting_signature' END)), id) WHERE deleted_at IS NULL;
CREATE INDEX submissions_listed ON submissions (org_id, id) WHERE deleted = 0;
CREATE INDEX submissions_listed_platform ON submissions (org_id, platform, id) WHERE deleted = 0;
CREATE INDEX submissions_listed_status ON submissions (org_id, status, id) WHERE deleted = 0;
CREATE INDEX submissions_listed_bundle ON submissions (org_id, bundle_key, id) WHERE deleted = 0;
CREATE INDEX submissions_listed_build ON submissions (org_id, build_id, id) WHERE deleted = 0;
CREATE INDEX audit_listed_actor ON audit (org_id, actor, seq);
CREATE INDEX audit_listed_action ON audit (org_id, action, seq);
CREATE INDEX audit_listed_resource ON audit (org_id, resource, seq);
CREATE INDEX foreign_ids_named ON foreign_ids (org_id, protocol, foreign_id);
