import { existsSync, statfsSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// These start processes, kill them and wait for others to notice; everything else is done in seconds.
const slow = [
  'server',
  'cli',
  'package',
  'examples',
  'crash',
  'chaos',
  'deploy',
  'console',
  'security',
  'docs-site',
].map((folder) => `tests/${folder}/**/*.test.ts`)
// These start a browser.
slow.push('tests/react/**/*browser*.test.ts')

// These give the whole process a document, which React looks for when it is loaded.
const alone = ['tests/react/*.test.ts']

// These need a PostgreSQL server, which is started once for all of them.
const postgres = ['tests/postgres/**/*.test.ts']
const servedOnPostgres = [
  'cancel',
  'events',
  'inbox',
  'never-reading',
  'ownership',
  'restarts',
  'results',
  'runs',
  'runs-outlive',
]
// These are run for the other stores as well.
const onPostgres = [
  ...['store-suite', 'store-properties', 'trim-properties'].map((name) => `tests/unit/stores/${name}.test.ts`),
  'tests/scenarios/*.test.ts',
  ...servedOnPostgres.map((name) => `tests/server/${name}.test.ts`),
]
// Some are of other stores alone, and some would take as long as all the others together; those are run if they are asked for.
const notOnPostgres = [
  'cancel-properties',
  'resume-property',
  'unreadable-store',
  '{delete,hooks,retention}-crash',
  'retention-properties',
]
const longOnPostgres = ['demo', 'resume-branches', 'resume-script', 'retention-policy', 'retention-share']
const leftOutOnPostgres = [
  ...notOnPostgres,
  ...(process.env['HOLDFAST_TEST_POSTGRES'] === 'all' ? [] : longOnPostgres),
].map((name) => `tests/scenarios/${name}.test.ts`)

// Begun last, these would be all that is left to wait for. The longest is the first.
const longFiles = [
  'cli/docs',
  'examples/chat',
  'unit/stores/store-suite',
  'crash/store-calls',
  'chaos/sqlite',
  'package/package',
  'server/client',
  'chaos/postgres',
  'chaos/release',
  'server/restarts',
  'console/task',
  'console/thread',
  'examples/models',
  'cli/restarts',
  'server/cancel-gates',
  'deploy/locked-tables',
  'deploy/doctor',
  'console/tasks-scale',
  'console/thread-writing',
  'server/prune',
  'server/cli-serve',
  'cli/backup',
  'console/tasks',
  'console/system',
  'console/agents',
  'postgres/leases-across',
  'deploy/refusals',
  'console/thread-states',
  'console/task-scale',
  'console/shell',
  'chaos/planted',
  'scenarios/questions-restarts',
  'console/palette',
  'crash/cycles',
  'examples/chat-use-chat',
  'deploy/docs',
  'cli/doctor',
  'server/listening',
  'scenarios/resume-branches',
  'scenarios/resume-script',
  'scenarios/resume-steps',
  'postgres/inbox-across',
  'scenarios/demo',
  'scenarios/resume-inbox',
  'docs',
].map((name) => `/tests/${name}.test.ts`)

/** In a clone nothing is known of the last run, so what takes long is known here. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longFiles.findIndex((name) => moduleId.endsWith(name))
  return place === -1 ? longFiles.length : place
}

/*
 * Files that run one after the other in a process share its modules: to load them again for each takes longer than most of
 * them take to run. Whatever else a file changes of its process is put back, here or by itself.
 */
const shared = { isolate: false, restoreMocks: true, unstubGlobals: true, unstubEnvs: true } as const

// In memory an fsync costs nothing, and what a process wrote survives its death all the same.
const inMemory: Record<string, string> = hasRoom('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}

/** A container may have only some megabytes there. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 2 * 1024 ** 3
}

const quick = {
  env: inMemory,
  // The default leaves one core to the reporter, which on a machine of two is half of it.
  maxWorkers: '100%',
  // Only a test that waits for what never comes gets near this, or a machine under heavy load.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  sequence: { groupOrder: 0 },
} as const

export default defineConfig({
  test: {
    pool: 'forks',
    // The store's writer thread loads sources itself; compiled once, they open in a fraction of the time.
    env: { NODE_COMPILE_CACHE: 'node_modules/.cache/holdfast-compiled' },
    sequence: { sequencer: LongestFirst },
    // A machine that is busy with other work takes long for what is mostly done in milliseconds.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        test: {
          ...shared,
          ...quick,
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...slow, ...postgres, ...alone],
        },
      },
      {
        test: {
          ...quick,
          name: 'alone',
          include: alone,
          exclude: [...configDefaults.exclude, ...slow],
        },
      },
      {
        test: {
          ...shared,
          name: 'postgres',
          include: [...postgres, ...onPostgres],
          exclude: [...configDefaults.exclude, ...leftOutOnPostgres],
          env: { ...inMemory, HOLDFAST_TEST_STORE: 'postgres' },
          globalSetup: ['tests/postgres/harness/global-setup.ts', 'tests/server/harness/global-setup.ts'],
          // Some wait for a lease to end or for a poll, and all wait for the server.
          maxWorkers: 3,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'slow',
          include: slow,
          env: inMemory,
          globalSetup: ['tests/console/harness/global-setup.ts', 'tests/server/harness/global-setup.ts'],
          // Each file starts processes of its own and waits for them; with fewer, two cores have nothing to do for part of the time.
          maxWorkers: 4,
          // What takes half a minute takes two on a machine that has as much other work.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
