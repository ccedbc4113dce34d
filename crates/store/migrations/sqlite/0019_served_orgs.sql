-- When a build of an organization was last leased. Deleting builds does not change it, so no organization looks as if it had not been
-- served. A node of an older release writes only builds.started_at; both are read, and the later one counts.

CREATE TABLE served_orgs (
    org_id TEXT PRIMARY KEY REFERENCES orgs (id),
    served_at BIGINT NOT NULL
);
INSERT INTO served_orgs (org_id, served_at)
SELECT org_id, MAX(started_at) FROM builds WHERE started_at IS NOT NULL GROUP BY org_id;
