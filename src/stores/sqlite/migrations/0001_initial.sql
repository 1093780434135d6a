-- Everything hangs on a thread, whose row numbers its log. `n` is a row's own number: what other tables refer to,
-- and for tasks the order in which they were first stored.

CREATE TABLE holdfast_meta (
  major INTEGER NOT NULL,
  minor INTEGER NOT NULL,
  next_task INTEGER NOT NULL,
  -- Something was erased, and traces of it may still be in the files.
  scrub_due INTEGER NOT NULL
) STRICT;

INSERT INTO holdfast_meta VALUES (1, 0, 0, 0);

CREATE TABLE threads (
  n INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  first INTEGER NOT NULL,
  head INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  wakes INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;

-- Those that have events. One that was emptied keeps its row, because its numbers go on.
CREATE INDEX threads_by_newest ON threads (principal, at DESC, key) WHERE head >= first;

-- The log. A row holds the consecutive events of one commit to a thread, one per line.

CREATE TABLE chunks (
  n INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX chunks_by_first ON chunks (thread, first);

-- Columns are what is searched or changes often; `doc` is the rest of the record. What a task was given and what it
-- gave back have tables of their own unless they are short, because an update writes a whole row anew.

CREATE TABLE tasks (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL,
  principal TEXT NOT NULL,
  type TEXT NOT NULL,
  agent TEXT,
  name TEXT,
  parent TEXT,
  step_key TEXT,
  status TEXT NOT NULL,
  place INTEGER NOT NULL,
  ready INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  closure INTEGER NOT NULL,
  wake TEXT,
  node TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  started_seq INTEGER,
  seq INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  cancel_requested_at INTEGER,
  progress REAL,
  usage TEXT,
  doc TEXT NOT NULL,
  live INTEGER AS (status IN ('pending', 'running')),
  startable INTEGER AS (status = 'pending' AND ready AND NOT closure),
  held INTEGER AS (status = 'running' OR (status = 'pending' AND closure)),
  untaken INTEGER AS (status NOT IN ('pending', 'running') AND NOT taken AND type <> 'run')
) STRICT;

-- The safety net under the rules of core.
CREATE UNIQUE INDEX tasks_live_name ON tasks (thread, name) WHERE live AND name IS NOT NULL;
CREATE UNIQUE INDEX tasks_running_run ON tasks (thread) WHERE status = 'running' AND type = 'run';
CREATE UNIQUE INDEX tasks_spawned ON tasks (parent, step_key) WHERE parent IS NOT NULL AND step_key IS NOT NULL;

-- What a claim, a decision and a snapshot read, each without a look at what has ended.
CREATE INDEX tasks_startable ON tasks (agent, n) WHERE startable;
CREATE INDEX tasks_held ON tasks (node, n) WHERE held;
CREATE INDEX tasks_awaited ON tasks (parent) WHERE untaken AND parent IS NOT NULL;
CREATE INDEX tasks_waking ON tasks (thread) WHERE untaken AND wake IS NOT NULL;
CREATE INDEX tasks_ended ON tasks (thread, coalesce(completed_at, 0), seq, n) WHERE NOT live;

-- Lists.
CREATE INDEX tasks_of_thread ON tasks (thread, status, n);
CREATE INDEX tasks_of_principal ON tasks (status, principal, n);
CREATE INDEX tasks_of_parent ON tasks (parent, n) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_name ON tasks (principal, name, n) WHERE name IS NOT NULL;
CREATE INDEX tasks_untaken ON tasks (principal, coalesce(completed_at, 0), seq, n) WHERE untaken;
CREATE INDEX tasks_untaken_of_thread ON tasks (thread, coalesce(completed_at, 0), seq, n) WHERE untaken;

CREATE TABLE inputs (
  task INTEGER PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE results (
  task INTEGER PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE messages (
  n INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  role TEXT NOT NULL,
  finish TEXT,
  task TEXT,
  at INTEGER NOT NULL,
  parts TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX messages_by_seq ON messages (thread, seq);
CREATE UNIQUE INDEX messages_by_id ON messages (thread, id);

-- Messages to tasks, until they are read.

CREATE TABLE mail (
  n INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  task TEXT NOT NULL,
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  content TEXT NOT NULL,
  doc TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX mail_by_id ON mail (thread, id);
CREATE INDEX mail_of_task ON mail (task);

CREATE TABLE steps (
  n INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT,
  seq INTEGER NOT NULL,
  doc TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX steps_by_key ON steps (task, key);

CREATE TABLE keys (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  task TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_age ON keys (at);
CREATE INDEX keys_of_task ON keys (task);
