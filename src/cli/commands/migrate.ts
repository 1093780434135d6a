import type { Command } from 'commander'
import type { Act, Cli } from '../command.ts'
import { exitCodes } from '../exit-code.ts'
import { withExamples } from '../help.ts'
import type { LocalStore, StoreFlags } from '../settings/local-store.ts'
import { storeFlag } from '../settings/store-url.ts'
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
      'Makes the schema of a store, or brings it up to date, as a server does when it starts. For a SQLite file it is refused while a ' +
        'server has it open; nodes on PostgreSQL go on meanwhile. Within a major, a migration only adds. Take a copy before.',
    )
    .option('--store <url>', 'the store, as of serve (default: that of a server started here)', storeFlag)
    .option('--config <file>', 'the config file, as of serve')
    .option('--check', 'change nothing, and end with 1 if a migration is due')
    .action(act(migrate))
  withExamples(command, [
    ['holdfast migrate', 'before the first start of a new version'],
    ['holdfast migrate --check', 'whether there is anything to do'],
    ['holdfast migrate --store postgres://db/holdfast', 'of a database, whose nodes go on'],
  ])
}

async function migrate({ around, global, show }: Cli, { check, ...flags }: Flags): Promise<number> {
  const { localStore, locally } = await import('../settings/local-store.ts')
  const { name, read, apply } = await migratable(await localStore(flags, around))
  const isDone = !check
  const { found, newest, missing } = await locally(() => read({ waits: isDone }))
  const isDue = missing.length > 0
  if (isDone) await locally(apply)
  // A newer minor than ours stays what it is.
  const versions = { from: found && versionText(found), to: versionText(isDue ? newest : (found ?? newest)) }
  if (global.json) show.json({ store: name, ...versions, isDue: isDue && !isDone })
  else show.line(`${oneLine(name)}: ${sentence(versions, isDue, isDone)}`)
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

interface Version {
  readonly major: number
  readonly minor: number
}

function versionText({ major, minor }: Version): string {
  return `${major}.${minor}`
}

interface Migratable {
  readonly name: string
  /** Who only asks does not wait for what others have locked. */
  read(patience: { readonly waits: boolean }): Promise<{
    readonly found?: Version | undefined
    readonly newest: Version
    readonly missing: readonly unknown[]
  }>
  apply(): Promise<unknown>
}

async function migratable(store: LocalStore): Promise<Migratable> {
  if (store.kind === 'sqlite') {
    const { path } = store
    const { migrateStore, readStoreSchema } = await import('../../stores/sqlite/index.ts')
    return { name: path, read: async () => readStoreSchema(path), apply: () => migrateStore(path) }
  }
  if (store.kind === 'postgres') {
    const { url } = store
    const { loadDatabase } = await import('../settings/local-store.ts')
    const { migrateStore, nameOf, readStoreSchema } = await loadDatabase()
    return { name: nameOf(url), read: (patience) => readStoreSchema(url, patience), apply: () => migrateStore(url) }
  }
  if (store.kind === 'memory')
    throw wrong('The store memory: has no schema to migrate. Use sqlite:PATH or postgres://…')
  throw wrong('The store is an object of the config file, and migrates itself. Name another with --store')
}
