-- Indexes of the builds that wait and of those that run: each question about the queue reads what it answers with.

-- The organizations that have builds waiting, the sets of labels of each, and the first build of each set.
CREATE INDEX builds_queued_sets ON builds (status, org_id, labels, urgency, id);
-- The queue of an organization, in its order.
CREATE INDEX builds_queued_order ON builds (org_id, urgency, id) WHERE status = 'queued';
CREATE INDEX builds_queued_at ON builds (status, queued_at);
-- When an organization was last served.
CREATE INDEX builds_served ON builds (org_id, started_at) WHERE started_at IS NOT NULL;
CREATE INDEX runners_seen ON runners (org_id, last_seen_at);
