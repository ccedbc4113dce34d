-- The `lwfp-2` hash of the native code that a `lwfp-1` document describes, where it was told.
ALTER TABLE fingerprints ADD COLUMN lwfp2 TEXT;
