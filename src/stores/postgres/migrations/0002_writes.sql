-- What `commit_units` writes with. These functions are called by programs of every minor of this major: a migration that changes
-- what one of them is given or gives back adds another beside it.

-- Writes what units put into tables of rows, all of a kind by one statement: one row at a time costs several times as much.
--
-- `rows` are lists by kind, each row with the number of its unit. The arrays `added_*` and `changed_*` go with the lists `added`
-- and `changed` of tasks and hold what the commit decides of them: without a number a task is not written. By unit there are the
-- places of their threads, their first numbers (null if refused), and the head and instant of their threads after them.
CREATE FUNCTION holdfast.write_rows(
  rows jsonb, keys text[], th_n bigint[],
  places integer[], firsts bigint[], heads bigint[], ats bigint[],
  added_n bigint[], added_first bigint[], added_seq bigint[],
  changed_n bigint[], changed_first bigint[], changed_seq bigint[], changed_progress double precision[], changed_usage text[]
)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- A stamp sets its column; what the record says of it counts only while the column is empty. Of the report the record sets
  -- what it decides; for the rest counts what was reported earlier in the batch, else what is stored.
  IF rows ? 'changed' THEN
    UPDATE holdfast.tasks t SET
      type = p.type, agent = p.agent, name = p.name, parent = p.parent, step_key = p.step_key, status = p.status,
      place = p.place, ready = p.ready, taken = p.taken, closure = p.closure, wake = p.wake, node = p.node,
      attempt = p.attempt, epoch = p.epoch, doc = p.doc, result = p.result,
      first_seq = p.first, seq = p.seq,
      end_seq = CASE WHEN p.status NOT IN ('pending', 'running') THEN p.seq END,
      started_seq = CASE WHEN p.stamps ? 'startedSeq' THEN heads[p.unit] ELSE coalesce(t.started_seq, p.started_seq) END,
      created_at = CASE WHEN p.stamps ? 'createdAt' THEN ats[p.unit] ELSE t.created_at END,
      started_at = CASE WHEN p.stamps ? 'startedAt' THEN ats[p.unit] ELSE coalesce(t.started_at, p.started_at) END,
      completed_at = CASE WHEN p.stamps ? 'completedAt' THEN ats[p.unit] ELSE coalesce(t.completed_at, p.completed_at) END,
      cancel_requested_at = CASE WHEN p.stamps ? 'cancelRequestedAt' THEN ats[p.unit]
        ELSE coalesce(t.cancel_requested_at, p.cancel_requested_at) END,
      progress = CASE WHEN p.reports ? 'progress' THEN p.progress ELSE coalesce(p.reported_progress, t.progress) END,
      usage = CASE WHEN p.reports ? 'usage' THEN p.usage ELSE coalesce(p.reported_usage, t.usage) END
    FROM ROWS FROM (
      jsonb_to_recordset(rows -> 'changed') AS (
        unit integer, type text, agent text, name text, parent text, step_key text, status text, place bigint, ready boolean,
        taken boolean, closure boolean, wake text, node text, attempt bigint, epoch bigint, started_seq bigint,
        started_at bigint, completed_at bigint, cancel_requested_at bigint, progress double precision, usage text, doc text,
        result text, stamps jsonb, reports jsonb
      ),
      unnest(changed_n), unnest(changed_first), unnest(changed_seq), unnest(changed_progress), unnest(changed_usage)
    ) AS p (
      unit, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt, epoch, started_seq,
      started_at, completed_at, cancel_requested_at, progress, usage, doc, result, stamps, reports,
      n, first, seq, reported_progress, reported_usage
    )
    WHERE t.n = ANY (ARRAY[p.n]);
  END IF;
  -- After the changes, which may free what a new task needs: its name, or its turn.
  IF rows ? 'added' THEN
    INSERT INTO holdfast.tasks (
      n, id, thread, principal, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt,
      epoch, first_seq, seq, end_seq, started_seq, created_at, started_at, completed_at, cancel_requested_at, progress, usage,
      doc, input, result
    ) OVERRIDING SYSTEM VALUE
    SELECT p.n, p.id, th_n[places[p.unit]], split_part(keys[places[p.unit]], '/', 1), p.type, p.agent, p.name, p.parent,
      p.step_key, p.status, p.place, p.ready, p.taken, p.closure, p.wake, p.node, p.attempt, p.epoch, p.first, p.seq,
      CASE WHEN p.status NOT IN ('pending', 'running') THEN p.seq END,
      CASE WHEN p.stamps ? 'startedSeq' THEN heads[p.unit] ELSE p.started_seq END,
      CASE WHEN p.stamps ? 'createdAt' THEN ats[p.unit] ELSE p.created_at END,
      CASE WHEN p.stamps ? 'startedAt' THEN ats[p.unit] ELSE p.started_at END,
      CASE WHEN p.stamps ? 'completedAt' THEN ats[p.unit] ELSE p.completed_at END,
      CASE WHEN p.stamps ? 'cancelRequestedAt' THEN ats[p.unit] ELSE p.cancel_requested_at END,
      p.progress, p.usage, p.doc, p.input, p.result
    FROM ROWS FROM (
      jsonb_to_recordset(rows -> 'added') AS (
        unit integer, id text, type text, agent text, name text, parent text, step_key text, status text, place bigint,
        ready boolean, taken boolean, closure boolean, wake text, node text, attempt bigint, epoch bigint, started_seq bigint,
        created_at bigint, started_at bigint, completed_at bigint, cancel_requested_at bigint, progress double precision,
        usage text, doc text, input text, result text, stamps jsonb
      ),
      unnest(added_n), unnest(added_first), unnest(added_seq)
    ) AS p (
      unit, id, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt, epoch,
      started_seq, created_at, started_at, completed_at, cancel_requested_at, progress, usage, doc, input, result, stamps,
      n, first, seq
    )
    WHERE p.n IS NOT NULL;
  END IF;
  IF rows ? 'hooks' THEN
    UPDATE holdfast.tasks t SET hook = h.hook, hook_at = CASE WHEN h.stamped THEN ats[h.unit] ELSE h.hook_at END
    FROM jsonb_to_recordset(rows -> 'hooks') AS h (unit integer, task text, hook text, hook_at bigint, stamped boolean)
    WHERE t.id = ANY (ARRAY[h.task]) AND (t.thread = th_n[places[h.unit]]) IS TRUE AND t.status NOT IN ('pending', 'running')
      AND firsts[h.unit] IS NOT NULL;
  END IF;
  IF rows ? 'mail' THEN
    INSERT INTO holdfast.mail (thread, task, id, place, content, doc)
    SELECT th_n[places[m.unit]], m.task, m.id, m.place, m.content, m.doc
    FROM jsonb_to_recordset(rows -> 'mail') AS m (unit integer, task text, id text, place bigint, content text, doc text)
    WHERE firsts[m.unit] IS NOT NULL;
  END IF;
  IF rows ? 'read' THEN
    DELETE FROM holdfast.mail m USING jsonb_to_recordset(rows -> 'read') AS r (unit integer, id text)
    WHERE m.thread = ANY (ARRAY[th_n[places[r.unit]]]) AND m.id = ANY (ARRAY[r.id])
      AND firsts[r.unit] IS NOT NULL;
  END IF;
  IF rows ? 'messages' THEN
    INSERT INTO holdfast.messages (thread, seq, id, role, finish, task, at, parts)
    SELECT th_n[places[m.unit]], firsts[m.unit] + m.event, m.id, m.role, m.finish, m.task, ats[m.unit], m.parts
    FROM jsonb_to_recordset(rows -> 'messages') AS m (
      unit integer, event bigint, id text, role text, finish text, task text, parts text
    )
    WHERE firsts[m.unit] IS NOT NULL;
  END IF;
  IF rows ? 'steps' THEN
    INSERT INTO holdfast.steps (task, key, value, seq, doc)
    SELECT s.task, s.key, s.value, heads[s.unit], s.doc
    FROM jsonb_to_recordset(rows -> 'steps') AS s (unit integer, task text, key text, value text, doc text)
    WHERE firsts[s.unit] IS NOT NULL;
  END IF;
  IF rows ? 'forget' THEN
    DELETE FROM holdfast.steps s USING jsonb_to_recordset(rows -> 'forget') AS f (unit integer, task text)
    WHERE s.task = ANY (ARRAY[f.task]) AND firsts[f.unit] IS NOT NULL;
    DELETE FROM holdfast.mail m USING jsonb_to_recordset(rows -> 'forget') AS f (unit integer, task text)
    WHERE m.task = ANY (ARRAY[f.task]) AND (m.thread = th_n[places[f.unit]]) IS TRUE
      AND firsts[f.unit] IS NOT NULL;
  END IF;
