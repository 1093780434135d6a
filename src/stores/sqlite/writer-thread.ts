import { parentPort } from 'node:worker_threads'
import { invariant } from '../../core/errors.ts'
import type { Moment } from './batch.ts'
import type { Applied } from './batch-writes.ts'
import { type Failure, toFailure } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { SqliteWriter, type WriterOptions } from './writer.ts'

/** What the thread is asked to do. Requests are answered one by one, in their order. After a close another writer may be opened. */
export type WriterRequest =
  | { readonly type: 'open'; readonly options: WriterOptions }
  | {
      readonly type: 'apply'
      readonly batch: PackedBatch
      readonly moment: Moment
      readonly hasOtherWritten: boolean
      readonly movesLog: boolean
    }
  | { readonly type: 'close'; readonly nextTask: number }

export type WriterAnswer =
  | { readonly type: 'opened'; readonly nextTask: number; readonly hasTraces: boolean }
  | (Applied & { readonly type: 'applied'; readonly hasTraces: boolean; readonly hasMovedLog: boolean })
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly failure: Failure }

// The entry of the thread that hosts a writer: it has no other job than to pass requests on.
invariant(parentPort !== null, 'the writer runs on a thread of its own')
const port = parentPort
let opened: SqliteWriter | undefined

port.on('message', (request: WriterRequest) => {
  let answered: WriterAnswer
  try {
    answered = answer(request)
  } catch (error) {
    answered = { type: 'failed', failure: toFailure(error) }
  }
  port.postMessage(answered)
})

function answer(request: WriterRequest): WriterAnswer {
  if (request.type === 'open') {
    opened = new SqliteWriter(request.options)
    return { type: 'opened', nextTask: opened.nextTask, hasTraces: opened.hasTraces }
  }
  const writer = opened
  invariant(writer !== undefined, 'a writer is opened before it writes')
  if (request.type === 'apply') {
    if (request.hasOtherWritten) writer.forget()
    const applied = writer.apply(request.batch, request.moment)
    const hasMovedLog = request.movesLog && writer.moveLog()
    return { type: 'applied', ...applied, hasTraces: writer.hasTraces, hasMovedLog }
  }
  opened = undefined
  writer.close(request.nextTask)
  return { type: 'closed' }
}
