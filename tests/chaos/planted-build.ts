import type { RoundGoal } from '../../src/chaos/round.ts'

/** A bug that is planted into nodes while they load their sources. */
export interface PlantedBug {
  readonly title: string
  /** The end of the path of a source, and what stands there instead of what. */
  readonly source: string
  readonly from: string
  readonly to: string
  /** What the program has to report. */
  readonly complaint: RegExp
  /** What a round must have seen to show it, beyond what every round of them has. */
  readonly enough?: RoundGoal
}

/** A module for `node --import` that plants a bug, and ends a node in which there is no place for it. */
export function plantedModule({ source, from, to }: PlantedBug): string {
  const text = `import { registerHooks } from 'node:module'
const from = ${JSON.stringify(from)}
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(${JSON.stringify(source)})) return loaded
    const text = Buffer.from(loaded.source).toString()
    if (!text.includes(from)) {
      console.error('there is no place for the bug in ' + url)
      process.exit(9)
    }
    return { ...loaded, source: text.replace(from, () => ${JSON.stringify(to)}) }
  },
})`
  return `data:text/javascript,${encodeURIComponent(text)}`
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    title: 'a leaked owner',
    source: '/runtime/reads.ts',
    from: 'record && principalOf(record.key) === this.#parts.principal ? record : undefined',
    to: 'principalOf === undefined ? undefined : record',
    complaint: /^G15 .* of another and was answered/,
    enough: { probes: 10 },
  },
  {
    title: 'a lost cancel',
    source: '/core/cancel-task.ts',
    from: "draft.put({ ...record, status: 'cancelled', ready: false",
    to: "draft.put({ ...record, status: 'failed', ready: false",
    complaint: /^G7 .* was cancelled and is failed/,
    enough: { cancels: 20 },
  },
  {
    title: 'a content that changes',
    source: '/runtime/feed.ts',
    from: '{ ...draft, seq: first + i, at }',
    to: '{ ...draft, seq: first + i, at: at + 1 }',
    complaint: /^G2 .* and is another/,
  },
  {
    title: 'an answer before the commit',
    source: '/stores/sqlite/batch-writes.ts',
    from: '      alsoWrite?.(verdicts)\n',
    // The thread that writes answers, and commits a moment later; its second answer is kept back. It gets every batch, because the
    // quick writer takes the file for busy.
    to: `      alsoWrite?.(verdicts)
      const { parentPort } = process.getBuiltinModule('node:worker_threads')
      if (!parentPort) throw Object.assign(new Error('planted'), { errcode: 5 })
      parentPort.postMessage({ type: 'applied', verdicts, commitMs: 0, hasTraces: false })
      parentPort.postMessage = () => { delete parentPort.postMessage }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30)
`,
    // Lost with a kill; and what reads the file meanwhile does not find what it was told of.
    complaint: /^G1 .* was accepted and is lost|^G2 .* and is (gone|another)|^G11 .* There is no task/,
    enough: { faults: { kill: 8, drain: 1 } },
  },
  {
    title: 'an off-by-one resume',
    source: '/runtime/log-cursor.ts',
    from: 'this.#after = after\n',
    to: 'this.#after = after > 0 ? after + 1 : after\n',
    complaint: /^G4 .* where \d+ was due|refused as offset_ahead/,
  },
  {
    title: 'a re-executed step',
    source: '/runtime/recovery.ts',
    from: '{ output, bag: plan.bag, steps }',
    to: '{ output, bag: plan.bag, steps: [] }',
    complaint: /^G11 .*(executed it last in|tells twice of|said)/,
    enough: { faults: { kill: 8, drain: 1 } },
  },
  {
    title: 'a dropped follow-up',
    source: '/core/settle.ts',
    from: '    acceptInto(draft, JSON.parse(mail.steer) as TaskRequest, mail.place, mail.id)\n',
    to: '',
    complaint: /^G12 .* steered .* became 0 runs/,
  },
  {
    title: 'a queue out of order',
    source: '/core/settle.ts',
    from: 'draft.runs()[0]',
    to: 'draft.runs().at(-1)',
    complaint: /^G10 .* was started before/,
  },
  {
    title: 'a repeated event',
    source: '/runtime/log-cursor.ts',
    from: 'this.#after = shared.at(-1)?.seq ?? this.#after',
    to: 'this.#after = shared.at(-2)?.seq ?? shared.at(-1)?.seq ?? this.#after',
    complaint: /^G3 .* where \d+ was due/,
  },
  {
    title: 'a hole in a stream',
    source: '/runtime/log-cursor.ts',
    from: 'shared.filter((entry) => passes(filter, entry)) : shared)',
    to: 'shared.filter((entry) => passes(filter, entry)) : shared.length > 1 ? shared.slice(1) : shared)',
    complaint: /^G[34] .* where \d+ was due/,
  },
  {
    title: 'a cancel that names nothing',
    source: '/core/cancel.ts',
    from: '    reached.push(target.id)\n',
    to: '',
    complaint: /^G7 .* after its cancel, which took nothing|refused as/,
  },
  {
    title: 'a lost message',
    source: '/core/mail.ts',
    from: '  draft.addMail(mail)\n',
    to: '',
    complaint: /^G12 /,
  },
  {
    title: 'a key that is not known again',
    source: '/runtime/idempotency.ts',
    from: 'if (key === undefined) return undefined',
    to: 'if (key !== "") return undefined',
    complaint: /^G1 the key .* made .* and /,
  },
  {
    title: 'a doubled ending',
    source: '/core/end.ts',
    from: "draft.event('task.cancelled',",
    to: "draft.event('task.cancelled', { error: errorOf(outcome) }, ended)\n      draft.event('task.cancelled',",
    complaint: /^G5 .* has 2 endings/,
  },
  {
    title: 'a late write after the ending',
    source: '/core/end.ts',
    from: "draft.event('task.completed', { ...result, ...unread }, ended, { field: 'result' })",
    to: "draft.event('task.completed', { ...result, ...unread }, ended, { field: 'result' })\n      draft.event('progress', { value: 1 }, ended)",
    complaint: /^G5 .* is after its ending/,
  },
  {
    title: 'a drain that fails',
    source: '/server/signals.ts',
    from: '() => process.exit(0)',
    to: '() => process.exit(3)',
    complaint: /^G17 node0 drained and exited with 3/,
  },
  {
    title: 'a user message that is left out of a cancel before the start',
    source: '/core/cancel-task.ts',
    from: '  userMessage(draft, record)\n',
    to: '',
    complaint: /^G7 .* is in the conversation 0 times/,
  },
]
