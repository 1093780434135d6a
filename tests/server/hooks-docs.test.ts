import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cli } from '../cli/harness/cli.ts'
import { OwnedProcess } from './harness/owned-process.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/hooks.md'), 'utf8')
const [webhook = '', receiver = '', authenticate = ''] = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].flatMap(
  (match) => match[1] ?? [],
)

const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? [])
const [, secret = ''] = /^export WEBHOOK_SECRET=(\S+)$/m.exec(commands[0] ?? '') ?? []

function started(folder: string, file: string, text: string): OwnedProcess {
  writeFileSync(join(folder, file), text.replaceAll("from 'holdfast'", `from '${join(root, 'src/index.ts')}'`))
  const isConfig = file === 'holdfast.config.ts'
  const program = isConfig
    ? [join(root, 'bin/holdfast.js'), 'serve', '--port', '0', '--store', 'memory:']
    : [join(folder, file)]
  const env = { WEBHOOK_SECRET: secret, XDG_STATE_HOME: folder }
  const child = new OwnedProcess({ arguments: program, env, folder })
  onTestFinished(async () => void (await child.end('SIGKILL')))
  return child
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-hooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function run(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const body = JSON.stringify({ agent: 'echo', prompt: 'hi' })
  const sent = { 'content-type': 'application/json', ...headers }
  return (await fetch(`${url}/v1/threads/t/runs`, { method: 'POST', headers: sent, body })).status
}

describe('docs/hooks.md', () => {
  it('has a config file and a receiver that understand each other', async () => {
    const folder = newFolder()
    const listens = receiver
      .replace('server.listen(3000,', 'server.listen(0,')
      .replace("'receiving'", "'receiving ' + JSON.stringify(server.address())")
    const receiving = started(folder, 'receiver.ts', listens)
    const [, port = ''] = await receiving.line(/^receiving .*"port":(\d+)/)
    const [, here = '', allowing = ''] = /in the config file `(url: \S+)` with `(\w+: true)`/.exec(page) ?? []
    const config = webhook
      .replace("url: 'https://app.example/holdfast'", `${here.replace('3000', port)}, ${allowing}`)
      .replace('export default {', "export default {\n  token: 'secret',")
    const server = started(folder, 'holdfast.config.ts', config)
    const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
    const told = receiving.line(/^bg_0 completed$/)
    expect(await run(url, { authorization: 'Bearer secret' })).toBe(202)
    await told
    expect(commands.slice(1, 3)).toEqual(['node receiver.ts\n', 'npx holdfast serve\n'])
    const again = receiving.line(/^bg_1 completed$/)
    const args = (commands[3] ?? '').trim().split(' ').slice(2)
    const env = { WEBHOOK_SECRET: secret, HOLDFAST_URL: url }
    expect(await cli(args, { folder, env })).toMatchObject({ code: 0, stdout: 'hi\n' })
    await again
    const forged = await fetch(`http://127.0.0.1:${port}/holdfast`, { method: 'POST', body: '{"id": "bg_1"}' })
    expect(forged.status).toBe(401)
  })

  it('has a config file that says who is asking', async () => {
    const server = started(newFolder(), 'holdfast.config.ts', authenticate)
    const [, url = ''] = await server.line(/^holdfast listening on (\S+)$/)
    expect([await run(url, {}), await run(url, { 'x-user': 'alice' })]).toEqual([401, 202])
  })
})
