import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromSources, programsIn } from '../docs-program.ts'
import { OwnedProcess } from './harness/owned-process.ts'

const root = resolve(import.meta.dirname, '../..')
const [, section = ''] = /^## Serve it$(.*?)^## /ms.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
const [program = ''] = programsIn(section)

const hasCurl = spawnSync('which', ['curl']).status === 0

describe('the server of the README', () => {
  it('is started by its command, and answers', async () => {
    expect(commands[0]).toBe('npx holdfast serve\n')
    const { server } = await started(['bin/holdfast.js', 'serve', '--port', '0'])
    await server.line(/^holdfast listening on http:\S+$/)
  })

  it.skipIf(!hasCurl)('is started by its program, tells a login link, and does what its commands ask for', async () => {
    const { server, home } = await started(['program.ts'])
    const [, url = ''] = await server.line(/(http\S+)\/console#login=\S+$/)
    const script = (commands[1] ?? '').replaceAll('http://127.0.0.1:4747', url)
    expect(script).toContain(url)
    const output = execFileSync('/bin/sh', ['-ec', script], { env: { ...process.env, HOME: home }, encoding: 'utf8' })
    expect(output).toMatch(/retry: 1000.*"task":"bg_0".*You said: hi.*task\.completed.*"head":\d.*{"cancelled":\[\]}/s)
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})

/** Starts Node with a home folder of its own, in which the program of the README is. */
async function started(given: readonly [string, ...string[]]): Promise<{ server: OwnedProcess; home: string }> {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-readme-'))
  const source = fromSources(program).replace('agents: { helper } }))', 'agents: { helper } }), { port: 0 })')
  writeFileSync(join(home, 'program.ts'), source)
  const [file, ...rest] = given
  const path = file === 'program.ts' ? join(home, file) : join(root, file)
  const server = new OwnedProcess({ arguments: [path, ...rest], env: { HOME: home }, folder: home })
  onTestFinished(async () => {
    await server.end('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  })
  return { server, home }
}
