-- What `commit_units` writes with. These functions are called by programs of every minor of this major: a migration that changes
-- what one of them is given or gives back adds another beside it.

-- Adds a task, and says its number.
CREATE FUNCTION holdfast.add_task(
  put jsonb, thread_n bigint, owner text, from_seq bigint, last_seq bigint, head_seq bigint, unit_at bigint
)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  added bigint;
BEGIN
  INSERT INTO holdfast.tasks (
    id, thread, principal, type, agent, name, parent, step_key, status, place, ready, taken, closure, wake, node, attempt,
    epoch, first_seq, seq, end_seq, started_seq, created_at, started_at, completed_at, cancel_requested_at, progress, usage,
    doc, input, result
  )
  SELECT p.id, thread_n, owner, p.type, p.agent, p.name, p.parent, p.step_key, p.status, p.place, p.ready, p.taken, p.closure,
    p.wake, p.node, p.attempt, p.epoch, from_seq, last_seq,
    CASE WHEN p.status NOT IN ('pending', 'running') THEN last_seq END,
    CASE WHEN p.stamps ? 'startedSeq' THEN head_seq ELSE p.started_seq END,
    CASE WHEN p.stamps ? 'createdAt' THEN unit_at ELSE p.created_at END,
    CASE WHEN p.stamps ? 'startedAt' THEN unit_at ELSE p.started_at END,
    CASE WHEN p.stamps ? 'completedAt' THEN unit_at ELSE p.completed_at END,
    CASE WHEN p.stamps ? 'cancelRequestedAt' THEN unit_at ELSE p.cancel_requested_at END,
    p.progress, p.usage, p.doc, p.input, p.result
  FROM jsonb_to_record(put) AS p (
    id text, type text, agent text, name text, parent text, step_key text, status text, place bigint, ready boolean,
    taken boolean, closure boolean, wake text, node text, attempt bigint, epoch bigint, started_seq bigint, created_at bigint,
    started_at bigint, completed_at bigint, cancel_requested_at bigint, progress double precision, usage text, doc text,
    input text, result text, stamps jsonb
  )
  RETURNING n INTO added;
  RETURN added;
END
$$;

-- Replaces a task. A stamp sets its column; what the record says of it counts only while the column is empty. Of the report the
-- record sets what it decides; for the rest counts what was reported earlier in the batch, else what is stored.
CREATE FUNCTION holdfast.change_task(
  put jsonb, task_n bigint, from_seq bigint, last_seq bigint, head_seq bigint, unit_at bigint,
  reported_progress double precision, reported_usage text
)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE holdfast.tasks t SET
    type = p.type, agent = p.agent, name = p.name, parent = p.parent, step_key = p.step_key, status = p.status,
    place = p.place, ready = p.ready, taken = p.taken, closure = p.closure, wake = p.wake, node = p.node,
    attempt = p.attempt, epoch = p.epoch, doc = p.doc, result = p.result,
    first_seq = from_seq, seq = last_seq,
    end_seq = CASE WHEN p.status NOT IN ('pending', 'running') THEN last_seq END,
    started_seq = CASE WHEN p.stamps ? 'startedSeq' THEN head_seq ELSE coalesce(t.started_seq, p.started_seq) END,
    created_at = CASE WHEN p.stamps ? 'createdAt' THEN unit_at ELSE t.created_at END,
    started_at = CASE WHEN p.stamps ? 'startedAt' THEN unit_at ELSE coalesce(t.started_at, p.started_at) END,
    completed_at = CASE WHEN p.stamps ? 'completedAt' THEN unit_at ELSE coalesce(t.completed_at, p.completed_at) END,
    cancel_requested_at = CASE WHEN p.stamps ? 'cancelRequestedAt' THEN unit_at
      ELSE coalesce(t.cancel_requested_at, p.cancel_requested_at) END,
    progress = CASE WHEN p.reports ? 'progress' THEN p.progress ELSE coalesce(reported_progress, t.progress) END,
    usage = CASE WHEN p.reports ? 'usage' THEN p.usage ELSE coalesce(reported_usage, t.usage) END
  FROM jsonb_to_record(put) AS p (
    type text, agent text, name text, parent text, step_key text, status text, place bigint, ready boolean, taken boolean,
    closure boolean, wake text, node text, attempt bigint, epoch bigint, started_seq bigint, started_at bigint,
    completed_at bigint, cancel_requested_at bigint, progress double precision, usage text, doc text, result text,
    stamps jsonb, reports jsonb
  )
  WHERE t.n = task_n;
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

