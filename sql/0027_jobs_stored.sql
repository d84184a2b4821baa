-- Columns that are computed and have an index are stored. MariaDB's purge opens the table anew to compute one that isn't; a server
-- that is ended while it starts (mariadbd --wsrep_recover, as a node of a cluster does each time) then never ends, and takes all memory.
ALTER TABLE jobs
  DROP KEY gives_up,
  DROP KEY listed,
  DROP KEY due,
  DROP COLUMN gives_up_at,
  DROP COLUMN listed,
  DROP COLUMN queued_for,
  ADD COLUMN gives_up_at DATETIME(6) GENERATED ALWAYS AS (
    IF(state <> 'queued', NULL,
       IF(attempt_count = 0 AND expires_at IS NOT NULL,
          IF(deadline_at IS NULL OR expires_at < deadline_at, expires_at, deadline_at),
          deadline_at))) STORED COMMENT 'a queued job fails for good at this time',
  ADD COLUMN listed TINYINT UNSIGNED GENERATED ALWAYS AS (
    CASE state WHEN 'unknown' THEN 1 WHEN 'failed' THEN 2 WHEN 'cancelled' THEN 3 END) STORED,
  ADD COLUMN queued_for VARBINARY(64) GENERATED ALWAYS AS (IF(state = 'queued', next_provider, NULL)) STORED,
  ADD KEY gives_up (gives_up_at),
  ADD KEY listed (listed, id),
  ADD KEY due (queued_for, run_after);
