import { afterEach, beforeEach, expect, inject } from 'vitest'
import {
  type AgentContext,
  type CreateRuntimeOptions,
  createRuntime,
  type Event,
  type Runtime,
} from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { type NetworkProxy, startProxy } from './harness/proxy.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

export interface NodeOptions extends Omit<CreateRuntimeOptions, 'store'> {
  /** Hears no notice: whatever another node commits is found by looking. */
  readonly isDeaf?: boolean
  /** What it counts after it was opened is never answered. */
  readonly countsForEver?: boolean
  /** Called whenever it was answered a count, and so has heard what other nodes execute. */
  readonly onCounted?: () => void
  /** Behind a network that can be cut, stalled and resumed. */
  readonly isRemote?: boolean
  /** Of its store: how long a commit may go unanswered. */
  readonly lateMs?: number
}

/** Nodes on one database, each a runtime of its own, on real clocks. */
export interface SeveralNodes {
  readonly schema: TestSchema
  /** The network of nodes that are remote. */
  readonly network: NetworkProxy
  open(options?: NodeOptions): Promise<Runtime>
}

/** Registers what makes and ends them around each test. */
export function severalNodes(): SeveralNodes {
  let schema: TestSchema | undefined
  let network: NetworkProxy | undefined
  let runtimes: Runtime[] = []
  beforeEach(async () => {
    schema = testSchema()
    network = await startProxy(Number(new URL(inject('postgresUrl')).port))
    runtimes = []
  })
  afterEach(async () => {
    network?.accept()
    network?.resume()
    for (const runtime of runtimes) await runtime.close({ drainMs: 0 })
    await network?.close()
    await schema?.drop()
  })
  return {
    get schema() {
      return there(schema)
    },
    get network() {
      return there(network)
    },
    async open({ isDeaf, countsForEver, onCounted, isRemote, lateMs, ...options } = {}) {
      const url = isRemote ? there(network).through(there(schema).url) : there(schema).url
      const store = postgresStore({ url, warn: () => {}, ...(lateMs !== undefined && { lateMs }) })
      const heard = isDeaf ? deaf(store) : store
      const told = onCounted ? tellingOfCounts(heard, onCounted) : heard
      const runtime = createRuntime({ ...options, store: countsForEver ? countingForEver(told) : told })
      runtimes.push(runtime)
      await runtime.opened()
      return runtime
    },
  }
}

function there<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('It is there while a test runs')
  return value
}

/** The same store, whose every notice is lost. */
function deaf(store: Store): Store {
  return changed(store, { watch: () => () => {} })
}

/** The same store, which never finishes a count but the first. */
function countingForEver(store: Store): Store {
  let isFirst = true
  const claim: Store['claim'] = (query) => {
    const isAnswered = !query.withCounts || isFirst
    if (query.withCounts) isFirst = false
    return isAnswered ? store.claim(query) : new Promise(() => {})
  }
  return changed(store, { claim })
}

function tellingOfCounts(store: Store, onCounted: () => void): Store {
  const claim: Store['claim'] = async (query) => {
    const offer = await store.claim(query)
    if (query.withCounts) onCounted()
    return offer
  }
  return changed(store, { claim })
}

function changed(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name in methods) return Reflect.get(methods, name) as unknown
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value
    },
  })
}

/** An agent that waits until its signal fires, and tells why it did. */
export function untilStopped(begun: () => void = () => {}): {
  readonly run: (ctx: AgentContext) => Promise<never>
  readonly stopped: Promise<string>
} {
  const { promise, resolve } = Promise.withResolvers<string>()
  const run = (ctx: AgentContext) =>
    new Promise<never>((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        const reason = ctx.signal.reason as Error & { readonly reason: string }
        resolve(reason.reason)
        reject(reason)
      })
      begun()
    })
  return { run, stopped: promise }
}

/** Collects what a subscription gives, as it comes. */
export function watch(
  runtime: Runtime,
  thread: string,
): { readonly events: Event[]; until(type: string): Promise<void> } {
  const events: Event[] = []
  void (async () => {
    for await (const event of runtime.subscribe({ thread })) events.push(event)
  })()
  const until = async (type: string) => {
    await expect.poll(() => events.map((event) => event.type), { interval: 10 }).toContain(type)
  }
  return { events, until }
}

/** Ends the lease of a node as its silence would, without waiting for it. Its next renewal makes it another. */
export async function lapse({ schema }: SeveralNodes, runtime: Runtime): Promise<void> {
  const { node } = await runtime.info()
  await schema.query('UPDATE holdfast.nodes SET until_at = 0 WHERE id = $1', [node])
}
