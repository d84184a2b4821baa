-- One row for each result that was thrown away. Of the payload only its digest and size stay.
CREATE TABLE races (
  id         BINARY(16)      NOT NULL PRIMARY KEY,
  job_id     BINARY(16)      NOT NULL,
  attempt_id BINARY(16)      NOT NULL,
  winner     BINARY(16)      NULL COMMENT 'the attempt that holds the slot, if one does',
  why        VARBINARY(32)   NOT NULL,
  sha256     BINARY(32)      NOT NULL,
  bytes      BIGINT UNSIGNED NOT NULL,
  created_at DATETIME(6)     NOT NULL,
  UNIQUE KEY attempt_payload (attempt_id, sha256),
  KEY job (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
