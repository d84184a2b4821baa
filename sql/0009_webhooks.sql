-- Where an owner is told what became of its jobs. A secret itself never comes here: `secrets` holds one or two references to where
-- the poller finds them, both of which sign while one takes the other's place.
CREATE TABLE webhooks (
  owner        VARBINARY(255)   NOT NULL PRIMARY KEY,
  url          TEXT             NOT NULL,
  secrets      TEXT             NOT NULL COMMENT 'JSON, an array of ${file:/path} and ${env:NAME}',
  enabled      TINYINT UNSIGNED NOT NULL,
  disabled_why TEXT             NULL,
  created_at   DATETIME(6)      NOT NULL,
  updated_at   DATETIME(6)      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
