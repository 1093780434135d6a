import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { fileSize } from '../file-size.ts'
import { withExamples } from '../help.ts'
import { progressBar } from '../live/progress-bar.ts'
import { StatusLine } from '../live/status-line.ts'
import type { LocalStore, StoreFlags } from '../local-store.ts'
import { oneLine } from '../plain-text.ts'
import { wrong } from '../wrong.ts'

interface Flags extends StoreFlags {
  readonly force?: true
}

/** `holdfast backup`: a copy of the SQLite file beside a server that goes on. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('backup')
    .summary('copy the store, beside a running server')
    .description(
      'Copies a SQLite store into one file, readable by its owner alone, and checks the copy. A server may be at work on the store:\n' +
        'it is not disturbed, and the copy holds everything that was acknowledged before it began. To restore one, stop the server,\n' +
        'put the copy in the place of the store, or name it with --store, and start.',
    )
    .argument('<file>', 'where to put the copy')
    .option('--store <url>', 'the store, as of serve (default: that of a server started here)')
    .option('--config <file>', 'the config file, as of serve')
    .option('--force', 'replace the file if it is there')
    .action(act(backup))
  withExamples(command, [
    ['holdfast backup copy.db', 'while the server runs or when it does not'],
    ['holdfast backup --store sqlite:./holdfast.db copy.db', 'of another store than the default'],
    ['holdfast serve --store sqlite:./copy.db', 'start on the copy'],
  ])
}

async function backup(cli: Cli, file: string, { force, ...store }: Flags): Promise<number> {
  const { around, global, show, signal } = cli
  const { localStore, atHome } = await import('../local-store.ts')
  const path = sqliteFile(await localStore(store, around))
  const { backUp } = await import('../../stores/sqlite/index.ts')
  const { resolve } = await import('node:path')
  const startedAt = around.clock.now()
  let share = 0
  const status = new StatusLine(around, !global.quiet && !global.json, () =>
    share < 1 ? `Copying ${progressBar(share)}` : 'Checking the copy',
  )
  try {
    const onProgress = (copied: number): void => {
      share = copied
    }
    const target = resolve(around.folder, file)
    const made = await atHome(() => backUp({ path, target, signal, onProgress, ...(force && { force }) }))
    const durationMs = Math.max(0, around.clock.now() - startedAt)
    status.close()
    if (global.json) show.json({ file: made.target, store: path, bytes: made.bytes, durationMs })
    else show.line(`${oneLine(made.target)}: ${fileSize(made.bytes)} in ${(durationMs / 1000).toFixed(1)} s, checked`)
    show.hint(`Start on it: holdfast serve --store sqlite:${made.target}`)
    return 0
  } finally {
    status.close()
  }
}

function sqliteFile(store: LocalStore): string {
  if (store.kind === 'sqlite') return store.path
  if (store.kind === 'postgres') throw wrong('The store is PostgreSQL, which is backed up with pg_dump')
  if (store.kind === 'memory') throw wrong('The store memory: keeps nothing that could be copied. Use sqlite:PATH')
  throw wrong('The store is an object of the config file. Name the file of a SQLite store with --store sqlite:PATH')
}
