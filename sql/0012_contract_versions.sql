-- Every version of every contract; rows are written once. The policies repeat the definition's, for the one who settles a failure.
CREATE TABLE contract_versions (
  name                  VARBINARY(64)    NOT NULL,
  version               INT UNSIGNED     NOT NULL,
  definition            LONGTEXT         NOT NULL COMMENT 'JSON with defaults filled in, digits as written',
  on_never_sent         ENUM('retry','next_route','stop') NOT NULL,
  on_refused            ENUM('retry','next_route','stop') NOT NULL,
  on_retry_later        ENUM('retry','next_route','stop') NOT NULL,
  on_contract_violation ENUM('retry','next_route','stop') NOT NULL,
  created_at            DATETIME(6)      NOT NULL,
  PRIMARY KEY (name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
