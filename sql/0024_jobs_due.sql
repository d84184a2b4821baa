-- Whether anything is due at a provider, however many owners' jobs wait there for a later time: the first row of its queue by time.
-- NULL for all that isn't queued.
ALTER TABLE jobs
  ADD COLUMN queued_for VARBINARY(64) GENERATED ALWAYS AS (IF(state = 'queued', next_provider, NULL)) VIRTUAL,
  ADD KEY due (queued_for, run_after);
