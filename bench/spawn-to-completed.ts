// How many tasks per second are spawned, run and completed? Run with `node bench/spawn-to-completed.ts`.
//
// 100 callers, each with a thread of its own, spawn a task that does nothing and wait for its end, one after the other.
// Measured through createRuntime on SQLite, against bare node:sqlite that writes the same rows to the same schema: 100
// tasks accepted and started in one transaction, 100 ended in the next. Both have written 3,000 tasks before the 5,000 that
// count, because each store brings a thread whose code is compiled as it runs. Not measured: what tasks do, one busy
// thread, queues of runs.

import { createRuntime } from '../src/index.ts'
import { bareDatabase } from './bare-database.ts'
import { perSecond, report } from './figures.ts'
import { compare, each, timed } from './rounds.ts'
import { withPath } from './sqlite-load.ts'

const callerCount = 100
const tasksBefore = 30
const tasksPerCaller = 50
const taskCount = callerCount * tasksPerCaller
const node = 'node_00000000-0000-4000-8000-000000000000'

function ours(): Promise<number> {
  return withPath(async (path) => {
    const runtime = createRuntime({ store: `sqlite:${path}`, agents: { nothing: () => undefined } })
    await runtime.opened()
    const complete = (count: number) =>
      each(callerCount, async (caller) => {
        for (let i = 0; i < count; i++) {
          const { id } = await runtime.spawn({ thread: `thread-${caller}`, agent: 'nothing' })
          const ended = await runtime.wait(id)
          if (ended?.status !== 'completed') throw new Error(`${id} is ${ended?.status}`)
        }
      })
    await complete(tasksBefore)
    const took = await timed(() => complete(tasksPerCaller))
    await runtime.close()
    return took
  })
}

function baseline(): Promise<number> {
  return withPath(async (path) => {
    const write = bareWrites(path)
    const complete = (from: number, count: number) => {
      for (let turn = from; turn < from + count; turn++) {
        write.transaction((thread) => write.accept(thread, turn * callerCount + thread, turn))
        write.transaction((thread) => write.end(thread, turn * callerCount + thread, turn))
      }
    }
    complete(0, tasksBefore)
    const took = await timed(() => complete(tasksBefore, tasksPerCaller))
    write.close()
    return took
  })
}

function bareWrites(path: string) {
  const database = bareDatabase(path)
  const addThread = database.prepare(
    'INSERT INTO threads (n, key, principal, first, head, rev, wakes, at) VALUES (?, ?, ?, 1, 0, 0, 0, ?)',
  )
  const addTask = database.prepare(`
    INSERT INTO tasks (n, id, thread, principal, type, agent, status, place, ready, taken, closure, node, attempt, epoch,
      first_seq, started_seq, seq, created_at, started_at, doc)
    VALUES (?, ?, ?, 'owner', 'agent', 'nothing', 'running', ?, 0, 0, 0, ?, 1, 1, ?, ?, ?, ?, ?, ?)`)
  const endTask = database.prepare(
    `UPDATE tasks SET status = 'completed', node = '', seq = ?, completed_at = ?, progress = 1, doc = ? WHERE n = ?`,
  )
  const addChunk = database.prepare('INSERT INTO chunks (thread, first, last, at, body) VALUES (?, ?, ?, ?, ?)')
  const moveThread = database.prepare('UPDATE threads SET head = ?, rev = ?, at = ? WHERE n = ?')
  for (let thread = 0; thread < callerCount; thread++)
    addThread.run(thread, `owner/thread-${thread}`, 'owner', Date.now())
  const doc = { description: 'nothing', asked: 'nothing', depth: 0, inbox: true, crashes: 0 }
  const append = (thread: number, first: number, lines: string[], rev: number) => {
    addChunk.run(thread, first, first + lines.length - 1, Date.now(), lines.join('\n'))
    moveThread.run(first + lines.length - 1, rev, Date.now(), thread)
  }
  return {
    transaction(write: (thread: number) => void): void {
      database.exec('BEGIN IMMEDIATE')
      for (let thread = 0; thread < callerCount; thread++) write(thread)
      database.exec('COMMIT')
    },
    accept(thread: number, n: number, turn: number): void {
      const task = {
        id: `bg_${n}`,
        thread: `thread-${thread}`,
        type: 'agent',
        agent: 'nothing',
        ...doc,
        status: 'pending',
      }
      const accepted = `task.accepted\tbg_${n}\t\t\t${JSON.stringify({ task: { ...task, attempt: 0, epoch: 0 } })}`
      const started = `task.started\tbg_${n}\t1\t\t${JSON.stringify({ attempt: 1, node })}`
      const [seq, at] = [turn * 3 + 1, Date.now()]
      addTask.run(n, `bg_${n}`, thread, turn, node, seq, seq + 1, seq + 1, at, at, JSON.stringify(doc))
      append(thread, seq, [accepted, started], turn * 2 + 1)
    },
    end(thread: number, n: number, turn: number): void {
      endTask.run(turn * 3 + 3, Date.now(), JSON.stringify({ ...doc, endPlace: turn }), n)
      append(thread, turn * 3 + 3, [`task.completed\tbg_${n}\t1\t\t{}`], turn * 2 + 2)
    },
    close: () => database.close(),
  }
}

const { ratio, oursMs, baselineMs } = await compare(5, baseline, ours)
report({
  what: `spawn to completed, ${callerCount} in flight`,
  value: ratio,
  unit: '×',
  atLeast: 0.3,
  of: `${perSecond(taskCount, oursMs)} against ${perSecond(taskCount, baselineMs)} bare`,
})
