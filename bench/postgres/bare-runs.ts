import type pg from 'pg'

const node = 'node_00000000-0000-4000-8000-000000000000'
const doc = JSON.stringify({ description: 'go', asked: 'prompt', depth: 0, inbox: true, crashes: 0 })
const endedDoc = JSON.stringify({ description: 'go', asked: 'prompt', depth: 0, inbox: true, crashes: 0, endPlace: 1 })
const parts = JSON.stringify([{ type: 'text', text: 'go' }])

const addThreads = `
  INSERT INTO threads (key, principal, first, head, rev, wakes, at)
  SELECT 'owner/thread-' || x, 'owner', 1, 0, 0, 0, $2 FROM generate_series(0, $1::integer - 1) AS x`

const addTasks = `
  INSERT INTO tasks (id, thread, principal, type, agent, status, place, ready, taken, closure, node, attempt, epoch,
    first_seq, seq, created_at, doc, input)
  SELECT x.id, x.thread, 'owner', 'run', 'nothing', 'pending', 0, true, false, false, '', 0, 0, x.seq, x.seq, $4, $5, '"go"'
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS x (id, thread, seq)`

const claimTasks = `
  SELECT t.n, t.id, t.thread FROM tasks t
  WHERE t.status = 'pending' AND t.ready AND NOT t.closure AND t.agent = 'nothing'
  ORDER BY t.n LIMIT $1 FOR UPDATE SKIP LOCKED`

const startTasks = `
  UPDATE tasks t SET status = 'running', ready = false, node = $3, attempt = 1, epoch = 1, seq = x.seq, started_seq = x.seq,
    started_at = $4
  FROM unnest($1::bigint[], $2::bigint[]) AS x (n, seq) WHERE t.n = x.n`

const endTasks = `
  UPDATE tasks t SET status = 'completed', node = '', seq = x.seq, end_seq = x.seq, completed_at = $3, progress = 1, doc = $4
  FROM unnest($1::bigint[], $2::bigint[]) AS x (n, seq) WHERE t.n = x.n`

const addMessages = `
  INSERT INTO messages (thread, seq, id, role, task, at, parts)
  SELECT x.thread, x.seq, 'msg_' || x.task, 'user', x.task, $4, $5
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS x (thread, seq, task)`

const addChunks = `
  INSERT INTO chunks (thread, first, last, at, body)
  SELECT x.thread, x.first, x.last, $5, x.body
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS x (thread, first, last, body)`

const moveThreads = `
  UPDATE threads t SET head = x.head, rev = t.rev + 1, at = $3
  FROM unnest($1::bigint[], $2::bigint[]) AS x (n, head) WHERE t.n = x.n`

interface Claimed {
  readonly n: string
  readonly id: string
  readonly thread: string
}

/** Four events of a run: accepted, its user message, started, completed. */
const eventsPerRun = 4

/** Accepts, claims and ends runs by plain statements, each for many rows. */
export class BareRuns {
  readonly #client: pg.Client
  readonly #threadCount: number

  constructor(client: pg.Client, threadCount: number) {
    this.#client = client
    this.#threadCount = threadCount
  }

  async begin(): Promise<void> {
    await this.#client.query(addThreads, [this.#threadCount, Date.now()])
  }

  async accept(turn: number, first: number, count: number): Promise<void> {
    const threads = Array.from({ length: count }, (_, n) => first + n + 1)
    const ids = threads.map((thread) => `bg_${turn * this.#threadCount + thread}`)
    const seq = turn * eventsPerRun + 1
    const accepted = ids.map((id, n) => {
      const task = { id, thread: `thread-${threads[n]}`, type: 'run', agent: 'nothing', description: 'go' }
      return `task.accepted\t${id}\t\t\t${JSON.stringify({ task: { ...task, status: 'pending', attempt: 0, epoch: 0 } })}`
    })
    await this.#transaction(async () => {
      await this.#run('tasks', addTasks, [ids, threads, threads.map(() => seq), Date.now(), doc])
      await this.#append(threads, seq, seq, accepted)
    })
  }

  async claim(turn: number, count: number): Promise<readonly Claimed[]> {
    const [from, to] = [turn * eventsPerRun + 2, turn * eventsPerRun + 3]
    let claimed: readonly Claimed[] = []
    await this.#transaction(async () => {
      const found = await this.#client.query<Claimed>({ name: 'claim', text: claimTasks, values: [count] })
      claimed = found.rows
      const [ns, threads, ids] = [
        claimed.map(({ n }) => n),
        claimed.map((row) => row.thread),
        claimed.map(({ id }) => id),
      ]
      const started = ids.map(
        (id) =>
          `message\t${id}\t1\t\t${JSON.stringify({ message: { id: `msg_${id}`, role: 'user', parts } })}\n` +
          `task.started\t${id}\t1\t\t${JSON.stringify({ attempt: 1, node })}`,
      )
      await this.#run('start', startTasks, [ns, ns.map(() => to), node, Date.now()])
      await this.#run('messages', addMessages, [threads, threads.map(() => from), ids, Date.now(), parts])
      await this.#append(threads, from, to, started)
    })
    return claimed
  }

  async end(turn: number, claimed: readonly Claimed[]): Promise<void> {
    const seq = (turn + 1) * eventsPerRun
    const ns = claimed.map(({ n }) => n)
    await this.#transaction(async () => {
      await this.#run('end', endTasks, [ns, ns.map(() => seq), Date.now(), endedDoc])
      const threads = claimed.map((row) => row.thread)
      await this.#append(
        threads,
        seq,
        seq,
        claimed.map(({ id }) => `task.completed\t${id}\t1\t\t{}`),
      )
    })
  }

  async #append(threads: readonly unknown[], first: number, last: number, bodies: readonly string[]): Promise<void> {
    const at = Date.now()
    await this.#run('chunks', addChunks, [threads, threads.map(() => first), threads.map(() => last), bodies, at])
    await this.#run('threads', moveThreads, [threads, threads.map(() => last), at])
  }

  async #transaction(work: () => Promise<void>): Promise<void> {
    await this.#client.query('BEGIN')
    await work()
    await this.#client.query('COMMIT')
  }

  async #run(name: string, text: string, values: unknown[]): Promise<void> {
    await this.#client.query({ name, text, values })
  }
}
