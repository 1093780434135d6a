// resumable-stream on Redis, by `redis` clients of its own, behind a route as in its README: the POST makes the stream and is
// answered with it, a GET resumes it. Given: the URL of Redis. An accepted run that nobody reads is read by the server itself.

import { createResumableStreamContext } from 'resumable-stream'
import type { Sse } from './sse-host.ts'
import { serveHost } from './sse-host.ts'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

process.env['REDIS_URL'] = process.argv[2]
const context = createResumableStreamContext({ waitUntil: null })

/** The stream of a run; one whose id says so stays open at its end, because a stream that is done can not be resumed. */
function makeStream(id: string, work: Work): ReadableStream<string> {
  return new ReadableStream<string>({
    async start(controller) {
      if (work.kind !== 'emit') return noteWaiting()
      await produce(work, (tick) => controller.enqueue(`data: ${JSON.stringify(tick)}\n\n`))
      noteEnded()
      if (!id.startsWith('replayed')) controller.close()
    },
  })
}

async function create(id: string, work: Work): Promise<ReadableStream<string>> {
  const stream = await context.createNewResumableStream(id, () => makeStream(id, work))
  if (!stream) throw new Error(`${id} is done`)
  return stream
}

async function pipe(stream: ReadableStream<string>, sse: Sse): Promise<void> {
  const reader = stream.getReader()
  void sse.closed.then(() => reader.cancel())
  for (let read = await reader.read(); !read.done; read = await reader.read()) await sse.sendText(read.value)
  sse.end()
}

async function drain(stream: ReadableStream<string>): Promise<void> {
  for await (const _ of stream);
}

const url = await serveHost({
  async accept(id, work) {
    void drain(await create(id, work))
  },
  async acceptAndStream(id, work, open) {
    await pipe(await create(id, work), open())
  },
  async stream(id, after, open) {
    const stream = await context.resumeExistingStream(id, after)
    if (stream) await pipe(stream, open())
    else open().end()
  },
})
answerDriver(url)
