CREATE TABLE tokens (
  sha256     BINARY(32)              NOT NULL PRIMARY KEY COMMENT 'of the bearer token, which is kept nowhere',
  owner      VARBINARY(255)          NOT NULL,
  role       ENUM('user','operator') NOT NULL,
  created_at DATETIME(6)             NOT NULL,
  expires_at DATETIME(6)             NULL COMMENT 'NULL: never'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