-- Removes tasks of a thread, all unless it is said how many, and what hangs on them. Says which.
CREATE FUNCTION holdfast.erase_tasks(thread_n bigint, count_max bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  numbers bigint[];
  ids text[];
BEGIN
  SELECT array_agg(d.n), array_agg(d.id) INTO numbers, ids
  FROM (SELECT t.n, t.id FROM holdfast.tasks t WHERE t.thread = thread_n ORDER BY t.n LIMIT count_max) d;
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

-- What a unit holds beside events and tasks. Says which results it took.
CREATE FUNCTION holdfast.write_rest(
  body jsonb, thread_n bigint, owner text, from_seq bigint, head_seq bigint, unit_at bigint
)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  took jsonb;
  row_count integer;
  q record;
BEGIN
  IF body ? 'mail' THEN
    INSERT INTO holdfast.mail (thread, task, id, place, content, doc)
    SELECT thread_n, m.task, m.id, m.place, m.content, m.doc
    FROM jsonb_to_recordset(body -> 'mail') AS m (task text, id text, place bigint, content text, doc text);
  END IF;
  IF body ? 'read' THEN
    DELETE FROM holdfast.mail m
    WHERE m.thread = thread_n AND m.id = ANY (ARRAY(SELECT jsonb_array_elements_text(body -> 'read')));
  END IF;
  IF body ? 'take' THEN
    WITH asked AS (
      SELECT a.id, min(a.place) AS place
      FROM jsonb_array_elements_text(body -> 'take') WITH ORDINALITY AS a (id, place) GROUP BY a.id
    ), taken AS (
      UPDATE holdfast.tasks t SET taken = true FROM asked a
      WHERE t.id = a.id AND t.thread = thread_n
        AND t.status NOT IN ('pending', 'running') AND NOT t.taken AND t.type <> 'run'
      RETURNING a.id, a.place
    )
    SELECT jsonb_agg(taken.id ORDER BY taken.place) INTO took FROM taken;
  END IF;
  IF body ? 'messages' THEN
    INSERT INTO holdfast.messages (thread, seq, id, role, finish, task, at, parts)
    SELECT thread_n, from_seq + m.event, m.id, m.role, m.finish, m.task, unit_at, m.parts
    FROM jsonb_to_recordset(body -> 'messages') AS m (
      event bigint, id text, role text, finish text, task text, parts text
    );
  END IF;
  IF body ? 'hooks' THEN
    UPDATE holdfast.tasks t SET hook = h.hook, hook_at = CASE WHEN h.stamped THEN unit_at ELSE h.hook_at END
    FROM jsonb_to_recordset(body -> 'hooks') AS h (task text, hook text, hook_at bigint, stamped boolean)
    WHERE t.id = h.task AND t.thread = thread_n AND t.status NOT IN ('pending', 'running');
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
  IF body ? 'steps' THEN
    INSERT INTO holdfast.steps (task, key, value, seq, doc)
    SELECT s.task, s.key, s.value, head_seq, s.doc
    FROM jsonb_to_recordset(body -> 'steps') AS s (task text, key text, value text, doc text);
  END IF;
  IF body ? 'forget' THEN
    DELETE FROM holdfast.steps s WHERE s.task = ANY (ARRAY(SELECT jsonb_array_elements_text(body -> 'forget')));
    DELETE FROM holdfast.mail m
    WHERE m.task = ANY (ARRAY(SELECT jsonb_array_elements_text(body -> 'forget'))) AND m.thread = thread_n;
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
  pieces jsonb, lines text, places integer[], firsts bigint[], th_n bigint[], th_at bigint[], th_emptied integer[]
)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  bodies text[] := string_to_array(lines, E'\x01');
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
