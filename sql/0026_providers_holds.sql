-- In a Galera cluster a lock holds at its own node only, and a row that two nodes write is what keeps them apart. What counts on the
-- provider's row as it is, a claim above all, adds one here; a change of the row writes it anyway. A single server writes none of it.
ALTER TABLE providers
  ADD COLUMN holds BIGINT UNSIGNED NOT NULL DEFAULT 0;
