import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'

const sources = ['console/**/*', 'src/{client,react,core,protocol}/**/*', 'scripts/build-console.ts']
const built = 'dist/console/index.html'

/** Builds the console once for all tests, if anything that it is made of has changed since the last time. */
export function setup(): void {
  const builtAt = changedAt(built)
  if (globSync(sources).every((file) => changedAt(file) < builtAt)) return
  try {
    execFileSync(process.execPath, ['scripts/build-console.ts'], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    // Tests of other parts need no console; those that do say what is missing.
    process.stderr.write(`The console was not built: ${String(error)}\n`)
  }
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
