import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { HoldfastError } from '../core/errors.ts'

/**
 * Where a program of this user keeps what has to stay: the XDG state folder's part that is ours. The one place outside the
 * CLI that reads the environment: a server started by a program and one started by the CLI have to keep one token.
 */
export function stateFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_STATE_HOME: configured = '' } = env
  // The XDG rules have relative paths ignored: they would mean another folder from every place one stands in.
  const base = isAbsolute(configured) ? configured : join(homedir(), '.local', 'state')
  return join(base, 'holdfast')
}

/** Makes the folder, for its owner alone, unless it is there. */
export function makeStateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = `The folder ${folder} cannot be made. Make the one above it writable, or set XDG_STATE_HOME`
    throw new HoldfastError('store_unavailable', message, { cause: error })
  }
}
