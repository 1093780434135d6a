-- Writes units that append events of one task to its thread and nothing else, each to another thread. `given` holds lists: places of
-- threads and tasks, epochs, counts of events, and where the first and the last event of the task is. Says the verdict of each.
CREATE FUNCTION holdfast.write_emits(
  given jsonb, bodies text[], now_at bigint, th_n bigint[], th_head bigint[], th_at bigint[],
  ta_n bigint[], ta_thread bigint[], ta_running boolean[], ta_epoch bigint[]
)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  places integer[] := given ->> 'thread';
  tasks integer[] := given ->> 'task';
  epochs bigint[] := given ->> 'epoch';
  counts bigint[] := given ->> 'count';
  -- Null of those that are refused.
  firsts bigint[];
BEGIN
  IF cardinality(bodies) <> cardinality(places) THEN
    RAISE EXCEPTION '% pieces of the log cannot be of % units', cardinality(bodies), cardinality(places);
  END IF;
  firsts := ARRAY(
    SELECT CASE WHEN ta_thread[x.task] = th_n[x.place] AND ta_running[x.task] AND ta_epoch[x.task] = x.epoch
      THEN th_head[x.place] + 1 END
    FROM unnest(places, tasks, epochs) WITH ORDINALITY AS x (place, task, epoch, n) ORDER BY x.n
  );
  INSERT INTO holdfast.chunks (thread, first, last, at, body)
  SELECT th_n[x.place], x.first, x.first + x.count - 1, greatest(th_at[x.place], now_at), x.body
  FROM unnest(places, firsts, counts, bodies) AS x (place, first, count, body)
  WHERE x.first IS NOT NULL;
  UPDATE holdfast.threads t SET head = x.first + x.count - 1, at = greatest(t.at, now_at)
  FROM unnest(places, firsts, counts) AS x (place, first, count)
  WHERE t.n = th_n[x.place] AND x.first IS NOT NULL;
  UPDATE holdfast.tasks t SET seq = x.first + x."to",
    first_seq = CASE WHEN t.first_seq = 0 THEN x.first + x."from" ELSE t.first_seq END
  FROM unnest(tasks, firsts, (given ->> 'from')::bigint[], (given ->> 'to')::bigint[]) AS x (task, first, "from", "to")
  WHERE t.n = ta_n[x.task] AND x.first IS NOT NULL;
  RETURN ARRAY(
    SELECT CASE
      WHEN x.first IS NULL THEN '"fenced"'
      WHEN th_at[x.place] <= now_at THEN x.first::text
      ELSE json_build_object('first', x.first, 'at', th_at[x.place], 'taken', NULL, 'removed', NULL)::text
    END
    FROM unnest(places, firsts) WITH ORDINALITY AS x (place, first, n) ORDER BY x.n
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
  said text;
  now_at bigint;
  keys text[] := given ->> 'keys';
  tasks text[] := given ->> 'tasks';
  th_n bigint[];
  th_head bigint[];
  th_at bigint[];
  ta_n bigint[];
  ta_thread bigint[];
  ta_running boolean[];
  ta_epoch bigint[];
BEGIN
  said := holdfast.lane_answer(lane, number);
  IF said IS NOT NULL THEN
    RETURN said;
  END IF;
  SELECT array_agg(t.n), array_agg(t.head), array_agg(t.at) INTO th_n, th_head, th_at
  FROM (SELECT t.n, t.head, t.at FROM holdfast.threads t WHERE t.key = ANY (keys) ORDER BY t.key FOR NO KEY UPDATE) t;
  IF cardinality(th_n) IS DISTINCT FROM cardinality(keys) THEN
    SELECT array_agg(t.n ORDER BY k.place), array_agg(t.head ORDER BY k.place), array_agg(t.at ORDER BY k.place)
    INTO th_n, th_head, th_at
    FROM unnest(keys) WITH ORDINALITY AS k (key, place) LEFT JOIN holdfast.threads t ON t.key = k.key;
  END IF;
  now_at := coalesce((given ->> 'now')::bigint, holdfast.clock_ms());
  SELECT array_agg(k.n), array_agg(k.thread), array_agg(k.status = 'running'), array_agg(k.epoch)
  INTO ta_n, ta_thread, ta_running, ta_epoch
  FROM (
    SELECT t.n, t.thread, t.status, t.epoch
    FROM unnest(tasks) WITH ORDINALITY AS g (id, place)
    LEFT JOIN holdfast.tasks t ON t.id = g.id
    ORDER BY g.place
  ) k;
  said := '{"at":' || now_at || ',"verdicts":[' || array_to_string(holdfast.write_emits(
    given -> 'emits', string_to_array(lines, E'\x01'), now_at, th_n, th_head, th_at, ta_n, ta_thread, ta_running, ta_epoch
  ), ',') || ']}';
  UPDATE holdfast.lanes l SET batch = number, answer = said, used_at = now_at WHERE l.id = lane;
  RETURN said;
END
$$;
