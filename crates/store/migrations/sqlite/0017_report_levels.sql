-- Bounds the rows of report_devices. Above a number of devices per update and kind only a sample is kept: devices whose hash ends in
-- `level` zero bits, each of which counts 2^level. `kept` is the number of rows in the sample, NULL while every counted device has
-- one. `forgotten`: the rows were deleted because no device had reported for a long time.

ALTER TABLE report_counts ADD COLUMN level BIGINT NOT NULL DEFAULT 0;
ALTER TABLE report_counts ADD COLUMN kept BIGINT;
ALTER TABLE report_counts ADD COLUMN forgotten BIGINT NOT NULL DEFAULT 0;
CREATE INDEX report_counts_kept ON report_counts (update_id, kind) WHERE forgotten = 0;
