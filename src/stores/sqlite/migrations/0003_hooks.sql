-- What is owed to `onEnded`: when it is called next, and how it went so far. Rows of those that owe nothing are in no index.

ALTER TABLE tasks ADD COLUMN hook_at INTEGER;
ALTER TABLE tasks ADD COLUMN hook TEXT;

CREATE INDEX tasks_owed ON tasks (hook_at, n) WHERE hook_at IS NOT NULL;
CREATE INDEX tasks_owed_of_thread ON tasks (thread, hook_at, n) WHERE hook_at IS NOT NULL;
