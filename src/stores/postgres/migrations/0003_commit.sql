-- A commit is one call of `commit_units`, and so one round trip: no transaction ever waits for a node.
--
-- F1 The lane's row is locked first, then the rows of all threads that the batch touches, ascending, then its idempotency
--    keys, ascending. Whatever is read to judge a unit is read by later statements, which see what was committed before.
-- F2 A unit is judged before anything of it is written, in the light of the units before it.
-- F3 What fails after the judging is the unit's fault and fails the whole batch.
-- F4 A batch that its lane has committed before is answered as it was then, and writes nothing.
-- F5 Rows are gathered, and each kind is written by one statement. They are in segments, because some units have to come after
--    what was gathered: before one that is apart, and within one that is split, a segment is written; the last is at the end.
--
-- `given` is `{now?, nextTask?, keys, tasks, locks?, units, puts, segments, textCount?, pieces, emits?}`. `units`, `puts`, `pieces` and
-- `emits` are lists: one for each column, as SQL writes an array, and none for a column that is null in all rows; a segment has such
-- lists for each kind of row (see `write_rows`). `keys`, which is ascending, and `tasks` are one array each; units name threads and tasks
-- by their places there. `puts` are the tasks that units put, in order: a unit has those after `puts` of the unit before up to its own,
-- and each is a row of its segment. `lines` holds, parted by U+0001 and in this order, the pieces of the log, the `textCount` texts that
-- rows name by their place among them, and the bodies of `emits`. `pieces` says of which unit each piece is, where it begins in it and
-- how many events it has, and beside its lists whether no thread has two. Units that only append to a thread, alone in the batch, come
-- after all others: they are `emits`, and so are judged and written together. The answer is `{at, verdicts}`: a number is that of the
-- first event of a committed unit, a text the code of a refusal, an object either with more to say.
CREATE FUNCTION holdfast.commit_units(lane text, number bigint, given jsonb, lines text) RETURNS text
LANGUAGE plpgsql
-- Every statement finds its rows by an index; plans are made once, also while tables are small. Rows of a list are found by
-- `ANY (ARRAY[...])`, one after the other: by `=` a server that looked at a table while it was small goes through all of it. Where
-- something else that is asked of them has an index too, it is asked by `IS TRUE`, which no index is looked through for.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
-- What is absent is null in a list, also on a server that was told to take it for a text.
SET array_nulls = on
AS $$
DECLARE
  said text;
  now_at bigint;
  units jsonb := given -> 'units';
  keys text[] := given ->> 'keys';
  -- Threads that this commit made.
  fresh bigint[] := '{}';
  -- Threads, by their place in `keys`, as the units taken so far have left them.
  th_n bigint[];
  th_first bigint[];
  th_head bigint[];
  th_rev bigint[];
  th_wakes bigint[];
  th_at bigint[];
  th_stale boolean[] := array_fill(false, ARRAY[cardinality(keys)]);
  -- The last unit that emptied the thread: what earlier ones of the batch appended is gone.
  th_emptied integer[] := array_fill(0, ARRAY[cardinality(keys)]);
  tasks text[] := given ->> 'tasks';
  -- Tasks, by their place in `tasks`. What they reported since their row was written is in the last two.
  ta_n bigint[];
  ta_thread bigint[];
  ta_live boolean[];
  ta_running boolean[];
  ta_epoch bigint[];
  ta_first bigint[];
  ta_seq bigint[];
  ta_changed boolean[];
  ta_progress double precision[];
  ta_usage text[];
  -- Puts, in order. A status is 0 for an ended task, 1 for a pending and 2 for a running one; a row is its number among those
  -- that its segment changes, or, below 0, among those it adds.
  pu_task integer[] := given -> 'puts' ->> 'task';
  pu_row integer[] := given -> 'puts' ->> 'row';
  pu_status integer[] := given -> 'puts' ->> 'status';
  pu_epoch bigint[] := given -> 'puts' ->> 'epoch';
  -- Of new ones: where their events are in their unit, or -1 if they have none.
  pu_from bigint[] := given -> 'puts' ->> 'from';
  pu_to bigint[] := given -> 'puts' ->> 'to';
  pu_next integer := 1;
  segment integer := 0;
  -- The unit before is split and was refused: its segment is written before this one.
  is_late boolean := false;
  -- What the commit decides of the rows that the segment has gathered, in the order of its lists.
  added_n bigint[] := '{}';
  added_first bigint[] := '{}';
  added_seq bigint[] := '{}';
  changed_n bigint[] := '{}';
  changed_first bigint[] := '{}';
  changed_seq bigint[] := '{}';
  changed_progress double precision[] := '{}';
  changed_usage text[] := '{}';
  task_place integer;
  r integer;
  u record;
  p record;
  i integer := 0;
  refusal text;
  refused text[] := '{}';
  used record;
  erased bigint[];
  reached bigint;
  removed jsonb;
  took jsonb;
  unit_first bigint;
  unit_at bigint;
  -- By unit; its first number is null if it is refused. `heads` and `ats` are of its thread when it was taken.
  firsts bigint[] := '{}';
  heads bigint[] := '{}';
  ats bigint[] := '{}';
  places integer[] := units ->> 't';
  verdicts text[] := '{}';
  bodies text[] := string_to_array(lines, E'\x01');
  piece_count integer := coalesce(cardinality((given -> 'pieces' ->> 'unit')::integer[]), 0);
  text_count integer := coalesce((given ->> 'textCount')::integer, 0);
  texts text[] := bodies[piece_count + 1 : piece_count + text_count];
