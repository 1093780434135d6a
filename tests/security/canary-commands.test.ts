import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { fakeSurroundings } from '../unit/cli/fake-surroundings.ts'
import { Canaries } from './harness/canaries.ts'
import { program } from './harness/configured-server.ts'

const canaries = new Canaries()
const secret = canaries.plant('a secret')
// As `openssl rand -base64` writes it.
const padded = `${secret}=`
// Nobody listens there.
const database = `postgres://holdfast:${secret}@127.0.0.1:1/holdfast`

interface Row {
  readonly what: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Each is refused, and says why without the secret. */
const rows: readonly Row[] = [
  ...[
    { what: 'a token with a space', env: { HOLDFAST_TOKEN: `${secret} ${secret}` } },
    { what: 'a token with a control character', env: { HOLDFAST_TOKEN: `${secret}\u0007` } },
    { what: 'a token without its principal', env: { HOLDFAST_TOKENS: secret } },
    { what: 'a padded token without its principal', env: { HOLDFAST_TOKENS: padded } },
    { what: 'a padded token behind a right one', env: { HOLDFAST_TOKENS: `alice=a-right-token,${padded}` } },
    { what: 'a token behind a colon', env: { HOLDFAST_TOKENS: `alice:${secret}` } },
    { what: 'a token with a comma in it', env: { HOLDFAST_TOKENS: `alice=half,${secret}` } },
    { what: 'one token of two principals', env: { HOLDFAST_TOKENS: `alice=${secret},bob=${secret}` } },
    { what: 'two tokens of one principal', env: { HOLDFAST_TOKENS: `alice=${secret},alice=other` } },
    { what: 'a misspelt setting', env: { HOLDFAST_TOKN: secret } },
    { what: 'a database with a misspelt scheme', env: { HOLDFAST_STORE: database.replace('postgres:', 'postgers:') } },
    { what: 'a database without slashes', env: { HOLDFAST_STORE: database.replace('//', '') } },
    { what: 'a database with an @ in its password', env: { HOLDFAST_STORE: database.replace('@', '@x@') } },
    { what: 'a database with a / in its password', env: { HOLDFAST_STORE: database.replace('@', '/x@') } },
    { what: 'a database with a ? in its password', env: { HOLDFAST_STORE: database.replace('@', '?x@') } },
    { what: 'a database with a # in its password', env: { HOLDFAST_STORE: database.replace('@', '#x@') } },
    { what: 'a database with a wrong port', env: { HOLDFAST_STORE: database.replace(':1/', ':port/') } },
    { what: 'a database of another kind', env: { HOLDFAST_STORE: `redis://:${secret}@127.0.0.1` } },
  ].flatMap(({ what, env }) =>
    [['serve', '--port', '0'], ['doctor'], ['doctor', '--json']].map((args) => ({ what, args, env })),
  ),
  ...[
    { what: 'an address with a password', env: { HOLDFAST_URL: `http://user:${secret}@127.0.0.1:1` } },
    { what: 'an address that is none, with a password', env: { HOLDFAST_URL: `htp://user:${secret}@127.0.0.1:1` } },
    { what: 'an address without a host, with a password', env: { HOLDFAST_URL: `http//user:${secret}@127.0.0.1` } },
    { what: 'an address with a token behind it', env: { HOLDFAST_URL: `http://127.0.0.1:1/?token=${secret}` } },
  ].flatMap(({ what, env }) => [['ps'], ['doctor'], ['doctor', '--json']].map((args) => ({ what, args, env }))),
  ...['ps', 'threads', 'agents'].flatMap((command) => [
    { what: 'a token for nobody', args: [command, '--token', secret, '--url', 'http://127.0.0.1:1'] },
    { what: 'a token for nobody', args: [command, '--json', '--token', secret, '--url', 'http://127.0.0.1:1'] },
    { what: 'a token that cannot be sent', args: [command, '--token', `${secret} x`, '--url', 'http://127.0.0.1:1'] },
    { what: 'a login link as an address', args: [command, '--url', `http://127.0.0.1:1/console#login=${secret}`] },
    { what: 'an address with a password', args: [command, '--url', `http://user:${secret}@127.0.0.1:1`] },
    { what: 'an address that is none', args: [command, '--url', `htp://user:${secret}@127.0.0.1:1`] },
  ]),
  ...['doctor', 'migrate', 'backup to.db', 'prune --events 30d'].flatMap((command) => [
    { what: 'a database that is not there', args: [...command.split(' '), '--store', database] },
    { what: 'the same in JSON', args: [...command.split(' '), '--json', '--store', database] },
    { what: 'a password in its query', args: [...command.split(' '), '--store', `${database}?password=${secret}`] },
  ]),
]

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-canaries-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('a command that is given a secret', () => {
  it.each(rows)('$what: $args says nothing of it', async ({ args, env = {} }) => {
    const folder = newFolder()
    const around = fakeSurroundings({ env: { XDG_STATE_HOME: folder, ...env }, folder })
    expect(await main(args, around)).toBeGreaterThan(0)
    const { out, err } = around.written
    expect(canaries.foundIn('stdout', out)).toEqual([])
    expect(canaries.foundIn('stderr', err)).toEqual([])
    expect(err + out).not.toBe('')
  })
})

describe('a server whose database', () => {
  const serving = (store: string, env: Readonly<Record<string, string>> = {}): OwnedProcess => {
    const folder = newFolder()
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default {}')
    const settings = { HOLDFAST_STORE: store, HOLDFAST_LOG_LEVEL: 'debug', XDG_STATE_HOME: folder, ...env }
    const server = new OwnedProcess({ arguments: [program, 'serve', '--port', '0'], env: settings, folder })
    onTestFinished(async () => void (await server.end('SIGKILL')))
    return server
  }
  const said = ({ stdout, stderr }: OwnedProcess): string => [...stdout, ...stderr].join('\n')

  it('is not there says so, and nothing of the password', async () => {
    const server = serving(database)
    expect((await server.ended).code).toBe(1)
    expect(said(server)).toContain('holdfast: ')
    expect(canaries.foundIn('the output', said(server))).toEqual([])
  })

  it('refuses the password says so, and nothing of it', async () => {
    const refusing = createServer((socket) => {
      // The first bytes are how the client introduces itself; whatever it says, it is answered with an error.
      socket.once('data', () => {
        const fields = ['SFATAL', 'VFATAL', 'C28P01', 'Mpassword authentication failed for user "holdfast"', '']
        const body = Buffer.from(fields.map((field) => `${field}\0`).join(''))
        const head = Buffer.alloc(5)
        head.write('E')
        head.writeInt32BE(body.length + 4, 1)
        socket.end(Buffer.concat([head, body]))
      })
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void refusing.close())
    const { port } = refusing.address() as { port: number }
    const asked = serving(`postgres://holdfast@127.0.0.1:${port}/holdfast`, { PGPASSWORD: secret })
    const named = serving(`postgres://holdfast:${secret}@127.0.0.1:${port}/holdfast`)
    for (const server of [asked, named]) {
      expect((await server.ended).code).toBe(1)
      expect(said(server)).toContain('password authentication failed')
      expect(canaries.foundIn('the output', said(server))).toEqual([])
    }
  })
})
