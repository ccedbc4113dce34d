-- How the client of a protocol verifies the content of an update where that is not the SHA-256 of the package: the signature that hot-updater's
-- own tools made of it. NULL: by the SHA-256.

ALTER TABLE foreign_ids ADD COLUMN file_hash TEXT;
