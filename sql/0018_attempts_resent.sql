-- The same request may go out more than once under one key. What is heard of one of these sendings says nothing of the others.
ALTER TABLE attempts
  ADD COLUMN resent INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how often the same request was sent again',
  ADD COLUMN unsent INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'of these, how many never left for certain';
