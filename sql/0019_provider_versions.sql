-- A provider's row as it was: what comes back about an attempt is read by the version that its request was built from. Programs
-- older than this write none; a version that is missing here leaves the doubt.
CREATE TABLE provider_versions (
  name       VARBINARY(64) NOT NULL,
  version    INT UNSIGNED  NOT NULL,
  definition MEDIUMTEXT    NOT NULL COMMENT 'as in providers',
  created_at DATETIME(6)   NOT NULL COMMENT 'before providers.created_at: of one that had the name earlier',
  PRIMARY KEY (name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
