-- What permitted a fail-over.
ALTER TABLE attempts
  ADD COLUMN certificate_id BINARY(16) NULL COMMENT 'of the route, when the attempt was claimed; NULL: it needed none';
