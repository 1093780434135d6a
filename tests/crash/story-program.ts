import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

const root = resolve(import.meta.dirname, '../..')

/** The program that tells the story, put together from its sources. */
export interface StoryProgram {
  readonly url: string
  remove(): Promise<void>
}

/**
 * It is started more than a hundred times, and to load its sources one by one takes most of its life. So they are put into a few
 * files, beside each other as the published ones are.
 */
export async function buildStoryProgram(): Promise<StoryProgram> {
  await mkdir(join(root, '.vitest'), { recursive: true })
  // Inside the repository, where files of this kind are modules.
  const folder = await mkdtemp(join(root, '.vitest/story-'))
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      minify: false,
      copyPublicDir: false,
      rolldownOptions: {
        input: {
          'story-process': 'tests/crash/story-process.ts',
          'writer-thread': 'src/stores/sqlite/writer-thread.ts',
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  })
  await cp(join(root, 'src/stores/sqlite/migrations'), join(folder, 'migrations'), { recursive: true })
  return {
    url: pathToFileURL(join(folder, 'story-process.js')).href,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
