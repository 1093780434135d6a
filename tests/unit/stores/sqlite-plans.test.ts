import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StatementSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { owing } from '../../../src/core/hook.ts'
import { taskId, threadId, threadOf } from '../../../src/core/id.ts'
import { Batch } from '../../../src/stores/sqlite/batch.ts'
import { Connection } from '../../../src/stores/sqlite/connection.ts'
import { readEvents } from '../../../src/stores/sqlite/event-reads.ts'
import { LineBytes } from '../../../src/stores/sqlite/line-bytes.ts'
import { readOffer } from '../../../src/stores/sqlite/offer.ts'
import { packBatch } from '../../../src/stores/sqlite/packed-batch.ts'
import { listQuestions } from '../../../src/stores/sqlite/questions.ts'
import { listTasks, readSteps, readTask } from '../../../src/stores/sqlite/task-reads.ts'
import { TaskWrites } from '../../../src/stores/sqlite/task-writes.ts'
import { listThreads } from '../../../src/stores/sqlite/thread-list.ts'
import {
  highestThread,
  readLivePart,
  readMessages,
  readSnapshot,
  readThreadKeys,
} from '../../../src/stores/sqlite/thread-reads.ts'
import { ThreadWrites } from '../../../src/stores/sqlite/thread-writes.ts'
import { SqliteWriter } from '../../../src/stores/sqlite/writer.ts'
import type { TaskQuery } from '../../../src/stores/store.ts'
import {
  accepting,
  alice,
  changed,
  ended,
  event,
  fenced,
  home,
  ids,
  mailTo,
  question,
  running,
  step,
} from '../../../src/testing/store-suite/builders.ts'

/** Remembers what it was asked to prepare, so that the plans of all of it can be looked at. */
class ListeningConnection extends Connection {
  readonly heard = new Set<string>()

  override prepare(sql: string): StatementSync {
    this.heard.add(sql)
    return super.prepare(sql)
  }
}

let folder: string
let connection: ListeningConnection

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  const path = join(folder, 'store.db')
  new SqliteWriter({ path, mayMigrate: true }).close(0)
  connection = new ListeningConnection(path, 'write')
})

afterAll(() => {
  connection.close()
  rmSync(folder, { recursive: true })
})

/** The steps of the plans of all that `work` prepares. */
function planOf(work: () => void): string[] {
  connection.heard.clear()
  work()
  const statements = [...connection.heard]
  expect(statements.length).toBeGreaterThan(0)
  return statements.flatMap((sql) =>
    connection.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).map((row) => row.detail),
  )
}

/** Those that take longer the larger a table is. */
function dearSteps(work: () => void): string[] {
  return planOf(work).filter(isDear)
}

function isDear(detail: string): boolean {
  if (/^SCAN (json_each|holders|\(subquery-\d+\))/.test(detail)) return false
  return /^SCAN|AUTOMATIC/.test(detail)
}

