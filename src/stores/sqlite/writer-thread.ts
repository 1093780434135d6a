import { parentPort, workerData } from 'node:worker_threads'
import { invariant } from '../../core/errors.ts'
import type { Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import { type Failure, toFailure } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { SqliteWriter, type WriterOptions } from './writer.ts'

/** What the writer is asked to do. Requests are answered one by one, in their order. */
export type WriterRequest =
  | { readonly type: 'apply'; readonly batch: PackedBatch; readonly moment: Moment }
  | { readonly type: 'close'; readonly nextTask: number }

export type WriterAnswer =
  | { readonly type: 'opened'; readonly nextTask: number }
  | { readonly type: 'applied'; readonly verdicts: Verdict[] }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly failure: Failure }

// The entry of the thread that hosts the writer: it has no other job than to pass requests on.
invariant(parentPort !== null, 'the writer runs on a thread of its own')
const port = parentPort

function answer(work: () => WriterAnswer): void {
  let answered: WriterAnswer
  try {
    answered = work()
  } catch (error) {
    answered = { type: 'failed', failure: toFailure(error) }
  }
  port.postMessage(answered)
}

answer(() => {
  const writer = new SqliteWriter(workerData as WriterOptions)
  port.on('message', (request: WriterRequest) => {
    if (request.type === 'apply') {
      answer(() => ({ type: 'applied', verdicts: writer.apply(request.batch, request.moment) }))
      return
    }
    answer(() => {
      writer.close(request.nextTask)
      return { type: 'closed' }
    })
    // Nothing keeps the thread alive from here on.
    port.close()
  })
  return { type: 'opened', nextTask: writer.nextTask }
})
