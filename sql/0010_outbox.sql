-- What is still to be told, a row a message, written in the same transaction as the change that it tells of. A delivered message's
-- row goes; one that was given up, or whose endpoint is disabled, stays without next_at. The columns between owner and version are
-- the message: the job may have gone on since.
CREATE TABLE outbox (
  id              BINARY(16)      NOT NULL PRIMARY KEY COMMENT 'of the message, the same at every try',
  job_id          BINARY(16)      NOT NULL,
  owner           VARBINARY(255)  NOT NULL,
  type            VARBINARY(32)   NOT NULL,
  idempotency_key VARBINARY(255)  NOT NULL,
  state           VARBINARY(16)   NOT NULL COMMENT 'the job''s, as it was then',
  version         BIGINT UNSIGNED NOT NULL COMMENT 'the job''s, as it was then',
  tries           INT UNSIGNED    NOT NULL DEFAULT 0,
  next_at         DATETIME(6)     NULL COMMENT 'NULL: not tried any more',
  last_answer     TEXT            NULL COMMENT 'in words',
  created_at      DATETIME(6)     NOT NULL COMMENT 'when the job changed',
  KEY next (next_at),
  KEY owner_next (owner, next_at),
  KEY job (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
