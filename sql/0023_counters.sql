-- What only grows, a row each, so that telling it costs no count of rows that come and go.
CREATE TABLE counters (
  name  VARBINARY(32)   NOT NULL PRIMARY KEY,
  total BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
