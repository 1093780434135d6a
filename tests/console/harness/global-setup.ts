import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import type { TestProject } from 'vitest/node'

const sources = ['console/**/*', 'src/{client,react,core,protocol}/**/*', 'scripts/build-console.ts']
const built = 'dist/console/index.html'

export async function setup({ config }: TestProject): Promise<void> {
  buildConsole()
  await unpackBrowser(config.env['TMPDIR'])
}

/** Once for all tests, to where they look for it: whoever came second would start a browser that is not whole yet. */
async function unpackBrowser(folder: string | undefined): Promise<void> {
  const { TMPDIR } = process.env
  if (folder !== undefined) process.env['TMPDIR'] = folder
  await chromium.executablePath()
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
}

/** Builds the console once for all tests, if anything that it is made of has changed since the last time. */
function buildConsole(): void {
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
