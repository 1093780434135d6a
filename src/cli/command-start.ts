import { serverUrl } from './settings/server-url.ts'
import { shellWord } from './show/shell-word.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * How a command begins that somebody is to copy, so that it is found and asks the same server. `url` is one that came by a flag:
 * the next command would else ask another. A token that came so is not repeated; it would stand on the screen.
 */
export function commandStart(env: Surroundings['env'], url?: string): string {
  // In a clone, and under npx, there is no such program on the path.
  const program = env['npm_command'] === undefined ? 'holdfast' : 'npx holdfast'
  return url === undefined || !isPlain(url) ? program : `${program} --url ${shellWord(url)}`
}

/** One with a password or a query in it is refused by whoever is to ask it, and repeated by nobody. */
function isPlain(url: string): boolean {
  try {
    serverUrl(url)
    return true
  } catch {
    return false
  }
}
