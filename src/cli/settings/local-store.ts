import { join, resolve } from 'node:path'
import { isHoldfastError } from '../../client/index.ts'
import { stateFolder } from '../../server/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { loadConfig } from './config-file.ts'
import { readSettings, type Sources } from './settings.ts'
import { isPostgresUrl } from './store-url.ts'

export interface StoreFlags {
  readonly store?: string
  readonly config?: string
}

/** The store that a server would use that is started here with the same flags. */
export type LocalStore =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'postgres'; readonly url: string }
  /** An object of the config file. */
  | { readonly kind: 'own' }

/** Throws what is wrong with the settings. */
export async function localStore({ store, config: file }: StoreFlags, around: Around): Promise<LocalStore> {
  const config = await loadConfig(file, around.folder)
  const sources = { flags: { ...(store !== undefined && { store }) }, env: around.env, ...(config && { config }) }
  return chosenStore(sources, around.folder)
}

export function chosenStore(sources: Sources, folder: string): LocalStore {
  const { store = `sqlite:${join(stateFolder(sources.env), 'holdfast.db')}` } = readSettings(sources)
  if (typeof store !== 'string') return { kind: 'own' }
  if (isPostgresUrl(store)) return { kind: 'postgres', url: store }
  if (store === 'memory:') return { kind: 'memory' }
  return { kind: 'sqlite', path: resolve(folder, store.replace(/^sqlite:/, '')) }
}

/**
 * What is wrong with a file here is no matter of a server that does not answer, which is what these errors mean to commands
 * that ask one.
 */
export async function locally<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (isHoldfastError(error, 'store_unavailable')) throw new Error(error.message)
    throw error
  }
}

type Around = Pick<Surroundings, 'env' | 'folder'>

export type Database = Awaited<ReturnType<typeof importDatabase>>

// A backend is loaded when it is needed, and not for its types either.
const importDatabase = () => import('../../stores/postgres/index.ts')

/** What looks after databases. Its driver is there only where somebody wants it. */
export async function loadDatabase(): Promise<Database> {
  try {
    return await importDatabase()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new Error('A store on PostgreSQL needs the package pg: install it with `npm install pg`')
    throw error
  }
}
