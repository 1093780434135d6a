import { statSync } from 'node:fs'
import { hasToken } from '../../server/index.ts'
import { type Check, note, ok, thrown, wrongly } from './check.ts'

/** The folder that keeps the token and, unless another is configured, the store. */
export function folderCheck(folder: string): Check {
  const name = 'state folder'
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (!stats) return note(name, `${folder} is not there yet`, 'The first start makes it')
  if (!stats.isDirectory()) return wrongly(name, `${folder} is no folder`, 'Remove it, or set XDG_STATE_HOME')
  if (stats.uid !== (process.getuid?.() ?? stats.uid)) {
    return wrongly(name, `${folder} belongs to another user`, 'Make it yours, or set XDG_STATE_HOME')
  }
  const others = stats.mode & 0o077
  if (others === 0) return ok(name, `${folder}, for its owner alone`)
  return wrongly(name, `${folder} is open to others (${octal(stats.mode)})`, `chmod 700 ${folder}`)
}

/** The token that a server on loopback made. What is configured instead is checked with the settings. */
export function tokenCheck(folder: string, principals: readonly string[]): Check {
  const name = 'token'
  if (principals.length > 0) return ok(name, `Configured for ${principals.join(', ')}`)
  try {
    if (hasToken(folder)) return ok(name, 'One was made, and its owner alone can read it')
    return note(name, 'There is none yet', 'The first start on loopback makes one')
  } catch (error) {
    return thrown(name, error)
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}
