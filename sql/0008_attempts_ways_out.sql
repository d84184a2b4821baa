-- How a doubt is settled without a person: work that the provider has acknowledged, and what it is asked about it.
ALTER TABLE attempts
  ADD COLUMN reference   VARBINARY(512)   NULL COMMENT 'the provider''s own name for the work',
  ADD COLUMN overdue_at  DATETIME(6)      NULL COMMENT 'while running: unknown from this time on',
  ADD COLUMN asked       INT UNSIGNED     NOT NULL DEFAULT 0 COMMENT 'how often the provider was asked what became of it',
  ADD COLUMN next_ask_at DATETIME(6)      NULL COMMENT 'NULL: nobody asks',
  ADD COLUMN last_answer TEXT             NULL COMMENT 'to the last question, in words',
  ADD COLUMN cancel_due  TINYINT UNSIGNED NOT NULL DEFAULT 0 COMMENT '1: the provider is to be told that it is cancelled',
  ADD COLUMN settled_by  VARBINARY(255)   NULL COMMENT 'the operator whose word it was',
  ADD COLUMN settled_at  DATETIME(6)      NULL COMMENT 'when that was said',
  ADD KEY next_ask (next_ask_at),
  ADD KEY overdue (overdue_at);
