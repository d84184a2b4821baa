-- What is on its way to a provider counts against its max_in_flight: attempts that are starting, and unknown ones whose request
-- is being sent again, which a poller's id marks among all the others in doubt.
ALTER TABLE attempts
  DROP KEY state_provider,
  ADD KEY state_provider (state, provider, claimed_by);
