-- Certifications that are asked for or under way: work for the pollers. A row goes when its verdict is written. One that a dead poller
-- had begun is begun again by another.
CREATE TABLE certify_runs (
  id               BINARY(16)        NOT NULL PRIMARY KEY,
  contract         VARBINARY(64)     NOT NULL,
  contract_version INT UNSIGNED      NOT NULL,
  provider         VARBINARY(64)     NOT NULL,
  claimed_by       BINARY(16)        NULL COMMENT 'the poller whose lease holds it',
  done             INT UNSIGNED      NOT NULL DEFAULT 0 COMMENT 'fixtures, over all rounds',
  total            INT UNSIGNED      NOT NULL,
  created_at       DATETIME(6)       NOT NULL,
  UNIQUE KEY route (contract, contract_version, provider)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
