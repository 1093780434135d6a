// BullMQ on Redis, by ioredis: a run is a job, its events are its progress, and one QueueEvents of the process tells all of them to the
// SSE responses of that job. Given: the URL of Redis. The worker takes 1,000 jobs at a time, so that those that wait do not keep
// others from starting; ended ones are removed, as its documentation advises for production.

import { Queue, QueueEvents, Worker } from 'bullmq'
import { type Sse, serveHost } from './sse-host.ts'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

const connection = { url: process.argv[2] ?? '', maxRetriesPerRequest: null }
const name = 'runs'
const queue = new Queue<Work>(name, { connection, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } })
const events = new QueueEvents(name, { connection })

const worker = new Worker<Work>(
  name,
  async (run, _token, signal) => {
    if (run.data.kind === 'emit') {
      await produce(run.data, (tick) => run.updateProgress({ ...tick }))
      noteEnded()
      return
    }
    noteWaiting()
    await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('cancelled')))
    })
  },
  { connection, concurrency: 1_000 },
)
await Promise.all([queue.waitUntilReady(), events.waitUntilReady(), worker.waitUntilReady()])

const watchers = new Map<string, Set<Sse>>()

function tell(id: string, data: unknown): void {
  for (const sse of watchers.get(id) ?? []) void sse.send(data)
}

events.on('progress', ({ jobId, data }) => tell(jobId, data))

function tellEnd(id: string, end: string): void {
  tell(id, { end })
  for (const sse of watchers.get(id) ?? []) sse.end()
}

events.on('completed', ({ jobId }) => tellEnd(jobId, 'completed'))
events.on('failed', ({ jobId }) => tellEnd(jobId, 'failed'))

const url = await serveHost({
  async accept(id, work) {
    await queue.add('run', work, { jobId: id })
  },
  async stream(id, _after, open) {
    const all = watchers.get(id) ?? new Set()
    const sse = open()
    watchers.set(id, all.add(sse))
    await sse.closed
    all.delete(sse)
    if (all.size === 0) watchers.delete(id)
  },
  async cancel(id) {
    worker.cancelJob(id)
  },
})
answerDriver(url)
