-- Whether anything is due at a provider, however many owners' jobs wait there for a later time: the first row of its queue by time.
ALTER TABLE jobs
  ADD KEY due (queued_for, run_after);
