-- What a result must meet, by name: which version counts now, and where a new job goes first. The versions themselves never change.
-- A contract that was deleted keeps its row, so that no version is ever given twice; jobs in flight keep theirs.
CREATE TABLE contracts (
  name           VARBINARY(64)    NOT NULL PRIMARY KEY,
  version        INT UNSIGNED     NOT NULL COMMENT 'the newest, deleted or not',
  live           TINYINT UNSIGNED NOT NULL COMMENT '0: deleted',
  first_provider VARBINARY(64)    NOT NULL COMMENT 'of the first route',
  created_at     DATETIME(6)      NOT NULL,
  updated_at     DATETIME(6)      NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
