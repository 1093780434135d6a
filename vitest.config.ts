import { configDefaults, defineConfig } from 'vitest/config'

// These start processes, kill them and wait for others to notice; everything else is done in seconds.
const slow = ['server', 'cli', 'package', 'examples', 'crash', 'chaos', 'deploy', 'console'].map(
  (folder) => `tests/${folder}/**/*.test.ts`,
)
// These start a browser.
slow.push('tests/react/**/*browser*.test.ts')

// These need a PostgreSQL server, which is started once for all of them.
const postgres = ['tests/postgres/**/*.test.ts']
// These are run for the other stores as well.
const onPostgres = [
  ...['store-suite', 'store-properties', 'trim-properties'].map((name) => `tests/unit/stores/${name}.test.ts`),
  'tests/scenarios/*.test.ts',
  ...['cancel', 'never-reading', 'ownership', 'runs-outlive'].map((name) => `tests/server/${name}.test.ts`),
]
// Some are of other stores alone, and some would take as long as all the others together; those are run if they are asked for.
const notOnPostgres = [
  'cancel-properties',
  'resume-property',
  'unreadable-store',
  '{delete,hooks,retention}-crash',
  'retention-properties',
]
const longOnPostgres = ['demo', 'resume-branches', 'resume-script', 'retention-policy']
const leftOutOnPostgres = [
  ...notOnPostgres,
  ...(process.env['HOLDFAST_TEST_POSTGRES'] === 'all' ? [] : longOnPostgres),
].map((name) => `tests/scenarios/${name}.test.ts`)

export default defineConfig({
  test: {
    pool: 'forks',
    // The store's writer thread loads sources itself; compiled once, they open in a fraction of the time.
    env: { NODE_COMPILE_CACHE: 'node_modules/.cache/holdfast-compiled' },
    projects: [
      {
        test: {
          name: 'fast',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...slow, ...postgres],
          // The default leaves one core to the reporter, which on a machine of two is half of it.
          maxWorkers: '100%',
          // Only a test that waits for what never comes gets near this, or a machine under heavy load.
          testTimeout: 20_000,
          hookTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'postgres',
          include: [...postgres, ...onPostgres],
          exclude: [...configDefaults.exclude, ...leftOutOnPostgres],
          env: { HOLDFAST_TEST_STORE: 'postgres' },
          globalSetup: 'tests/postgres/harness/global-setup.ts',
          maxWorkers: '100%',
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'slow',
          include: slow,
          globalSetup: 'tests/console/harness/global-setup.ts',
          // Each file starts processes of its own; more of them at once would only wait for each other.
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
