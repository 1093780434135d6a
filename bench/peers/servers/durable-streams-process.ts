// @durable-streams/server, file-backed in the folder given or in memory, and an application in the same process: it accepts a run,
// creates the run's stream, and has the agent append to it through @durable-streams/client. The producer is the one its README
// recommends for writes, IdempotentProducer with its own settings (batches of at most 1 MiB, 5 ms of linger, 5 in flight). Clients read
// the stream from the server itself, by `live=sse`.

import { setTimeout as sleep } from 'node:timers/promises'
import { DurableStream, IdempotentProducer } from '@durable-streams/client'
import { DurableStreamTestServer } from '@durable-streams/server'
import { serveHost } from './sse-host.ts'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

// It tells of every write that took longer than 50 ms, which on a slow disk costs more than the write.
console.info = () => undefined

const [dataDir = ''] = process.argv.slice(2)
const server = new DurableStreamTestServer({ port: 0, ...(dataDir === '' ? {} : { dataDir }) })
const streamsUrl = await server.start()
/** The offset after the first half of a run's events, which a client that left there would hold. */
const halves = new Map<string, string>()

const create = (id: string) => DurableStream.create({ url: `${streamsUrl}/${id}`, contentType: 'application/json' })

async function run(stream: DurableStream, id: string, work: Work): Promise<void> {
  if (work.kind !== 'emit') return noteWaiting()
  if ((work.count ?? 0) > 0) {
    const producer = new IdempotentProducer(stream, id, {
      autoClaim: true,
      fetch: patientFetch,
      onError: console.error,
    })
    let count = 0
    await produce(work, (tick) => {
      producer.append(JSON.stringify(tick))
      count += 1
      return count * 2 === work.count ? noteHalf(producer, id) : undefined
    })
    await producer.close()
  }
  noteEnded()
}

/** A file-backed stream is at times not found for a moment after it was created, if many are created at once. */
const patientFetch: typeof fetch = async (...request) => {
  for (let tries = 0; ; tries++) {
    const response = await fetch(...request)
    if (response.status !== 404 || tries === 200) return response
    await sleep(5)
  }
}

async function noteHalf(producer: IdempotentProducer, id: string): Promise<void> {
  if (!id.startsWith('replayed')) return
  await producer.flush()
  halves.set(id, producer.lastSuccessfulOffset ?? '-1')
}

const url = await serveHost({
  async accept(id, work) {
    const stream = await create(id)
    run(stream, id, work).catch(console.error)
  },
  stream: () => Promise.reject(new Error('the stream is read from the server of durable streams')),
})
answerDriver(url, {
  streamsUrl: () => streamsUrl,
  half: ({ id }: { id: string }) => halves.get(id),
  async create({ id }: { id: string }) {
    await create(id)
  },
})
