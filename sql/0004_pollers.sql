-- A poller's id is new at each start. Its lease covers every attempt it has claimed; once it has run out, whoever finds it turns
-- those attempts into unknown and removes the row.
CREATE TABLE pollers (
  id          BINARY(16)     NOT NULL PRIMARY KEY,
  host        VARBINARY(255) NOT NULL,
  pid         INT UNSIGNED   NOT NULL,
  started_at  DATETIME(6)    NOT NULL,
  lease_until DATETIME(6)    NOT NULL,
  KEY lease (lease_until)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
