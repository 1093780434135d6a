import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { commandStart } from '../command-start.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import type { LocalStore, StoreFlags } from '../settings/local-store.ts'
import { dumpCommand, storeFlag } from '../settings/store-url.ts'
import { duration } from '../show/ages.ts'
import { fileSize } from '../show/file-size.ts'
import { oneLine } from '../show/plain-text.ts'
import { progressBar } from '../show/progress-bar.ts'
import { StatusLine } from '../show/status-line.ts'
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
      'Copies a SQLite store into one file, readable by its owner alone, and checks the copy. A server may be at work on the store: ' +
        'it is not disturbed, and the copy holds everything that was acknowledged before it began. To restore one, stop the server, ' +
        'put the copy in the place of the store, or name it with --store, and start. For PostgreSQL it says which command to use.',
    )
    .argument('<file>', 'where to put the copy')
    .option('--store <url>', 'the store, as of serve (default: that of a server started here)', storeFlag)
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
  const { localStore, locally } = await import('../settings/local-store.ts')
  const path = sqliteFile(await localStore(store, around), file)
  const { backUp } = await import('../../stores/sqlite/index.ts')
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
    const made = await locally(() => backUp({ path, target, signal, onProgress, ...(force && { force }) }))
    const durationMs = Math.max(0, around.clock.now() - startedAt)
    status.close()
    if (global.json) show.json({ file: made.target, store: path, bytes: made.bytes, durationMs })
    else show.line(`${oneLine(made.target)}: ${fileSize(made.bytes)} in ${duration(durationMs)}, checked`)
    show.hint(`Start on it: ${commandStart(around.env)} serve --store sqlite:${made.target}`)
    return exitCodes.ok
  } finally {
    status.close()
  }
}

function sqliteFile(store: LocalStore, file: string): string {
  if (store.kind === 'sqlite') return store.path
  if (store.kind === 'postgres')
    throw wrong(`PostgreSQL has a program of its own for this. Use: ${dumpCommand(store.url, file)}`)
  if (store.kind === 'memory') throw wrong('The store memory: keeps nothing that could be copied. Use sqlite:PATH')
  throw wrong('The store is an object of the config file. Name the file of a SQLite store with --store sqlite:PATH')
}
