-- The routes of every version, in order of preference. The first needs no certificate.
CREATE TABLE contract_routes (
  name     VARBINARY(64)    NOT NULL,
  version  INT UNSIGNED     NOT NULL,
  place    TINYINT UNSIGNED NOT NULL COMMENT 'from 0',
  provider VARBINARY(64)    NOT NULL,
  PRIMARY KEY (name, version, place),
  UNIQUE KEY once (name, version, provider),
  KEY provider (provider)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
