import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { type PostgresServer, startServer } from '../postgres/harness/server.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
let folder = ''
let server: PostgresServer | undefined

/** A certificate for this address, signed by itself. */
function makeCertificate(): { readonly certificate: string; readonly key: string } {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
  chmodSync(folder, 0o755)
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  execFileSync('openssl', [...kind, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
  chmodSync(key, 0o600)
  // As root the server runs as another user, whose key it has to be.
  if (process.getuid?.() === 0) {
    const id = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
    chownSync(key, id, statSync(key).gid)
  }
  return { certificate, key }
}

beforeAll(async () => {
  if (!hasOpenssl) return
  const { certificate, key } = makeCertificate()
  server = await startServer({ ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key })
})

afterAll(async () => {
  await server?.stop()
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

function storeOf(query: string): string {
  return `${server?.url}?${query}`
}

describe.skipIf(!hasOpenssl)('a store over TLS', () => {
  it('is one whose server shows a certificate that the given root signed', async () => {
    const root = encodeURIComponent(join(folder, 'server.crt'))
    const store = storeOf(`sslmode=verify-full&sslrootcert=${root}`)
    const node = await LocalServer.start({ folder: tempFolder(), env: { HOLDFAST_STORE: store } })
    const { id } = await node.post<{ id: string }>('/v1/threads/t/runs', { agent: 'echo', prompt: 'hi' })
    expect(await node.follow(`/v1/threads/t/events?task=${id}`)).toContain('task.completed')
    expect(await node.end('SIGTERM')).toBe(0)
  })

  it('is refused with one line if nobody known signed the certificate', async () => {
    const home = tempFolder()
    const env = { XDG_STATE_HOME: home, HOLDFAST_STORE: storeOf('sslmode=verify-full') }
    const end = await cli(['serve', '--port', '0'], { folder: home, env })
    expect([end.code, end.stderr]).toEqual([
      1,
      expect.stringMatching(/^holdfast: .*cannot be reached.*certificate.*\n$/),
    ])
  })

  it('is accepted from anybody by sslmode=no-verify, which hides but does not prove', async () => {
    const env = { HOLDFAST_STORE: storeOf('sslmode=no-verify') }
    const node = await LocalServer.start({ folder: tempFolder(), env })
    expect(await node.end('SIGTERM')).toBe(0)
  })
})
