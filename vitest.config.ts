import { configDefaults, defineConfig } from 'vitest/config'

// These start processes, kill them and wait for others to notice; everything else is done in seconds.
const slow = ['server', 'cli', 'package', 'examples', 'crash'].map((folder) => `tests/${folder}/**/*.test.ts`)

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
          exclude: [...configDefaults.exclude, ...slow],
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
          name: 'slow',
          include: slow,
          // Each file loads the machine with processes of its own; two at once would disturb each other's timing.
          maxWorkers: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
