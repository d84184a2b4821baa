-- An endpoint that doesn't answer in time is left alone for a while, with all of its owner's messages.
ALTER TABLE webhooks
  ADD COLUMN timeouts   INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'in a row, without an answer in time',
  ADD COLUMN rest_until DATETIME(6)  NULL COMMENT 'nothing is sent there before';
