-- The verdicts on routes. The newest of a route counts, and is valid while nothing that was proven has changed: died_at is written in
-- the transaction of the change. provider_version follows changes of the provider's row that prove nothing (enabled, max_in_flight,
-- retry), so that a change by a program that knows of no certificates ends them too.
CREATE TABLE certificates (
  id               BINARY(16)        NOT NULL PRIMARY KEY,
  contract         VARBINARY(64)     NOT NULL,
  contract_version INT UNSIGNED      NOT NULL,
  provider         VARBINARY(64)     NOT NULL,
  provider_version INT UNSIGNED      NOT NULL,
  rule_version     INT UNSIGNED      NOT NULL COMMENT 'of the program: what "proven" means',
  subject          BINARY(32)        NOT NULL COMMENT 'digest of everything that was proven',
  passed           TINYINT UNSIGNED  NOT NULL COMMENT 'the verdict then',
  rounds           SMALLINT UNSIGNED NOT NULL,
  report           LONGTEXT          NOT NULL COMMENT 'JSON',
  issued_at        DATETIME(6)       NOT NULL,
  expires_at       DATETIME(6)       NOT NULL,
  died_at          DATETIME(6)       NULL COMMENT 'what was proven has changed',
  superseded_at    DATETIME(6)       NULL COMMENT 'there is a newer verdict on the route',
  newest           TINYINT UNSIGNED GENERATED ALWAYS AS (IF(superseded_at IS NULL, 1, NULL)) VIRTUAL,
  UNIQUE KEY verdict (contract, contract_version, provider, newest),
  KEY provider_newest (provider, newest),
  KEY newest_expires (newest, expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
