-- As jobs: computed columns with an index are stored.
ALTER TABLE certificates
  DROP KEY verdict,
  DROP KEY provider_newest,
  DROP KEY newest_expires,
  DROP COLUMN newest,
  ADD COLUMN newest TINYINT UNSIGNED GENERATED ALWAYS AS (IF(superseded_at IS NULL, 1, NULL)) STORED,
  ADD UNIQUE KEY verdict (contract, contract_version, provider, newest),
  ADD KEY provider_newest (provider, newest),
  ADD KEY newest_expires (newest, expires_at);
