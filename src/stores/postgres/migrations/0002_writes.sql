-- What `commit_units` writes with. These functions are called by programs of every minor of this major: a migration that changes
-- what one of them is given or gives back adds another beside it.

-- Writes what units put into tables of rows, all of a kind by one statement: one row at a time costs several times as much.
--
-- `rows` has the rows of each kind as lists, one for each column that any of them has, written as SQL writes an array: the server reads
-- them several times as fast as rows in JSON. `unit` is the number of a row's unit. What may be long (inputs, results, values of steps,
-- contents of mail, parts of messages) is in `texts`, and the row has its place there. The arrays `added_*` and `changed_*` go with the lists of
-- `added` and `changed` tasks and hold what the commit decides of them: without a number a task is not written. By unit there are the
-- places of their threads, their first numbers (null if refused), and the head and instant of their threads after them.
CREATE FUNCTION holdfast.write_rows(
  rows jsonb, texts text[], keys text[], th_n bigint[],
  places integer[], firsts bigint[], heads bigint[], ats bigint[],
  added_n bigint[], added_first bigint[], added_seq bigint[],
  changed_n bigint[], changed_first bigint[], changed_seq bigint[], changed_progress double precision[], changed_usage text[]
)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed jsonb := rows -> 'changed';
  added jsonb := rows -> 'added';
  hooks jsonb := rows -> 'hooks';
  mail jsonb := rows -> 'mail';
  read jsonb := rows -> 'read';
  messages jsonb := rows -> 'messages';
  steps jsonb := rows -> 'steps';
  forget jsonb := rows -> 'forget';
