import fc from 'fast-check'
import { isHoldfastError, type OnBusy, type OnResult, type Runtime } from '../../src/index.ts'
import { type Work, worker, works } from './random-work.ts'
import type { World } from './world.ts'

/** What is done to one thread from outside, whatever state it is in. `nth` counts the newest tasks first. */
export type Action =
  | {
      readonly act: 'run'
      readonly work: Work
      readonly onBusy: OnBusy
      readonly onResult: OnResult
      readonly timeoutMs?: number
    }
  | { readonly act: 'spawn'; readonly work: Work }
  | { readonly act: 'cancel' | 'send'; readonly nth: number }
  | { readonly act: 'cancelThread'; readonly scope: 'runs' | 'all' }
  | { readonly act: 'collect' }
  /** The process dies at its n-th commit from now on, at once if that is 0. */
  | { readonly act: 'crash'; readonly inCommits: number; readonly isAfter: boolean }
  | { readonly act: 'pass'; readonly ms: number }

const nth = fc.nat(5)

export const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record(
        {
          act: fc.constant('run'),
          work: works,
          onBusy: fc.constantFrom<OnBusy[]>('queue', 'queue', 'steer', 'interrupt', 'reject'),
          onResult: fc.constantFrom<OnResult[]>('collect', 'wake'),
          timeoutMs: fc.integer({ min: 1, max: 5_000 }),
        },
        { requiredKeys: ['act', 'work', 'onBusy', 'onResult'] },
      ),
    },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('spawn'), work: works }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('cancel', 'send'), nth }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('cancelThread'), scope: fc.constantFrom('runs', 'all') }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('collect') }) },
    {
      weight: 4,
      arbitrary: fc.record({ act: fc.constant('crash'), inCommits: fc.nat(6), isAfter: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.record({ act: fc.constant('pass'), ms: fc.integer({ min: 1, max: 4_000 }) }) },
  ),
  { minLength: 2, maxLength: 10 },
)

const thread = 't'
const agents = { worker }

function openWorker(here: World): Promise<Runtime> {
  return here.open({ agents })
}

/**
 * Does one thing after the other, whatever the thread refuses and whenever the process dies, and calls `check` when all is
 * quiet after each and once no task is live.
 */
export async function perform(
  here: World,
  planned: readonly Action[],
  check: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  let runtime = await openWorker(here)
  const survive = async (doing: Promise<unknown>) => {
    const hasDied = await Promise.race([doing.then(() => false), here.store.crashed.then(() => true)])
    if (!hasDied) return
    await here.crash()
    runtime = await openWorker(here)
  }
  for (const action of planned) {
    await survive(act(here, runtime, action))
    await survive(here.quiet())
    await here.quiet()
    await check(runtime)
  }
  await survive(untilIdle(here, runtime))
  await untilIdle(here, runtime)
  await check(runtime)
}

async function act(here: World, runtime: Runtime, action: Action): Promise<void> {
  if (action.act === 'pass') return here.clock.advance(action.ms)
  if (action.act !== 'crash') return askFor(runtime, action).then(() => undefined, ignoreRefusal)
  const { inCommits, isAfter } = action
  const last = here.store.commitCount + inCommits
  here.store.plan((_units, number) => (number < last ? 'none' : isAfter ? 'crash_after' : 'crash_before'))
  if (inCommits === 0) await here.crash()
}

/** Lets time pass until no task of the thread is live. */
async function untilIdle(here: World, runtime: Runtime): Promise<void> {
  await here.quiet()
  while (await runtime.hasRunning(thread)) {
    await here.clock.advance(1_000)
    await here.quiet()
  }
}

async function askFor(runtime: Runtime, action: Exclude<Action, { act: 'crash' | 'pass' }>): Promise<unknown> {
  switch (action.act) {
    case 'run': {
      const { work, onBusy, onResult, timeoutMs } = action
      const ask = onBusy === 'steer' ? { prompt: 'steer' } : { input: work }
      const options = { onBusy, onResult, ...(timeoutMs !== undefined && { timeoutMs }) }
      return runtime.run({ thread, agent: 'worker', ...ask, ...options })
    }
    case 'spawn':
      return runtime.spawn({ thread, agent: 'worker', input: action.work })
    case 'cancel':
      return runtime.cancel(await taskAt(runtime, action.nth))
    case 'send':
      return runtime.send(await taskAt(runtime, action.nth), { content: 'hello', from: 'outside' })
    case 'cancelThread':
      return runtime.cancelThread(thread, { scope: action.scope })
    case 'collect': {
      const { results } = await runtime.results(thread)
      return runtime.collect(
        thread,
        results.map((result) => result.task),
      )
    }
  }
}

async function taskAt(runtime: Runtime, n: number): Promise<string> {
  return (await runtime.list({ thread })).tasks[n]?.id ?? 'none'
}

function ignoreRefusal(error: unknown): void {
  if (!isHoldfastError(error, 'busy') && !isHoldfastError(error, 'limit_reached')) throw error
}
