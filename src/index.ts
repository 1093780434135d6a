import { HoldfastError } from './core/errors.ts'
import { Runtime, type RuntimeOptions } from './runtime/runtime.ts'
import type { Store } from './stores/store.ts'

export interface CreateRuntimeOptions extends RuntimeOptions {
  /** `memory:`, `sqlite:PATH`, or a store. */
  readonly store?: string | Store
}

/** A runtime on a store. The store is opened at once; calls wait for it, and reject with what is wrong with it. */
export function createRuntime(options: CreateRuntimeOptions = {}): Runtime {
  const { store, ...rest } = options
  return Runtime.create(() => openStore(store), rest)
}

async function openStore(store: string | Store | undefined): Promise<Store> {
  if (store === undefined) {
    throw new HoldfastError(
      'no_store',
      "No store is configured; pass store: 'memory:' or 'sqlite:PATH' to createRuntime",
    )
  }
  if (typeof store !== 'string') return store
  if (store === 'memory:') {
    const { memoryStore } = await import('./stores/memory/index.ts')
    return memoryStore()
  }
  const path = /^sqlite:(.+)$/.exec(store)?.[1]
  if (path !== undefined) {
    const { sqliteStore } = await import('./stores/sqlite/index.ts')
    return sqliteStore({ path })
  }
  throw new HoldfastError('no_store', `${JSON.stringify(store)} is no store; use memory: or sqlite:PATH`)
}

export type { Runtime } from './runtime/runtime.ts'
