import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import type { LocalStore, StoreFlags } from '../settings/local-store.ts'
import { oneLine } from '../show/plain-text.ts'
import { wrong } from '../wrong.ts'

interface Flags extends StoreFlags {
  readonly check?: true
}

/** `holdfast migrate`: brings the schema of the store up to date. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('migrate')
    .summary('bring the schema of the store up to date')
    .description(
      'Makes the schema of a store, or brings it up to date, as a server does when it starts. It is refused while a server has the ' +
        'store open. Within a major, a migration only adds. Take a copy before: holdfast backup.',
    )
    .option('--store <url>', 'the store, as of serve (default: that of a server started here)')
    .option('--config <file>', 'the config file, as of serve')
    .option('--check', 'change nothing, and end with 1 if a migration is due')
    .action(act(migrate))
  withExamples(command, [
    ['holdfast migrate', 'before the first start of a new version'],
    ['holdfast migrate --check', 'whether there is anything to do'],
  ])
}

async function migrate({ around, global, show }: Cli, { check, ...store }: Flags): Promise<number> {
  const { localStore, locally } = await import('../settings/local-store.ts')
  const path = migratable(await localStore(store, around))
  const { migrateStore, readStoreSchema } = await import('../../stores/sqlite/index.ts')
  const { found, newest, missing } = await locally(async () => readStoreSchema(path))
  const isDue = missing.length > 0
  const done = check ? undefined : await locally(() => migrateStore(path))
  // A newer minor than ours stays what it is.
  const versions = { from: found && versionText(found), to: versionText(isDue ? newest : (found ?? newest)) }
  if (global.json) show.json({ store: path, ...versions, isDue: isDue && !done })
  else show.line(`${oneLine(path)}: ${sentence(versions, isDue, done !== undefined)}`)
  return check && isDue ? exitCodes.error : exitCodes.ok
}

interface Versions {
  readonly from: string | undefined
  readonly to: string
}

function sentence({ from, to }: Versions, isDue: boolean, isDone: boolean): string {
  if (!isDue) return `schema ${to}, up to date`
  return `schema ${from ?? 'none'} → ${to}${isDone ? '' : ', due'}`
}

function versionText({ major, minor }: { readonly major: number; readonly minor: number }): string {
  return `${major}.${minor}`
}

function migratable(store: LocalStore): string {
  if (store.kind === 'sqlite') return store.path
  if (store.kind === 'memory') throw wrong('The store memory: has no schema to migrate. Use sqlite:PATH')
  if (store.kind === 'postgres') throw wrong('PostgreSQL is not supported yet. Use sqlite:PATH')
  throw wrong('The store is an object of the config file, and migrates itself. Name another with --store sqlite:PATH')
}