describe('the plans of a SQLite store', () => {
  it('search an index for everything a commit touches', () => {
    // Too long for the row of its task.
    const long = JSON.stringify('x'.repeat(1_000))
    const full = fenced('bg_0', 1, {
      rev: 1,
      events: [event('custom', 'bg_0')],
      report: { progress: 0.5, usage: { tokens: 1 } },
      tasks: [changed(running('bg_0', { result: long }))],
      messages: [{ id: 'm', role: 'user', parts: '[]', event: 0 }],
      mail: [mailTo('bg_0', 'a')],
      read: ['a'],
      take: ids('bg_0'),
      questions: [
        { record: question('bg_0', 'q_a'), isNew: true, stamp: 'askedAt' },
        { record: question('bg_0', 'q_a', { closed: 'ended' }), isNew: false },
      ],
      steps: [step('bg_0', 'a')],
      hooks: [owing(taskId('bg_0'))],
      forget: ids('bg_1'),
      key: { key: 'k', digest: 'd', task: taskId('bg_0') },
    })
    const steps = dearSteps(() => {
      const [threads, tasks] = [new ThreadWrites(connection), new TaskWrites(connection)]
      const erase = { operation: 'erase', thread: home, rev: 2, erase: true, events: [] } as const
      const trim = { operation: 'trim', thread: home, trim: 1, events: [] } as const
      const units = [accepting(running('bg_0', { input: long }), { rev: 0 }), full, fenced('bg_0', 1), trim, erase]
      const packed = packBatch(units, new LineBytes())
      const moment = { now: 1, nextTask: 1, leaseHolders: [] }
      const batch = new Batch({ connection, threads, tasks }, moment, packed.bytes)
      for (const unit of packed.units) expect(batch.take(unit)).toMatchObject({ committed: true })
      batch.flush()
    })
    expect(steps).toEqual([])
  })

  it('search an index for a live part, a snapshot, a page of the log, a task and its steps', () => {
    const steps = dearSteps(() => {
      highestThread(connection)
      readThreadKeys(connection, 1, 100)
      readLivePart(connection, home)
      readSnapshot(connection, home, { messages: 100, endedTasks: 100 })
      readMessages(connection, home, { after: 1, limit: 100 })
      readEvents(connection, home, { after: 0, limit: 100 })
      readTask(connection, taskId('bg_0'))
      readSteps(connection, taskId('bg_0'))
      listTasks(connection, { owedBy: 1, limit: 9 })
      listTasks(connection, { owedBy: 1, key: home, limit: 9 })
      listQuestions(connection, { id: 'q_a' })
      listQuestions(connection, { principal: alice })
      listQuestions(connection, { principal: alice, thread: threadOf(home) })
      listQuestions(connection, { expiredAt: 1, limit: 9 })
    })
    expect(steps).toEqual([])
  })

  it('search an index for a claim', () => {
    const query = { node: 'node_1', agents: ['echo'], starts: 10, orphans: 10, withCounts: false }
    expect(dearSteps(() => readOffer(connection, [], query, 0))).toEqual([])
  })

  it('count what is open in the order of an index', () => {
    const query = { node: 'node_1', agents: ['echo'], starts: 0, orphans: 0, withCounts: true }
    const plan = planOf(() => readOffer(connection, [], query, 0))
    expect(plan).toContain('SEARCH tasks USING COVERING INDEX tasks_of_principal (status=?)')
    expect(plan).not.toContain('USE TEMP B-TREE FOR GROUP BY')
  })

  it.each<Partial<TaskQuery>>([
    {},
    { thread: threadId('home') },
    { thread: threadId('home'), status: ['pending', 'running'], type: ['run'] },
    { status: ['failed'] },
    { name: 'scout' },
    { parent: taskId('bg_0'), status: ['running'] },
    { untaken: true, cursor: '1.1.1' },
    { untaken: true, thread: threadId('home'), cursor: '1.1.1' },
  ])('search an index for the tasks of %o', (query) => {
    expect(dearSteps(() => listTasks(connection, { principal: alice, limit: 10, ...query }))).toEqual([])
  })

  it('begin an untaken page where the page before ended', () => {
    const query = { principal: alice, untaken: true, cursor: '1.1.1', limit: 10 }
    const plan = planOf(() => listTasks(connection, query))
    expect(plan).toContain('SEARCH tasks USING INDEX tasks_untaken (principal=? AND <expr>>?)')
  })

  it('search an index for the threads of a principal', () => {
    expect(dearSteps(() => listThreads(connection, { principal: alice, cursor: '1/home', limit: 10 }))).toEqual([])
  })

  it('search an index for the threads of all, principal by principal', () => {
    expect(dearSteps(() => listThreads(connection, { cursor: 'alice/1/home', limit: 10 }))).toEqual([])
    expect(dearSteps(() => listThreads(connection, { limit: 10 }))).toEqual([])
  })

  it('are looked at by a check that sees a scan', () => {
    expect(dearSteps(() => connection.get('SELECT count(*) FROM tasks WHERE doc = ?', ended('bg_9').id))).toEqual([
      'SCAN tasks',
    ])
  })
})
