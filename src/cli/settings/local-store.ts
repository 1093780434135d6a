import { join, resolve } from 'node:path'
import { isHoldfastError } from '../../client/index.ts'
import { stateFolder } from '../../server/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { loadConfig } from './config-file.ts'
import { readSettings, type Sources } from './settings.ts'

export interface StoreFlags {
  readonly store?: string
  readonly config?: string
}

/** The store that a server would use that is started here with the same flags. */
export type LocalStore =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'postgres' }
  /** An object of the config file. */
  | { readonly kind: 'own' }

/** Throws what is wrong with the settings. */
export async function localStore({ store, config: file }: StoreFlags, around: Around): Promise<LocalStore> {
  const config = await loadConfig(file, around.folder)
  const sources = { flags: { ...(store !== undefined && { store }) }, env: around.env, ...(config && { config }) }
  return chosenStore(sources, around.folder)
}

export function chosenStore(sources: Sources, folder: string): LocalStore {
  const { flags, env, config } = sources
  const said = flags['store'] ?? env['HOLDFAST_STORE'] ?? config?.values['store']
  // A store of another kind is told what to do instead, whether or not this program could open it.
  if (typeof said === 'string' && /^postgres(ql)?:/.test(said)) return { kind: 'postgres' }
  const { store = `sqlite:${join(stateFolder(env), 'holdfast.db')}` } = readSettings(sources)
  if (typeof store !== 'string') return { kind: 'own' }
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