BEGIN
  said := holdfast.lane_answer(lane, number);
  IF said IS NOT NULL THEN
    RETURN said;
  END IF;

  IF (SELECT count(*) FROM holdfast.threads t WHERE t.key = ANY (keys)) < cardinality(keys) THEN
    WITH made AS (
      INSERT INTO holdfast.threads (key, principal, first, head, rev, wakes, at)
      SELECT k, split_part(k, '/', 1), 1, 0, 0, 0, 0 FROM unnest(keys) AS k
      WHERE (SELECT t.n FROM holdfast.threads t WHERE t.key = k) IS NULL ORDER BY k COLLATE "C"
      ON CONFLICT (key) DO NOTHING
      RETURNING n
    )
    SELECT coalesce(array_agg(made.n), '{}') INTO fresh FROM made;
  END IF;
  SELECT array_agg(t.n), array_agg(t.first), array_agg(t.head), array_agg(t.rev), array_agg(t.wakes), array_agg(t.at)
  INTO th_n, th_first, th_head, th_rev, th_wakes, th_at
  FROM (SELECT * FROM holdfast.threads t WHERE t.key = ANY (keys) ORDER BY t.key FOR NO KEY UPDATE) t;
  IF cardinality(keys) <> coalesce(cardinality(th_n), 0) THEN
    RAISE EXCEPTION 'A thread is gone' USING ERRCODE = 'serialization_failure';
  END IF;
  IF given ? 'locks' THEN
    PERFORM pg_advisory_xact_lock(k.lock)
    FROM (
      SELECT DISTINCT hashtextextended(l, 'holdfast.keys'::regclass::oid::bigint) AS lock
      FROM jsonb_array_elements_text(given -> 'locks') AS l ORDER BY 1
    ) k;
  END IF;
  now_at := coalesce((given ->> 'now')::bigint, holdfast.clock_ms());

  SELECT array_agg(k.n), array_agg(k.thread), array_agg(k.status IN ('pending', 'running')),
    array_agg(k.status = 'running'), array_agg(k.epoch), array_agg(k.first_seq), array_agg(k.seq),
    array_agg(false), array_agg(NULL::double precision), array_agg(NULL::text)
  INTO ta_n, ta_thread, ta_live, ta_running, ta_epoch, ta_first, ta_seq, ta_changed, ta_progress, ta_usage
  FROM (
    SELECT t.n, t.thread, t.status, t.epoch, t.first_seq, t.seq
    FROM unnest(tasks) WITH ORDINALITY AS g (id, place)
    LEFT JOIN holdfast.tasks t ON t.id = ANY (ARRAY[g.id])
    ORDER BY g.place
  ) k;

  FOR u IN
    SELECT x.*, x.key_text::jsonb AS key, x.body_text::jsonb AS body
    FROM unnest(
      (units ->> 't')::integer[], (units ->> 'rev')::bigint[], (units ->> 'fence')::integer[],
      (units ->> 'epoch')::bigint[], (units ->> 'lapsed')::text[], (units ->> 'key')::text[],
      (units ->> 'ask_key')::text[], (units ->> 'events')::integer[], (units ->> 'from')::bigint[],
      (units ->> 'to')::bigint[], (units ->> 'progress')::double precision[], (units ->> 'usage')::text[],
      (units ->> 'puts')::integer[], (units ->> 'is_apart')::boolean[], (units ->> 'is_split')::boolean[],
      (units ->> 'body')::text[]
    ) AS x (
      t, rev, fence, epoch, lapsed, key_text, ask_key, events, "from", "to", progress, usage, puts, is_apart, is_split,
      body_text
    )
  LOOP
    IF u.is_apart OR is_late THEN
      PERFORM holdfast.write_rows(
        given -> 'segments' -> segment, texts, keys, th_n, places, firsts, heads, ats, added_n, added_first, added_seq,
        changed_n, changed_first, changed_seq, changed_progress, changed_usage
      );
      segment := segment + 1;
      added_n := '{}';
      changed_n := '{}';
      is_late := false;
    END IF;
    i := i + 1;

    IF refused <> '{}' AND u.fence IS NOT NULL AND u.fence || ':' || u.epoch = ANY (refused) THEN
      refusal := '"after_refused"';
    ELSIF u.rev IS NOT NULL AND (u.rev <> th_rev[u.t] OR th_stale[u.t]) THEN
      refusal := '"stale"';
      th_stale[u.t] := true;
    ELSIF u.fence IS NOT NULL AND NOT coalesce(
      ta_thread[u.fence] = th_n[u.t] AND ta_running[u.fence] AND ta_epoch[u.fence] = u.epoch, false
    ) THEN
      refusal := '"fenced"';
    ELSIF u.lapsed IS NOT NULL AND EXISTS (
      SELECT FROM holdfast.nodes h WHERE h.id = u.lapsed AND h.until_at > now_at
    ) THEN
      refusal := '"leased"';
    ELSIF u.key IS NOT NULL OR u.ask_key IS NOT NULL THEN
      SELECT k.task, k.digest INTO used FROM holdfast.keys k
      WHERE k.principal = split_part(keys[u.t], '/', 1) AND k.key = coalesce(u.key ->> 'key', u.ask_key);
      IF FOUND THEN
        refusal := json_build_object('code', 'key_taken', 'task', used.task, 'digest', used.digest)::text;
      ELSIF u.ask_key IS NOT NULL THEN
        refusal := '"key_free"';
      END IF;
    END IF;
    IF refusal IS NOT NULL THEN
      verdicts[i] := refusal;
      refusal := NULL;
      IF u.fence IS NOT NULL THEN
        refused := refused || (u.fence || ':' || u.epoch);
      END IF;
      -- Its rows stay in the lists, without the number that would make them be written.
      WHILE pu_next <= u.puts LOOP
        r := pu_row[pu_next];
        IF r < 0 THEN
          added_n[-r] := NULL;
          added_first[-r] := NULL;
          added_seq[-r] := NULL;
        ELSE
          changed_n[r] := NULL;
          changed_first[r] := NULL;
          changed_seq[r] := NULL;
          changed_progress[r] := NULL;
          changed_usage[r] := NULL;
        END IF;
        pu_next := pu_next + 1;
      END LOOP;
      is_late := coalesce(u.is_split, false);
      CONTINUE;
    END IF;

    unit_first := th_head[u.t] + 1;
    unit_at := greatest(th_at[u.t], now_at);
    firsts[i] := unit_first;
    IF u.events > 0 THEN
      th_head[u.t] := th_head[u.t] + u.events;
      th_at[u.t] := unit_at;
    END IF;
    heads[i] := th_head[u.t];
    ats[i] := unit_at;
    IF u.rev IS NOT NULL THEN
      th_rev[u.t] := u.rev + 1;
    END IF;

    IF u.body IS NOT NULL THEN
      IF u.body ? 'erase' OR u.body ? 'eraseTasks' THEN
        erased := holdfast.erase_tasks(th_n[u.t], (u.body ->> 'eraseTasks')::bigint);
        FOR k IN 1 .. coalesce(cardinality(ta_n), 0) LOOP
          IF ta_n[k] = ANY (erased) THEN
            ta_n[k] := NULL;
            ta_thread[k] := NULL;
          END IF;
        END LOOP;
        removed := jsonb_build_object('events', 0, 'tasks', cardinality(erased));
      END IF;
      IF u.body ? 'erase' THEN
        removed := removed || jsonb_build_object('events', unit_first - th_first[u.t]);
        PERFORM holdfast.erase_content(th_n[u.t]);
        th_first[u.t] := unit_first;
        th_wakes[u.t] := 0;
        th_emptied[u.t] := i;
      ELSIF u.body ? 'trim' THEN
        reached := coalesce(holdfast.trim_log(th_n[u.t], (u.body ->> 'trim')::bigint), th_first[u.t] - 1);
        removed := jsonb_build_object('events', reached + 1 - th_first[u.t], 'tasks', 0);
        th_first[u.t] := reached + 1;
      END IF;
      IF u.body ? 'wakes' THEN
        th_wakes[u.t] := (u.body ->> 'wakes')::bigint;
      END IF;
      IF u.body ? 'ranges' THEN
        FOR p IN SELECT * FROM jsonb_to_recordset(u.body -> 'ranges') AS x (task integer, "from" bigint, "to" bigint) LOOP
          -- An event that names no task of the thread is no error.
          IF ta_thread[p.task] = th_n[u.t] THEN
            IF ta_first[p.task] = 0 THEN
              ta_first[p.task] := unit_first + p."from";
            END IF;
            ta_seq[p.task] := unit_first + p."to";
            ta_changed[p.task] := true;
          END IF;
        END LOOP;
      END IF;
    END IF;
    IF u.fence IS NOT NULL THEN
      IF u."from" IS NOT NULL THEN
        IF ta_first[u.fence] = 0 THEN
          ta_first[u.fence] := unit_first + u."from";
        END IF;
        ta_seq[u.fence] := unit_first + u."to";
        ta_changed[u.fence] := true;
      END IF;
      IF u.progress IS NOT NULL OR u.usage IS NOT NULL THEN
        ta_progress[u.fence] := coalesce(u.progress, ta_progress[u.fence]);
        ta_usage[u.fence] := coalesce(u.usage, ta_usage[u.fence]);
        ta_changed[u.fence] := true;
      END IF;
    END IF;

    WHILE pu_next <= u.puts LOOP
      task_place := pu_task[pu_next];
      r := pu_row[pu_next];
      IF r < 0 THEN
        ta_n[task_place] := nextval('holdfast.tasks_n_seq');
        ta_thread[task_place] := th_n[u.t];
        ta_first[task_place] := CASE WHEN pu_from[pu_next] < 0 THEN 0 ELSE unit_first + pu_from[pu_next] END;
        ta_seq[task_place] := CASE WHEN pu_from[pu_next] < 0 THEN 0 ELSE unit_first + pu_to[pu_next] END;
        added_n[-r] := ta_n[task_place];
        added_first[-r] := ta_first[task_place];
        added_seq[-r] := ta_seq[task_place];
      ELSE
        IF ta_thread[task_place] IS DISTINCT FROM th_n[u.t] THEN
          RAISE EXCEPTION '% cannot be updated: its thread has no such task', tasks[task_place];
        END IF;
        changed_n[r] := ta_n[task_place];
        changed_first[r] := ta_first[task_place];
        changed_seq[r] := ta_seq[task_place];
        changed_progress[r] := ta_progress[task_place];
        changed_usage[r] := ta_usage[task_place];
      END IF;
      ta_live[task_place] := pu_status[pu_next] > 0;
      ta_running[task_place] := pu_status[pu_next] = 2;
      ta_epoch[task_place] := pu_epoch[pu_next];
      IF ta_changed[task_place] THEN
        ta_changed[task_place] := false;
        ta_progress[task_place] := NULL;
        ta_usage[task_place] := NULL;
      END IF;
      pu_next := pu_next + 1;
    END LOOP;
    IF u.is_split THEN
      PERFORM holdfast.write_rows(
        given -> 'segments' -> segment, texts, keys, th_n, places, firsts, heads, ats, added_n, added_first, added_seq,
        changed_n, changed_first, changed_seq, changed_progress, changed_usage
      );
      segment := segment + 1;
      added_n := '{}';
      changed_n := '{}';
    END IF;
    IF u.body ? 'rest' THEN
      took := holdfast.write_rest(u.body -> 'rest', th_n[u.t], split_part(keys[u.t], '/', 1), unit_at);
    END IF;
    IF u.key IS NOT NULL THEN
      PERFORM holdfast.write_key(split_part(keys[u.t], '/', 1), u.key, now_at);
    END IF;

    IF took IS NULL AND removed IS NULL AND unit_at = now_at THEN
      verdicts[i] := unit_first;
    ELSE
      verdicts[i] := json_build_object('first', unit_first, 'at', unit_at, 'taken', took, 'removed', removed)::text;
      took := NULL;
      removed := NULL;
    END IF;
  END LOOP;

  PERFORM holdfast.write_rows(
    given -> 'segments' -> segment, texts, keys, th_n, places, firsts, heads, ats, added_n, added_first, added_seq,
    changed_n, changed_first, changed_seq, changed_progress, changed_usage
  );
  PERFORM holdfast.write_chunks(given -> 'pieces', bodies[:piece_count], places, firsts, th_n, th_at, th_emptied);
  IF cardinality(fresh) > 0 THEN
    -- Made for units of which none was taken.
    DELETE FROM holdfast.threads t
    WHERE t.n = ANY (fresh) AND NOT t.n = ANY (ARRAY(
      SELECT th_n[places[k]] FROM generate_subscripts(places, 1) AS k WHERE firsts[k] IS NOT NULL
    ));
  END IF;
  UPDATE holdfast.threads t SET first = x.first, head = x.head, rev = x.rev, wakes = x.wakes, at = x.at
  FROM (
    SELECT k.n, k.first, k.head, k.rev, k.wakes,
      -- What this commit made and appended nothing to is as old as the commit.
      CASE WHEN k.at = 0 AND k.n = ANY (fresh) THEN now_at ELSE k.at END AS at
    FROM unnest(th_n, th_first, th_head, th_rev, th_wakes, th_at) AS k (n, first, head, rev, wakes, at)
  ) x
  WHERE t.n = ANY (ARRAY[x.n])
    AND (t.first, t.head, t.rev, t.wakes, t.at) IS DISTINCT FROM (x.first, x.head, x.rev, x.wakes, x.at);
  UPDATE holdfast.tasks t SET first_seq = x.first, seq = x.seq, end_seq = CASE WHEN NOT x.live THEN x.seq END,
    progress = coalesce(x.progress, t.progress), usage = coalesce(x.usage, t.usage)
  FROM unnest(ta_n, ta_first, ta_seq, ta_live, ta_progress, ta_usage, ta_changed)
    AS x (n, first, seq, live, progress, usage, changed)
  WHERE t.n = ANY (ARRAY[x.n]) AND x.changed;
  -- A restored task brings a number that nobody handed out.
  IF given ? 'nextTask' THEN
    UPDATE holdfast.meta m SET next_task = (given ->> 'nextTask')::bigint
    WHERE m.next_task < (given ->> 'nextTask')::bigint;
  END IF;

  IF given ? 'emits' THEN
    verdicts := verdicts || holdfast.write_emits(given -> 'emits', bodies[piece_count + text_count + 1:], now_at);
  END IF;

  said := '{"at":' || now_at || ',"verdicts":[' || array_to_string(verdicts, ',') || ']}';
  UPDATE holdfast.lanes l SET batch = number, answer = said, used_at = now_at WHERE l.id = lane;
  RETURN said;
END
$$;
