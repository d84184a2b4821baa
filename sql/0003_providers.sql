-- version goes up with every change; an attempt keeps the version that its request was built from. enabled and max_in_flight
-- repeat the definition's, so that the claim can ask for them.
CREATE TABLE providers (
  name          VARBINARY(64)    NOT NULL PRIMARY KEY,
  version       INT UNSIGNED     NOT NULL,
  definition    MEDIUMTEXT       NOT NULL COMMENT 'JSON with defaults filled in; secrets by name only',
  enabled       TINYINT UNSIGNED NOT NULL,
  max_in_flight INT UNSIGNED     NOT NULL COMMENT 'all pollers together',
  created_at    DATETIME(6)      NOT NULL,
  updated_at    DATETIME(6)      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
