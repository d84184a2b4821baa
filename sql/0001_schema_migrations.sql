-- What has been applied. A row without applied_at was begun and not seen to end: it is run again.
CREATE TABLE IF NOT EXISTS schema_migrations (
  number     INT UNSIGNED   NOT NULL PRIMARY KEY,
  name       VARBINARY(100) NOT NULL,
  sha256     BINARY(32)     NOT NULL COMMENT 'of the file as it was applied',
  applied_at DATETIME(6)    NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
