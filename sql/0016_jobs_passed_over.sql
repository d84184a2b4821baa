-- Which routes were passed over, and why.
ALTER TABLE jobs
  ADD COLUMN passed_over TEXT NULL COMMENT 'JSON objects with commas between';
