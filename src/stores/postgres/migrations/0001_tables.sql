-- Everything hangs on a thread, whose row numbers its log and is the lock of whatever changes in it. `n` is a row's own
-- number: what other tables refer to, and for tasks the order in which they were first stored. Texts compare by their bytes.
-- `holdfast` stands for the schema that the URL of the store names.

-- The clock of all nodes, in milliseconds.
CREATE FUNCTION holdfast.clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

CREATE TABLE holdfast.meta (
  major integer NOT NULL,
  minor integer NOT NULL,
  next_task bigint NOT NULL
);

INSERT INTO holdfast.meta VALUES (1, 0, 0);

-- One row per node, renewed by itself: the lease of all that the node executes. `offered` are the numbers of the tasks that it
-- was offered last; until then they are offered to no other node. `executing` is how many tasks of which agents with a limit it
-- executes, as of its last claim or count: what claims of other nodes go by while its lease holds.
CREATE TABLE holdfast.nodes (
  id text COLLATE "C" PRIMARY KEY,
  until_at bigint NOT NULL,
  offered bigint[] NOT NULL DEFAULT '{}',
  offered_until bigint NOT NULL DEFAULT 0,
  executing jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- The ways by which nodes write. `batch` is the number of the last batch that was committed through a lane and `answer` what it
-- was answered: a batch that is sent again is answered the same and writes nothing.
CREATE TABLE holdfast.lanes (
  id text COLLATE "C" PRIMARY KEY,
  batch bigint NOT NULL,
  answer text NOT NULL,
  used_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE holdfast.threads (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  principal text COLLATE "C" NOT NULL,
  first bigint NOT NULL,
  head bigint NOT NULL,
  rev bigint NOT NULL,
  wakes bigint NOT NULL,
  at bigint NOT NULL,
  -- What lists are searched by: only every few seconds does it move with the events, because an update that changes no index costs
  -- a fraction of one that does. None of a thread that was emptied, which keeps its row because its numbers go on.
  listed bigint GENERATED ALWAYS AS (CASE WHEN head >= first THEN at / 5000 END) STORED
) WITH (fillfactor = 70);

CREATE INDEX threads_by_newest ON holdfast.threads (principal, listed DESC) WHERE listed IS NOT NULL;

-- The log. A row holds consecutive events of one commit to a thread, one per line.
CREATE TABLE holdfast.chunks (
  thread bigint NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (thread, first)
);

-- Columns are what is searched or changes often; `doc` is the rest of the record. `seq` moves with every event and so is in no
-- index: an update that changes no index costs a fraction of one that does. `end_seq` is the same number, of ended tasks only.
CREATE TABLE holdfast.tasks (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  thread bigint NOT NULL,
  principal text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  agent text COLLATE "C",
  name text COLLATE "C",
  parent text COLLATE "C",
  step_key text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  ready boolean NOT NULL,
  taken boolean NOT NULL,
  closure boolean NOT NULL,
  wake text COLLATE "C",
  node text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  epoch bigint NOT NULL,
  first_seq bigint NOT NULL,
  started_seq bigint,
  seq bigint NOT NULL,
  end_seq bigint,
  created_at bigint NOT NULL,
  started_at bigint,
  completed_at bigint,
  cancel_requested_at bigint,
  progress double precision,
  usage text,
  hook text,
  hook_at bigint,
  doc text NOT NULL,
  input text,
  result text
) WITH (fillfactor = 70);

-- The safety net under the rules of core.
CREATE UNIQUE INDEX tasks_live_name ON holdfast.tasks (thread, name)
  WHERE status IN ('pending', 'running') AND name IS NOT NULL;
CREATE UNIQUE INDEX tasks_running_run ON holdfast.tasks (thread) WHERE status = 'running' AND type = 'run';
CREATE UNIQUE INDEX tasks_spawned ON holdfast.tasks (parent, step_key)
  WHERE parent IS NOT NULL AND step_key IS NOT NULL;

-- What a claim, a decision and a snapshot read, each without a look at what has ended.
CREATE INDEX tasks_startable ON holdfast.tasks (agent, n) WHERE status = 'pending' AND ready AND NOT closure;
CREATE INDEX tasks_held ON holdfast.tasks (node, n)
  WHERE status = 'running' OR (status = 'pending' AND closure);
CREATE INDEX tasks_awaited ON holdfast.tasks (parent)
  WHERE status NOT IN ('pending', 'running') AND NOT taken AND type <> 'run' AND parent IS NOT NULL;
CREATE INDEX tasks_waking ON holdfast.tasks (thread)
  WHERE status NOT IN ('pending', 'running') AND NOT taken AND type <> 'run' AND wake IS NOT NULL;
CREATE INDEX tasks_ended ON holdfast.tasks (thread, coalesce(completed_at, 0), end_seq, n)
  WHERE status NOT IN ('pending', 'running');

-- Lists.
CREATE INDEX tasks_of_thread ON holdfast.tasks (thread, status, n);
CREATE INDEX tasks_of_principal ON holdfast.tasks (status, principal, n);
CREATE INDEX tasks_of_parent ON holdfast.tasks (parent, n) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_name ON holdfast.tasks (principal, name, n) WHERE name IS NOT NULL;
CREATE INDEX tasks_untaken ON holdfast.tasks (principal, coalesce(completed_at, 0), end_seq, n)
  WHERE status NOT IN ('pending', 'running') AND NOT taken AND type <> 'run';
CREATE INDEX tasks_untaken_of_thread ON holdfast.tasks (thread, coalesce(completed_at, 0), end_seq, n)
  WHERE status NOT IN ('pending', 'running') AND NOT taken AND type <> 'run';
CREATE INDEX tasks_owed ON holdfast.tasks (hook_at, n) WHERE hook_at IS NOT NULL;

CREATE TABLE holdfast.messages (
  thread bigint NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  finish text,
  task text COLLATE "C",
  at bigint NOT NULL,
  parts text NOT NULL,
  PRIMARY KEY (thread, seq)
);

CREATE UNIQUE INDEX messages_by_id ON holdfast.messages (thread, id);

-- Messages to tasks, until they are read.
CREATE TABLE holdfast.mail (
  n bigint GENERATED ALWAYS AS IDENTITY,
  thread bigint NOT NULL,
  task text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  content text NOT NULL,
  doc text NOT NULL,
  PRIMARY KEY (thread, id)
);

CREATE INDEX mail_of_task ON holdfast.mail (task);

CREATE TABLE holdfast.steps (
  n bigint GENERATED ALWAYS AS IDENTITY,
  task text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text,
  seq bigint NOT NULL,
  doc text NOT NULL,
  PRIMARY KEY (task, key)
);

-- What tasks ask of people, kept as long as their tasks.
CREATE TABLE holdfast.questions (
  n bigint GENERATED ALWAYS AS IDENTITY,
  id text COLLATE "C" PRIMARY KEY,
  thread bigint NOT NULL,
  principal text COLLATE "C" NOT NULL,
  task text COLLATE "C" NOT NULL,
  step_key text COLLATE "C" NOT NULL,
  open boolean NOT NULL,
  taken boolean NOT NULL,
  asked_at bigint NOT NULL,
  expires_at bigint,
  answered_at bigint,
  doc text NOT NULL
);

CREATE UNIQUE INDEX questions_by_key ON holdfast.questions (task, step_key);
CREATE INDEX questions_untaken ON holdfast.questions (thread, n) WHERE NOT taken;
CREATE INDEX questions_open ON holdfast.questions (principal, n) WHERE open;
CREATE INDEX questions_expiring ON holdfast.questions (expires_at, n) WHERE open AND expires_at IS NOT NULL;

CREATE TABLE holdfast.keys (
  principal text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  task text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (principal, key)
);

CREATE INDEX keys_by_age ON holdfast.keys (at);
CREATE INDEX keys_of_task ON holdfast.keys (task);

-- Long texts are compressed by what is several times as fast as the default, where the server has it.
DO $$
BEGIN
  ALTER TABLE holdfast.chunks ALTER COLUMN body SET COMPRESSION lz4;
  ALTER TABLE holdfast.tasks ALTER COLUMN doc SET COMPRESSION lz4, ALTER COLUMN input SET COMPRESSION lz4,
    ALTER COLUMN result SET COMPRESSION lz4;
  ALTER TABLE holdfast.messages ALTER COLUMN parts SET COMPRESSION lz4;
  ALTER TABLE holdfast.mail ALTER COLUMN content SET COMPRESSION lz4;
  ALTER TABLE holdfast.steps ALTER COLUMN value SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  NULL;
END
$$;
