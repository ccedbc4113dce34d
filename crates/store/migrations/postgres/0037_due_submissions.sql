-- One index over the due submissions of each organization in the order of the queue, and one over the few urgent ones, which skip it: a
-- round of work reads the first of each organization, however many wait behind them.

CREATE INDEX submissions_due_of_org ON submissions (org_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX submissions_urgent ON submissions (due_at)
WHERE due_at IS NOT NULL AND (change IS NOT NULL OR cancel_requested = 1 OR urgent = 1);