END
$$;

-- Removes the front of a log and says up to which number: some rows of it, so that nobody who appends is held up by it.
CREATE FUNCTION holdfast.trim_log(thread_n bigint, up_to bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  row_count_max CONSTANT integer := 128;
  length_max CONSTANT integer := 262144;
  reached bigint;
BEGIN
  SELECT max(r.last) INTO reached
  FROM (
    SELECT f.last, row_number() OVER w AS place, sum(f.length) OVER w AS length
    FROM (
      SELECT c.first, c.last, octet_length(c.body) AS length FROM holdfast.chunks c
      WHERE c.thread = thread_n AND c.first <= up_to ORDER BY c.first LIMIT row_count_max
    ) f
    WINDOW w AS (ORDER BY f.first)
  ) r
  WHERE r.last <= up_to AND (r.place = 1 OR r.length <= length_max);
  IF reached IS NOT NULL THEN
    DELETE FROM holdfast.chunks c WHERE c.thread = thread_n AND c.first <= reached;
  END IF;
  RETURN reached;
END
$$;

-- Removes tasks of a thread, all unless it is said how many, what hangs on them and what was said in them. Says which.
CREATE FUNCTION holdfast.erase_tasks(thread_n bigint, count_max bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  numbers bigint[];
  ids text[];
  lowest bigint;
  highest bigint;
BEGIN
  SELECT array_agg(d.n), array_agg(d.id), min(d.first_seq), max(d.seq) INTO numbers, ids, lowest, highest
  FROM (
    SELECT t.n, t.id, t.first_seq, t.seq FROM holdfast.tasks t WHERE t.thread = thread_n ORDER BY t.n LIMIT count_max
  ) d;
  DELETE FROM holdfast.messages m
  WHERE m.thread = thread_n AND m.seq BETWEEN lowest AND highest AND m.task = ANY (ids);
  DELETE FROM holdfast.steps s WHERE s.task = ANY (ids);
  DELETE FROM holdfast.questions q WHERE q.task = ANY (ids);
  DELETE FROM holdfast.mail m WHERE m.task = ANY (ids) AND m.thread = thread_n;
  DELETE FROM holdfast.keys k WHERE k.task = ANY (ids);
  DELETE FROM holdfast.tasks t WHERE t.n = ANY (numbers);
  RETURN coalesce(numbers, '{}');
END
$$;

-- Removes what a thread holds beside tasks.
CREATE FUNCTION holdfast.erase_content(thread_n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM holdfast.chunks c WHERE c.thread = thread_n;
  DELETE FROM holdfast.messages m WHERE m.thread = thread_n;
  DELETE FROM holdfast.mail m WHERE m.thread = thread_n;
END
$$;

-- The results that a unit takes and its questions, which look at rows that were written before. Says which results it took.
CREATE FUNCTION holdfast.write_rest(body jsonb, thread_n bigint, owner text, unit_at bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  took jsonb;
  row_count integer;
  q record;
BEGIN
  IF body ? 'take' THEN
    WITH asked AS (
      SELECT a.id, min(a.place) AS place
      FROM jsonb_array_elements_text(body -> 'take') WITH ORDINALITY AS a (id, place) GROUP BY a.id
    ), taken AS (
      UPDATE holdfast.tasks t SET taken = true FROM asked a
      WHERE t.id = ANY (ARRAY[a.id]) AND t.thread = thread_n
        AND t.status NOT IN ('pending', 'running') AND NOT t.taken AND t.type <> 'run'
      RETURNING a.id, a.place
    )
    SELECT jsonb_agg(taken.id ORDER BY taken.place) INTO took FROM taken;
  END IF;
  IF body ? 'questions' THEN
    FOR q IN SELECT * FROM jsonb_to_recordset(body -> 'questions') AS x (
      is_new boolean, id text, task text, step_key text, open boolean, taken boolean, asked_at bigint, expires_at bigint,
      answered_at bigint, stamp text, doc text
    ) LOOP
      IF q.is_new THEN
        INSERT INTO holdfast.questions (
          id, thread, principal, task, step_key, open, taken, asked_at, expires_at, answered_at, doc
        ) VALUES (
          q.id, thread_n, owner, q.task, q.step_key, q.open, q.taken,
          CASE WHEN q.stamp = 'askedAt' THEN unit_at ELSE q.asked_at END, q.expires_at,
          CASE WHEN q.stamp = 'answeredAt' THEN unit_at ELSE q.answered_at END, q.doc
        );
      ELSE
        UPDATE holdfast.questions x SET open = q.open, taken = q.taken, doc = q.doc,
          answered_at = CASE WHEN q.stamp = 'answeredAt' THEN unit_at ELSE x.answered_at END
        WHERE x.id = q.id AND x.thread = thread_n;
        GET DIAGNOSTICS row_count = ROW_COUNT;
        IF row_count <> 1 THEN
          RAISE EXCEPTION 'The question % cannot be updated: its thread has no such question', q.id;
        END IF;
      END IF;
    END LOOP;
  END IF;
  RETURN took;
END
$$;

-- Two old ones go for each key that comes, so the table never outgrows what its age allows.
CREATE FUNCTION holdfast.write_key(owner text, given jsonb, now_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO holdfast.keys (principal, key, digest, task, at)
  VALUES (owner, given ->> 'key', given ->> 'digest', given ->> 'task', now_at);
  -- Twice what the contract promises, so that a clock put right by a few hours breaks no promise.
  DELETE FROM holdfast.keys k WHERE (k.principal, k.key) IN (
    SELECT o.principal, o.key FROM holdfast.keys o WHERE o.at < now_at - 172800000 ORDER BY o.at LIMIT 2 FOR UPDATE SKIP LOCKED
  );
END
$$;

-- Writes the log of a batch: the pieces of committed units, and of those only what was not emptied by a later unit. `places` and
-- `firsts` are of units, the others of threads.
CREATE FUNCTION holdfast.write_chunks(
  pieces jsonb, bodies text[], places integer[], firsts bigint[], th_n bigint[], th_at bigint[], th_emptied integer[]
)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  units integer[] := ARRAY(SELECT jsonb_array_elements(pieces -> 'unit')::integer);
  froms bigint[] := ARRAY(SELECT jsonb_array_elements(pieces -> 'from')::bigint);
  counts bigint[] := ARRAY(SELECT jsonb_array_elements(pieces -> 'count')::bigint);
BEGIN
  IF cardinality(bodies) <> cardinality(units) THEN
    RAISE EXCEPTION '% pieces of the log cannot be %', cardinality(bodies), cardinality(units);
  END IF;
  IF (pieces -> 'isOnePerThread')::boolean THEN
    INSERT INTO holdfast.chunks (thread, first, last, at, body)
    SELECT th_n[places[x.unit]], firsts[x.unit], firsts[x.unit] + x.count - 1, th_at[places[x.unit]], x.body
    FROM unnest(bodies, units, counts) AS x (body, unit, count)
    WHERE firsts[x.unit] IS NOT NULL AND x.unit >= th_emptied[places[x.unit]];
    RETURN;
  END IF;
  INSERT INTO holdfast.chunks (thread, first, last, at, body)
  SELECT th_n[c.place], min(c.first), max(c.first + c.count) - 1, th_at[c.place], string_agg(c.body, E'\n' ORDER BY c.n)
  FROM (
    -- A reader that wants the last event of a row reads all of it, so a row stops growing somewhere.
    SELECT s.*, (sum(octet_length(s.body)) OVER (PARTITION BY s.place ORDER BY s.n) - octet_length(s.body)) / 65536 AS share
    FROM (
      SELECT x.n, x.body, x.count, places[x.unit] AS place, firsts[x.unit] + x."from" AS first
      FROM unnest(bodies, units, froms, counts) WITH ORDINALITY AS x (body, unit, "from", count, n)
      WHERE firsts[x.unit] IS NOT NULL AND x.unit >= th_emptied[places[x.unit]]
    ) s
  ) c
  GROUP BY c.place, c.share;
END
$$;

-- Locks a lane for its next batch. Says what the batch was answered, if the lane has committed it before.
CREATE FUNCTION holdfast.lane_answer(lane text, number bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  done bigint;
  said text;
BEGIN
  SELECT l.batch, l.answer INTO done, said FROM holdfast.lanes l WHERE l.id = lane FOR UPDATE;
  IF done = number THEN
    RETURN said;
  ELSIF done IS DISTINCT FROM number - 1 THEN
    RAISE EXCEPTION 'The lane is at batch %, not before %', done, number USING ERRCODE = 'HF001';
  END IF;
  RETURN NULL;
END
$$;
