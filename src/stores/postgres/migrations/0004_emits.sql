-- Writes units that append events of one task to its thread and nothing else, each to another thread, in the order of their keys. `given`
-- holds lists: the threads' keys, the tasks' ids, epochs, counts of events, and where the first and the last event of the task is. Says the
-- verdict of each.
--
-- Nearly all that is appended is taken, so each row is written by the statement that finds it: a thread, which is locked by that, and then
-- its task, if it may write. What a refused unit has done to its thread is undone before anybody can see it.
CREATE FUNCTION holdfast.write_emits(given jsonb, bodies text[], now_at bigint) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  keys text[] := given ->> 'key';
  tasks text[] := given ->> 'task';
  epochs bigint[] := given ->> 'epoch';
  counts bigint[] := given ->> 'count';
  froms bigint[] := given ->> 'from';
  tos bigint[] := given ->> 'to';
  threads bigint[];
  -- Null of those that are refused.
  firsts bigint[];
  ats bigint[];
  places bigint[];
BEGIN
  IF cardinality(bodies) <> cardinality(keys) THEN
    RAISE EXCEPTION '% pieces of the log cannot be of % units', cardinality(bodies), cardinality(keys);
  END IF;
  WITH grown AS (
    UPDATE holdfast.threads t SET head = t.head + x.count, at = greatest(t.at, now_at)
    FROM unnest(keys, counts) WITH ORDINALITY AS x (key, count, place)
    WHERE t.key = ANY (ARRAY[x.key])
    RETURNING x.place, t.n, t.head - x.count + 1 AS first, t.at
  )
  SELECT array_agg(g.place ORDER BY g.place), array_agg(g.n ORDER BY g.place), array_agg(g.first ORDER BY g.place),
    array_agg(g.at ORDER BY g.place)
  INTO places, threads, firsts, ats FROM grown g;
  IF cardinality(places) IS DISTINCT FROM cardinality(keys) THEN
    -- A thread is gone, and with it the task.
    SELECT array_agg(g.n ORDER BY k.place), array_agg(g.first ORDER BY k.place), array_agg(g.at ORDER BY k.place)
    INTO threads, firsts, ats
    FROM generate_subscripts(keys, 1) AS k (place)
    LEFT JOIN unnest(places, threads, firsts, ats) AS g (place, n, first, at) ON g.place = k.place;
  END IF;

  WITH moved AS (
    UPDATE holdfast.tasks t SET seq = x.first + x."to",
      first_seq = CASE WHEN t.first_seq = 0 THEN x.first + x."from" ELSE t.first_seq END
    FROM unnest(tasks, threads, firsts, epochs, froms, tos) WITH ORDINALITY
      AS x (id, thread, first, epoch, "from", "to", place)
    -- In one test, or a server that knows little of the table yet goes through all that is running for each of them.
    WHERE t.id = ANY (ARRAY[x.id]) AND (t.thread = x.thread AND t.status = 'running' AND t.epoch = x.epoch) IS TRUE
    RETURNING x.place
  )
  SELECT coalesce(array_agg(m.place), '{}') INTO places FROM moved m;
  IF cardinality(places) <> cardinality(keys) THEN
    UPDATE holdfast.threads t SET head = t.head - x.count, at = coalesce(
      (SELECT c.at FROM holdfast.chunks c WHERE c.thread = t.n ORDER BY c.first DESC LIMIT 1), t.at
    )
    FROM unnest(threads, counts) WITH ORDINALITY AS x (n, count, place)
    WHERE t.n = ANY (ARRAY[x.n]) AND NOT x.place = ANY (places);
    firsts := ARRAY(
      SELECT CASE WHEN x.place = ANY (places) THEN x.first END
      FROM unnest(firsts) WITH ORDINALITY AS x (first, place) ORDER BY x.place
    );
  END IF;

  INSERT INTO holdfast.chunks (thread, first, last, at, body)
  SELECT x.thread, x.first, x.first + x.count - 1, x.at, x.body
  FROM unnest(threads, firsts, counts, ats, bodies) AS x (thread, first, count, at, body)
  WHERE x.first IS NOT NULL;
  RETURN ARRAY(
    SELECT CASE
      WHEN x.first IS NULL THEN '"fenced"'
      WHEN x.at = now_at THEN x.first::text
      ELSE json_build_object('first', x.first, 'at', x.at, 'taken', NULL, 'removed', NULL)::text
    END
    FROM unnest(firsts, ats) WITH ORDINALITY AS x (first, at, n) ORDER BY x.n
  );
END
$$;

-- `commit_units` for a batch of nothing but `emits`, which is nearly every batch of a busy node, without all that it has no use for: most of
-- what `commit_units` takes it takes for a batch of one unit.
CREATE FUNCTION holdfast.commit_units_emitting(lane text, number bigint, given jsonb, lines text) RETURNS text
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  said text := holdfast.lane_answer(lane, number);
  now_at bigint := coalesce((given ->> 'now')::bigint, holdfast.clock_ms());
BEGIN
  IF said IS NOT NULL THEN
    RETURN said;
  END IF;
  said := '{"at":' || now_at || ',"verdicts":['
    || array_to_string(holdfast.write_emits(given -> 'emits', string_to_array(lines, E'\x01'), now_at), ',') || ']}';
  UPDATE holdfast.lanes l SET batch = number, answer = said, used_at = now_at WHERE l.id = lane;
  RETURN said;
END
$$;
