-- Updates of Expo. `packages.export` lists the files of an export and where they are in the package, as JSON. Clients go by the time of
-- creation, so each id under which they receive an update has one, `foreign_ids.issued_at`; the id with the newest time is offered.
-- `foreign_ids.undoes` names the withdrawn update that this id leads back from: only who runs that update is offered it.
--
-- `updates.signed_part` is the manifest or directive that was signed elsewhere, `updates.sealed_undo` what was signed with it for the case
-- that the update is withdrawn, sealed; `updates.undo` is the same as it is served since the withdrawal. All three are JSON.

ALTER TABLE packages ADD COLUMN export TEXT;
ALTER TABLE foreign_ids ADD COLUMN issued_at BIGINT;
ALTER TABLE foreign_ids ADD COLUMN undoes TEXT;
ALTER TABLE updates ADD COLUMN signed_part TEXT;
ALTER TABLE updates ADD COLUMN sealed_undo TEXT;
ALTER TABLE updates ADD COLUMN undo TEXT;
