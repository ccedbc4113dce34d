-- The URL of a webhook is a credential: whoever has it can send messages. It is in `sealed_url`, and `shown_url` is what lists show. Then
-- `url` is the address of no host. While `url` is another one, it counts: it was written before, or by a node of an older release.

ALTER TABLE webhooks ADD COLUMN sealed_url TEXT;
ALTER TABLE webhooks ADD COLUMN shown_url TEXT;