BEGIN
  -- A stamp sets its column; what the record says of it counts only while the column is empty. Of the report the record sets
  -- what it decides; for the rest counts what was reported earlier in the batch, else what is stored.
  IF changed IS NOT NULL THEN
    UPDATE holdfast.tasks t SET
      type = p.type, agent = p.agent, name = p.name, parent = p.parent, step_key = p.step_key, status = p.status,
      place = p.place, ready = p.ready, taken = p.taken, closure = p.closure, wake = p.wake, node = p.node,
      attempt = p.attempt, epoch = p.epoch, doc = p.doc, result = texts[p.result],
      first_seq = p.first, seq = p.seq,
      end_seq = CASE WHEN p.status NOT IN ('pending', 'running') THEN p.seq END,
      started_seq = CASE WHEN p.stamps_started_seq THEN heads[p.unit] ELSE coalesce(t.started_seq, p.started_seq) END,
      created_at = CASE WHEN p.stamps_created_at THEN ats[p.unit] ELSE t.created_at END,
      started_at = CASE WHEN p.stamps_started_at THEN ats[p.unit] ELSE coalesce(t.started_at, p.started_at) END,
      completed_at = CASE WHEN p.stamps_completed_at THEN ats[p.unit] ELSE coalesce(t.completed_at, p.completed_at) END,
      cancel_requested_at = CASE WHEN p.stamps_cancel_requested_at THEN ats[p.unit]
        ELSE coalesce(t.cancel_requested_at, p.cancel_requested_at) END,
      progress = CASE WHEN p.reports_progress THEN p.progress ELSE coalesce(p.reported_progress, t.progress) END,
      usage = CASE WHEN p.reports_usage THEN p.usage ELSE coalesce(p.reported_usage, t.usage) END
    FROM unnest(
      (changed ->> 'unit')::integer[], (changed ->> 'type')::text[], (changed ->> 'agent')::text[],
      (changed ->> 'name')::text[], (changed ->> 'parent')::text[], (changed ->> 'step_key')::text[],
      (changed ->> 'status')::text[], (changed ->> 'place')::bigint[], (changed ->> 'ready')::boolean[],
      (changed ->> 'taken')::boolean[], (changed ->> 'closure')::boolean[], (changed ->> 'wake')::text[],
      (changed ->> 'node')::text[], (changed ->> 'attempt')::bigint[], (changed ->> 'epoch')::bigint[],
      (changed ->> 'started_seq')::bigint[], (changed ->> 'started_at')::bigint[],
      (changed ->> 'completed_at')::bigint[], (changed ->> 'cancel_requested_at')::bigint[],
      (changed ->> 'progress')::double precision[], (changed ->> 'usage')::text[], (changed ->> 'doc')::text[],
      (changed ->> 'result')::integer[], (changed ->> 'stamps_started_seq')::boolean[],
      (changed ->> 'stamps_created_at')::boolean[], (changed ->> 'stamps_started_at')::boolean[],
      (changed ->> 'stamps_completed_at')::boolean[], (changed ->> 'stamps_cancel_requested_at')::boolean[],
      (changed ->> 'reports_progress')::boolean[], (changed ->> 'reports_usage')::boolean[], changed_n, changed_first,
      changed_seq, changed_progress, changed_usage
    ) AS p (
      unit, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt, epoch,
      started_seq, started_at, completed_at, cancel_requested_at, progress, usage, doc, result, stamps_started_seq,
      stamps_created_at, stamps_started_at, stamps_completed_at, stamps_cancel_requested_at, reports_progress,
      reports_usage, n, first, seq, reported_progress, reported_usage
    )
    WHERE t.n = ANY (ARRAY[p.n]);
  END IF;
  -- After the changes, which may free what a new task needs: its name, or its turn.
  IF added IS NOT NULL THEN
    INSERT INTO holdfast.tasks (
      n, id, thread, principal, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt,
      epoch, first_seq, seq, end_seq, started_seq, created_at, started_at, completed_at, cancel_requested_at, progress, usage,
      doc, input, result
    ) OVERRIDING SYSTEM VALUE
    SELECT p.n, p.id, th_n[places[p.unit]], split_part(keys[places[p.unit]], '/', 1), p.type, p.agent, p.name, p.parent,
      p.step_key, p.status, p.place, p.ready, p.taken, p.closure, p.wake, p.node, p.attempt, p.epoch, p.first, p.seq,
      CASE WHEN p.status NOT IN ('pending', 'running') THEN p.seq END,
      CASE WHEN p.stamps_started_seq THEN heads[p.unit] ELSE p.started_seq END,
      CASE WHEN p.stamps_created_at THEN ats[p.unit] ELSE p.created_at END,
      CASE WHEN p.stamps_started_at THEN ats[p.unit] ELSE p.started_at END,
      CASE WHEN p.stamps_completed_at THEN ats[p.unit] ELSE p.completed_at END,
      CASE WHEN p.stamps_cancel_requested_at THEN ats[p.unit] ELSE p.cancel_requested_at END,
      p.progress, p.usage, p.doc, texts[p.input], texts[p.result]
    FROM unnest(
      (added ->> 'unit')::integer[], (added ->> 'id')::text[], (added ->> 'type')::text[], (added ->> 'agent')::text[],
      (added ->> 'name')::text[], (added ->> 'parent')::text[], (added ->> 'step_key')::text[],
      (added ->> 'status')::text[], (added ->> 'place')::bigint[], (added ->> 'ready')::boolean[],
      (added ->> 'taken')::boolean[], (added ->> 'closure')::boolean[], (added ->> 'wake')::text[],
      (added ->> 'node')::text[], (added ->> 'attempt')::bigint[], (added ->> 'epoch')::bigint[],
      (added ->> 'started_seq')::bigint[], (added ->> 'created_at')::bigint[], (added ->> 'started_at')::bigint[],
      (added ->> 'completed_at')::bigint[], (added ->> 'cancel_requested_at')::bigint[],
      (added ->> 'progress')::double precision[], (added ->> 'usage')::text[], (added ->> 'doc')::text[],
      (added ->> 'input')::integer[], (added ->> 'result')::integer[], (added ->> 'stamps_started_seq')::boolean[],
      (added ->> 'stamps_created_at')::boolean[], (added ->> 'stamps_started_at')::boolean[],
      (added ->> 'stamps_completed_at')::boolean[], (added ->> 'stamps_cancel_requested_at')::boolean[], added_n,
      added_first, added_seq
    ) AS p (
      unit, id, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt, epoch,
      started_seq, created_at, started_at, completed_at, cancel_requested_at, progress, usage, doc, input, result,
      stamps_started_seq, stamps_created_at, stamps_started_at, stamps_completed_at, stamps_cancel_requested_at, n,
      first, seq
    )
    WHERE p.n IS NOT NULL;
  END IF;
  IF hooks IS NOT NULL THEN
    UPDATE holdfast.tasks t SET hook = h.hook, hook_at = CASE WHEN h.stamped THEN ats[h.unit] ELSE h.hook_at END
    FROM unnest(
      (hooks ->> 'unit')::integer[], (hooks ->> 'task')::text[], (hooks ->> 'hook')::text[],
      (hooks ->> 'hook_at')::bigint[], (hooks ->> 'stamped')::boolean[]
    ) AS h (unit, task, hook, hook_at, stamped)
    WHERE t.id = ANY (ARRAY[h.task]) AND (t.thread = th_n[places[h.unit]]) IS TRUE AND t.status NOT IN ('pending', 'running')
      AND firsts[h.unit] IS NOT NULL;
  END IF;
  IF mail IS NOT NULL THEN
    INSERT INTO holdfast.mail (thread, task, id, place, content, doc)
    SELECT th_n[places[m.unit]], m.task, m.id, m.place, texts[m.content], m.doc
    FROM unnest(
      (mail ->> 'unit')::integer[], (mail ->> 'task')::text[], (mail ->> 'id')::text[], (mail ->> 'place')::bigint[],
      (mail ->> 'content')::integer[], (mail ->> 'doc')::text[]
    ) AS m (unit, task, id, place, content, doc)
    WHERE firsts[m.unit] IS NOT NULL;
  END IF;
  IF read IS NOT NULL THEN
    DELETE FROM holdfast.mail m USING unnest((read ->> 'unit')::integer[], (read ->> 'id')::text[]) AS r (unit, id)
    WHERE m.thread = ANY (ARRAY[th_n[places[r.unit]]]) AND m.id = ANY (ARRAY[r.id])
      AND firsts[r.unit] IS NOT NULL;
  END IF;
  IF messages IS NOT NULL THEN
    INSERT INTO holdfast.messages (thread, seq, id, role, finish, task, at, parts)
    SELECT th_n[places[m.unit]], firsts[m.unit] + m.event, m.id, m.role, m.finish, m.task, ats[m.unit], texts[m.parts]
    FROM unnest(
      (messages ->> 'unit')::integer[], (messages ->> 'event')::bigint[], (messages ->> 'id')::text[],
      (messages ->> 'role')::text[], (messages ->> 'finish')::text[], (messages ->> 'task')::text[],
      (messages ->> 'parts')::integer[]
    ) AS m (unit, event, id, role, finish, task, parts)
    WHERE firsts[m.unit] IS NOT NULL;
  END IF;
  IF steps IS NOT NULL THEN
    INSERT INTO holdfast.steps (task, key, value, seq, doc)
    SELECT s.task, s.key, texts[s.value], heads[s.unit], s.doc
    FROM unnest(
      (steps ->> 'unit')::integer[], (steps ->> 'task')::text[], (steps ->> 'key')::text[],
      (steps ->> 'value')::integer[], (steps ->> 'doc')::text[]
    ) AS s (unit, task, key, value, doc)
    WHERE firsts[s.unit] IS NOT NULL;
  END IF;
  IF forget IS NOT NULL THEN
    DELETE FROM holdfast.steps s USING unnest((forget ->> 'unit')::integer[], (forget ->> 'task')::text[]) AS f (unit, task)
    WHERE s.task = ANY (ARRAY[f.task]) AND firsts[f.unit] IS NOT NULL;
    DELETE FROM holdfast.mail m USING unnest((forget ->> 'unit')::integer[], (forget ->> 'task')::text[]) AS f (unit, task)
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
  units integer[] := pieces ->> 'unit';
  froms bigint[] := pieces ->> 'from';
  counts bigint[] := pieces ->> 'count';
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
