import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHandler, createRuntime } from '../../src/index.ts'
import { printedBy, programsIn } from '../docs-program.ts'
import { localServer } from '../server/harness/local-server.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

async function handler(basePath?: string) {
  const runtime = createRuntime({ store: 'memory:', agents: {} })
  onTestFinished(() => runtime.close())
  const handle = createHandler(runtime, { tokens: { owner: 'secret' }, ...(basePath && { basePath }) })
  return (path: string, init?: RequestInit) => handle(new Request(`http://127.0.0.1${path}`, init))
}

function baseIn(html: string): string | undefined {
  return /<base href="([^"]*)"/.exec(html)?.[1]
}

describe('the files of the console', () => {
  it('are served to anybody, under a strict policy', async () => {
    const { server } = await localServer()
    const answer = await fetch(`${server.url}/console`)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-cache',
    })
    const html = await answer.text()
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/)
    expect(html).not.toMatch(/https?:\/\//)
  })

  it('that have a hash in their name are kept for ever, compressed, and not sent again', async () => {
    const { server } = await localServer()
    const html = await (await fetch(`${server.url}/console/`)).text()
    const [, script = ''] = /<script[^>]*type="module"[^>]*src="\.\/([^"]+)"/.exec(html) ?? []
    const answer = await fetch(`${server.url}/console/${script}`)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'x-content-type-options': 'nosniff',
    })
    const etag = answer.headers.get('etag') ?? ''
    const again = await fetch(`${server.url}/console/${script}`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    const plain = await fetch(`${server.url}/console/${script}`, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toBe(await answer.text())
  })

  it.each([
    ['/console', './console/'],
    ['/console/', './'],
    ['/console/tasks', './'],
    ['/console/tasks/bg_0', '../'],
    ['/console/threads/a%2Fb', '../'],
    ['/console/what/ever/there/is', '../../../'],
  ])('are found from %s by a relative base, wherever the server is mounted', async (path, base) => {
    const atRoot = await handler()
    expect(baseIn(await (await atRoot(path)).text())).toBe(base)
    const mounted = await handler('/tools/console')
    expect(baseIn(await (await mounted(`/tools/console${path}`)).text())).toBe(base)
  })

  it('are not found outside their folder, nor by another method', async () => {
    const ask = await handler()
    expect((await ask('/console/assets/nothing.js')).status).toBe(404)
    expect((await ask('/console/..%2f..%2fpackage.json')).headers.get('content-type')).toContain('text/html')
    expect((await ask('/consoles')).status).toBe(401)
    expect((await ask('/console', { method: 'POST' })).status).toBe(405)
    expect((await ask('/console', { method: 'HEAD' })).status).toBe(200)
  })

  it('are refused to a host that is not ours', async () => {
    const { server, raw } = await localServer()
    const answer = raw(`GET /console HTTP/1.1\r\nhost: evil.test:${server.port}\r\nconnection: close\r\n\r\n`)
    await answer.closed
    expect(answer.text).toMatch(/^HTTP\/1.1 403 /)
  })

  it('are mounted by the program of the page about it', async () => {
    const [program = ''] = programsIn(readFileSync('docs/console.md', 'utf8'))
    expect(await printedBy(program)).toBe('200 text/html; charset=utf-8\n')
  })

  it('have all views in one program, so that none can be missing once the page is there', () => {
    expect(globSync('dist/console/assets/*.js').length).toBe(1)
  })

  it('weigh at most 250 kB, compressed, all of them together', () => {
    const files = globSync('dist/console/**/*.{html,js,css,svg}')
    expect(files.length).toBeGreaterThan(3)
    const bytes = files.map((file) => gzipSync(readFileSync(file)).length)
    expect(bytes.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(250_000)
  })
})
