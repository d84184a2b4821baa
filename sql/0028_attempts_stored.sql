-- As jobs: computed columns with an index are stored.
ALTER TABLE attempts
  DROP KEY one_in_doubt,
  DROP KEY listed,
  DROP COLUMN in_doubt,
  DROP COLUMN listed,
  ADD COLUMN in_doubt TINYINT UNSIGNED GENERATED ALWAYS AS (IF(state IN ('starting','running','unknown'), 1, NULL)) STORED,
  ADD COLUMN listed TINYINT UNSIGNED GENERATED ALWAYS AS (
    CASE state WHEN 'running' THEN 1 WHEN 'unknown' THEN 2 WHEN 'released' THEN 3 WHEN 'failed' THEN 4
               WHEN 'cancelled' THEN 5 WHEN 'discarded' THEN 6 END) STORED COMMENT 'what people list',
  ADD UNIQUE KEY one_in_doubt (job_id, in_doubt),
  ADD KEY listed (listed, id);
