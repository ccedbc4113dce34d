-- `log_segments.index_size` is the number of bytes of the part's search index, which follow the part in its object. 0: it has none, as all parts
-- that a node of 0.1.0 seals. Such a node reads the part without the index.

ALTER TABLE log_segments ADD COLUMN index_size BIGINT NOT NULL DEFAULT 0;
