import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SiteServer, serveSite } from '../../site/server.ts'

async function served(): Promise<SiteServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  writeFileSync(join(folder, 'index.html'), 'the first page')
  const server = await serveSite(folder)
  onTestFinished(async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return server
}

/** What comes back for a target as it stands: a client of HTTP would tidy it up, or refuse to send it. */
async function answerTo(url: string, target: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  return text(socket)
}

describe('the server of the site', () => {
  it.each(['//', '///', 'http://[', 'http://', '//[', '/%', '/%00', '/..%2f..%2f..%2fetc%2fpasswd', '/nowhere'])(
    'answers %s, which is no page of it, and goes on',
    async (target) => {
      const { url } = await served()
      expect(await answerTo(url, target)).toMatch(/^HTTP\/1\.1 404 /)
      expect(await answerTo(url, '/')).toMatch(/^HTTP\/1\.1 200 [\s\S]*the first page/)
    },
  )
})

describe('npm run docs', () => {
  it('says with --help which flags there are, and builds nothing', async () => {
    const asked = promisify(execFile)(process.execPath, ['site/main.ts', '--help'])
    expect(await asked).toEqual({ stdout: 'It takes --out, --port, --build-only\n', stderr: '' })
  })
})
