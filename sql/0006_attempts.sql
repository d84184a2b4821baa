-- One try at a job on one provider. one_in_doubt is the rule that no attempt starts while another is in doubt, held by the database:
-- in_doubt is 1 or NULL, and NULLs never collide.
CREATE TABLE attempts (
  id               BINARY(16)        NOT NULL PRIMARY KEY,
  job_id           BINARY(16)        NOT NULL,
  number           INT UNSIGNED      NOT NULL,
  provider         VARBINARY(64)     NOT NULL,
  provider_version INT UNSIGNED      NOT NULL COMMENT 'the row that the request was built from',
  generation       INT UNSIGNED      NOT NULL COMMENT 'the key that the provider sees is <job id>-<generation>',
  state            ENUM('starting','running','unknown','released','succeeded','failed','cancelled','discarded') NOT NULL,
  version_read     BIGINT UNSIGNED   NOT NULL COMMENT 'of the job, when this attempt started',
  in_doubt         TINYINT UNSIGNED GENERATED ALWAYS AS
                     (IF(state IN ('starting','running','unknown'), 1, NULL)) VIRTUAL,
  claimed_by       BINARY(16)        NULL COMMENT 'the poller whose lease holds it while it is starting',
  phase            VARBINARY(16)     NULL COMMENT 'how far the request got',
  reason           VARBINARY(32)     NULL,
  http_status      SMALLINT UNSIGNED NULL,
  detail           TEXT              NULL,
  note             TEXT              NULL COMMENT 'an operator''s',
  retry_at         DATETIME(6)       NULL COMMENT 'not before, as the provider said',
  started_at       DATETIME(6)       NOT NULL,
  finished_at      DATETIME(6)       NULL,
  listed           TINYINT UNSIGNED GENERATED ALWAYS AS (
                     CASE state WHEN 'running' THEN 1 WHEN 'unknown' THEN 2 WHEN 'released' THEN 3 WHEN 'failed' THEN 4
                                WHEN 'cancelled' THEN 5 WHEN 'discarded' THEN 6 END) VIRTUAL COMMENT 'what people list',
  UNIQUE KEY job_number (job_id, number),
  UNIQUE KEY one_in_doubt (job_id, in_doubt),
  KEY state_provider (state, provider),
  KEY listed (listed, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
