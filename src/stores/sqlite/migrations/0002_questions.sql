-- What tasks ask of people, kept as long as their tasks. `doc` is what no query looks at.

CREATE TABLE questions (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL,
  principal TEXT NOT NULL,
  task TEXT NOT NULL,
  step_key TEXT NOT NULL,
  open INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER,
  answered_at INTEGER,
  doc TEXT NOT NULL
) STRICT;

-- The safety net under the rules of core; it also finds what goes with a task.
CREATE UNIQUE INDEX questions_by_key ON questions (task, step_key);

-- What decisions, lists and the look for expired ones read, each without a look at what was answered.
CREATE INDEX questions_untaken ON questions (thread, n) WHERE NOT taken;
CREATE INDEX questions_open ON questions (principal, n) WHERE open;
CREATE INDEX questions_expiring ON questions (expires_at, n) WHERE open AND expires_at IS NOT NULL;
