import fc from 'fast-check'
import { type AgentContext, failed } from '../../src/index.ts'

/** What an agent is told to do, as its input. Everything it does comes to an end by itself. */
export type Op =
  | { readonly op: 'say' | 'think' | 'emit'; readonly text: string }
  | { readonly op: 'answer'; readonly output: unknown }
  | { readonly op: 'progress'; readonly value: number }
  | { readonly op: 'usage'; readonly tokens: number }
  | { readonly op: 'tool'; readonly input: number; readonly isFailing: boolean }
  | { readonly op: 'step'; readonly ops: readonly Op[] }
  | { readonly op: 'together'; readonly branches: readonly (readonly Op[])[] }
  | { readonly op: 'sleep' | 'receive'; readonly ms: number }
  | { readonly op: 'spawn'; readonly ops: readonly Op[]; readonly isDetached: boolean; readonly isAwaited: boolean }
  | { readonly op: 'fail'; readonly text: string }

export interface Work {
  readonly ops: readonly Op[]
  readonly result?: unknown
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const ms = fc.integer({ min: 1, max: 3_000 })

const emitted: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constantFrom('say', 'think', 'emit'), text }),
  fc.record({ op: fc.constant('answer'), output: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({ op: fc.constant('progress'), value: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10) }),
  fc.record({ op: fc.constant('usage'), tokens: fc.nat(100) }),
)

const { op } = fc.letrec<{ op: Op; ops: Op[] }>((tie) => ({
  op: fc.oneof(
    { depthSize: 'medium', maxDepth: 3 },
    { weight: 8, arbitrary: emitted },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('tool'), input: fc.nat(9), isFailing: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ op: fc.constantFrom('sleep', 'receive'), ms }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('fail'), text }) },
    { weight: 5, arbitrary: fc.record({ op: fc.constant('step'), ops: tie('ops') }) },
    {
      weight: 3,
      arbitrary: fc.record({ op: fc.constant('together'), branches: fc.array(tie('ops'), { maxLength: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant('spawn'),
        ops: tie('ops'),
        isDetached: fc.boolean(),
        isAwaited: fc.boolean(),
      }),
    },
  ),
  ops: fc.array(tie('op'), { minLength: 1, maxLength: 4 }),
}))

export const works: fc.Arbitrary<Work> = fc.record(
  { ops: fc.array(op, { minLength: 2, maxLength: 8 }), result: fc.jsonValue({ maxDepth: 1 }) },
  { requiredKeys: ['ops'] },
)

/** The agent `worker`, which does as told. Steered, or woken by results, it only says so. */
export async function worker(ctx: AgentContext, work: Work | string | readonly unknown[]): Promise<unknown> {
  if (typeof work === 'string' || !('ops' in work)) return ctx.say('woken or steered')
  await performAll(ctx, work.ops, 'op')
  return work.result
}

async function performAll(ctx: AgentContext, ops: readonly Op[], path: string): Promise<void> {
  for (const [n, each] of ops.entries()) await perform(ctx, each, `${path}.${n}`)
}

/** Keys are paths in the program, so that branches at work at the same time never share one. */
async function perform(ctx: AgentContext, each: Op, path: string): Promise<unknown> {
  switch (each.op) {
    case 'say':
      return ctx.say(each.text)
    case 'think':
      return ctx.think(each.text)
    case 'emit':
      return ctx.emit('note', each.text)
    case 'answer':
      return ctx.answer(each.output)
    case 'progress':
      return ctx.progress(each.value)
    case 'usage':
      return ctx.usage({ tokens: each.tokens, calls: 1 })
    case 'tool':
      return ctx
        .tool(`tool ${path}`, each.input, () => {
          if (each.isFailing) throw new Error('the tool is broken')
          return each.input * 2
        })
        .catch(() => undefined)
    case 'step':
      return ctx.step(path, () => performAll(ctx, each.ops, path))
    case 'together':
      return Promise.all(each.branches.map((ops, n) => performAll(ctx, ops, `${path}-${n}`)))
    case 'sleep':
      return ctx.step(path, () => ctx.sleep(each.ms))
    case 'receive':
      return ctx.step(path, () => ctx.receive({ timeoutMs: each.ms }))
    case 'spawn':
      return ctx.step(path, () => spawn(ctx, each))
    case 'fail':
      throw failed(each.text)
  }
}

async function spawn(ctx: AgentContext, { ops, isDetached, isAwaited }: Extract<Op, { op: 'spawn' }>): Promise<void> {
  const { id } = await ctx.spawn({ agent: 'worker', input: { ops }, detached: isDetached })
  if (isAwaited) await ctx.wait(id)
}
