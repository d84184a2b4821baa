-- Questions are asked provider by provider.
ALTER TABLE attempts
  ADD KEY provider_ask (provider, next_ask_at);
