import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HoldfastError } from '../../core/errors.ts'

/** Where the token that was made for this machine is kept. */
export function tokenFile(folder: string): string {
  return join(folder, 'token')
}

/**
 * The token of this machine: the one in the file, or a new one that is then in the file, for its owner alone. Two
 * processes that ask at once get the same one.
 */
export function keptToken(folder: string): string {
  const path = tokenFile(folder)
  return readToken(path) ?? makeToken(folder, path)
}

/** Whether a token is kept there. Throws what is wrong with the file, and never tells the token. */
export function hasToken(folder: string): boolean {
  return readToken(tokenFile(folder)) !== undefined
}

function readToken(path: string): string | undefined {
  const descriptor = openToken(path)
  if (descriptor === undefined) return undefined
  try {
    const status = fstatSync(descriptor)
    if (!status.isFile()) throw refusal(path, 'is no file')
    // Whoever else could read it may have done so: to tighten its mode now would help nobody.
    if ((status.mode & 0o077) !== 0) throw refusal(path, 'can be read by others')
    const token = readFileSync(descriptor, 'utf8').trim()
    if (!/^[A-Za-z0-9_-]{43,}$/.test(token)) throw refusal(path, 'does not hold a token')
    return token
  } finally {
    closeSync(descriptor)
  }
}

function openToken(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw refusal(path, 'cannot be read', error)
  }
}

/** Written beside and then linked, so that nobody ever reads half of it, and the first of two stands. */
function makeToken(folder: string, path: string): string {
  const token = randomBytes(32).toString('base64url')
  const draft = join(folder, `.token-${randomBytes(6).toString('hex')}`)
  try {
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path)
    return token
  } catch (error) {
    const other = readToken(path)
    if (other !== undefined) return other
    const message = `The token file ${path} cannot be written. Make its folder writable, or configure a token`
    throw new HoldfastError('store_unavailable', message, { cause: error })
  } finally {
    rmSync(draft, { force: true })
  }
}

function refusal(path: string, problem: string, cause?: unknown): HoldfastError {
  const message = `The token file ${path} ${problem}. Remove it, and a new token is made; or configure one`
  return new HoldfastError('invalid_request', message, { cause })
}
