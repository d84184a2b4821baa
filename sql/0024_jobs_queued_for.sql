-- The provider that a job waits for; NULL for all that isn't queued. It has an index of its own in the next one: a column that is
-- computed and a key on it are each added while others write, both at once aren't.
ALTER TABLE jobs
  ADD COLUMN queued_for VARBINARY(64) GENERATED ALWAYS AS (IF(state = 'queued', next_provider, NULL)) VIRTUAL;
