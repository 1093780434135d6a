import type { Store } from '../../index.ts'
import { wrong } from '../wrong.ts'

const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const passwordInUser = /(\/\/[^/@:]*):[^/]*@/
const passwordInQuery = /([?&][^=&]*password[^=&]*=)[^&]*/gi

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/.test(text)
}

/** A URL of a database. What is wrong with one is said without it, since it may hold a password. */
export function postgresUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^postgres(ql)?:\/\//.test(text)) throw wrong(`The URL of the database is not right. Use ${form}`)
  // A password with a / or ? in it ends the name of the host early; what follows would be taken for the name of a database.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) {
    throw wrong(`The URL of the database has an @ after the host. Write / ? # and @ of a password as %2F %3F %23 %40`)
  }
  return text
}

/** A store as it may be shown. */
export function storeText(store: string | Store): string {
  if (typeof store !== 'string') return 'a store of the config file'
  if (!isPostgresUrl(store)) return store
  return store.replace(passwordInUser, '$1:***@').replace(passwordInQuery, '$1***')
}

// Where a password is a word like these, hiding it would hide names.
const words: readonly string[] = ['holdfast', 'postgres', 'postgresql', 'password']

/** What of a store the log must not show, wherever it stands. */
export function storeSecrets(
  store: string | Store | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  if (typeof store !== 'string' || !isPostgresUrl(store)) return []
  const { username = '', password = '', pathname = '', searchParams } = URL.parse(store) ?? {}
  const inQuery = [...(searchParams ?? [])].filter(([name]) => /password/i.test(name)).map(([, value]) => value)
  const names = [...words, username, pathname.slice(1)]
  const said = [password, decoded(password), ...inQuery, env['PGPASSWORD'] ?? '']
  return [...new Set(said)].filter((each) => each !== '' && !names.includes(each))
}

/**
 * Takes the flag `--store`. Everybody on a machine sees with what a program was started, so a password is taken out of that as
 * soon as it was read.
 */
export function storeFlag(text: string): string {
  if (storeText(text) !== text) process.title = `holdfast --store ${storeText(text)}`
  return text
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What copies a database into a file: its own schema and nothing else. It asks for the password, or takes PGPASSWORD. */
export function dumpCommand(store: string, file: string): string {
  const url = new URL(store)
  const schema = url.searchParams.get('schema') ?? 'holdfast'
  url.password = ''
  for (const name of [...url.searchParams.keys()]) {
    // Of what a URL may hold, the driver's own is nothing to the server's programs.
    if (!/^(ssl(mode|cert|key|rootcert)|host|port|user|connect_timeout)$/.test(name)) url.searchParams.delete(name)
  }
  return `pg_dump --format=custom --schema=${schema} --file=${shellWord(file)} ${shellWord(url.href)}`
}

function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
