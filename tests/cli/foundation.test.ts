import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { cli, RunningCli } from './harness/cli.ts'

// Nothing listens there: it is the port of `discard`, which nobody but root could take.
const nowhere = 'http://127.0.0.1:9'
const oldNode = '/usr/bin/node'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
})

afterAll(() => server.end())

describe('a command', () => {
  it('takes the flags of every command before and after its name', async () => {
    const before = await cli(['--json', '--quiet', 'threads'], { server })
    const after = await cli(['threads', '--json', '--quiet'], { server })
    expect([before, after]).toEqual([
      { code: 0, stdout: '{"threads":[]}\n', stderr: '' },
      { code: 0, stdout: '{"threads":[]}\n', stderr: '' },
    ])
  })

  it('finds its server by flag, else by variable, else by the config file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const config = { url: server.url, token: server.tokens['alice'] }
    writeFileSync(join(folder, 'holdfast.config.ts'), `export default ${JSON.stringify(config)}`)
    expect((await cli(['threads'], { folder })).code).toBe(0)
    expect((await cli(['threads'], { folder, env: { HOLDFAST_URL: nowhere } })).code).toBe(7)
    expect((await cli(['threads', '--url', server.url], { folder, env: { HOLDFAST_URL: nowhere } })).code).toBe(0)
    const refused = await cli(['threads'], { folder, env: { HOLDFAST_TOKEN: 'wrong' } })
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('The server refused the token of HOLDFAST_TOKEN\n')
    const file = join(folder, 'holdfast.config.ts')
    writeFileSync(file, `export default ${JSON.stringify({ ...config, token: 'wrong' })}`)
    expect((await cli(['threads'], { folder })).stderr).toContain(`refused the token of the config file ${file}\n`)
  })

  it('goes on without a config file that throws, and says so in one line; a server does not start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'holdfast.config.ts'), 'throw new Error("WEBHOOK_SECRET\\nis not set")')
    const why = 'The config file holdfast.config.ts cannot be loaded: WEBHOOK_SECRET is not set (holdfast.config.ts:1)'
    mkdirSync(join(folder, 'holdfast'))
    writeFileSync(join(folder, 'holdfast', 'token'), server.tokens['alice'] ?? '')
    const env = { HOLDFAST_URL: server.url, XDG_STATE_HOME: folder }
    const listed = await cli(['threads', '--json', '--quiet'], { folder, env })
    expect(listed).toEqual({
      code: 0,
      stdout: expect.stringContaining('threads') as string,
      stderr: `holdfast: ${why}; this command does without it\n`,
    })
    const served = await cli(['serve', '--port', '0', '--store', 'memory:'], { folder })
    expect(served).toMatchObject({ code: 1, stdout: '', stderr: `holdfast: ${why}\n` })
  })

  it.each([
    ['throws', 'export const agent = 1\n\nthrow new Error("no key")', 'no key (agent.ts:3)'],
    ['is misspelt', 'export const agent = {\n  name: 1 2\n}', '(agent.ts:2)'],
    ['has no such name', 'export const other = 1', "named 'agent' (holdfast.config.ts:2)"],
  ])('says at which line a config file cannot be loaded, where what it imports %s', async (_what, text, why) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'agent.ts'), text)
    const config = "// My agents\nimport { agent } from './agent.ts'\nexport default { agents: { agent } }"
    writeFileSync(join(folder, 'holdfast.config.ts'), config)
    const { code, stderr } = await cli(['serve', '--port', '0', '--store', 'memory:'], { folder })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^holdfast: The config file holdfast\.config\.ts cannot be loaded: .+\n$/)
    expect(stderr.trimEnd().endsWith(why)).toBe(true)
  })

  it('takes a config file of JSON', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'mine.json'), '{ "store": "sqlite:./mine.db" }')
    const { code, stdout } = await cli(['migrate', '--check', '--config', 'mine.json', '--json'], { folder })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ store: join(folder, 'mine.db'), isDue: true })
  })

  it('refuses a setting of the config file that does not exist, naming the nearest', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default { tokn: "x" }')
    const line = 'holdfast: There is no setting tokn, which holdfast.config.ts has. The nearest is token\n'
    expect(await cli(['threads'], { folder })).toEqual({ code: 2, stdout: '', stderr: line })
  })

  it('says 7 and what to do where no server is', async () => {
    // Without trying for long: a time limit that it would else reach.
    const { code, stdout, stderr } = await cli(['ps', '--url', nowhere, '--timeout', '30s'])
    expect([code, stdout]).toEqual([7, ''])
    expect(stderr).toBe(
      `holdfast: ${nowhere} cannot be reached; is the server running?\n` +
        '  Start one with `holdfast serve`, or name another with --url or HOLDFAST_URL.\n',
    )
  })

  it('says 4 where it has no token, and how to give one', async () => {
    const { code, stderr } = await cli(['ps', '--url', server.url])
    expect(code).toBe(4)
    expect(stderr).toMatch(
      /^holdfast: Give a valid token .*\n {2}Give the token of the server with --token or HOLDFAST_TOKEN\.\n/,
    )
  })

  it('says 4 and the request id to a wrong token, which it does not repeat', async () => {
    const { code, stdout, stderr } = await cli(['ps', '--token', 'mistyped'], { server })
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(
      /^holdfast: The server refused the token of --token\n {2}Give the token .*--token or HOLDFAST_TOKEN.\n {2}Request id: \S+\n$/,
    )
    expect(stderr).not.toContain('mistyped')
  })

  it('says errors as a problem document to programs', async () => {
    const { code, stdout, stderr } = await cli(['inspect', 'bg_99', '--json'], { server })
    expect([code, stdout]).toEqual([5, ''])
    expect(JSON.parse(stderr)).toMatchObject({
      type: 'urn:holdfast:error:not_found',
      status: 404,
      code: 'not_found',
      requestId: expect.any(String) as string,
      exitCode: 5,
    })
  })

  it.each([
    [['pz'], "unknown command 'pz'. The nearest is ps"],
    [['ps', '--wacth'], "unknown option '--wacth'. The nearest is --watch"],
    [['ps', '--jsn'], "unknown option '--jsn'. The nearest is --json"],
    [['--tokn', 'x', 'ps'], "unknown option '--tokn'. The nearest is --token"],
    [['ps', '--limit', '0'], "option '--limit <count>' argument '0' is invalid. It is not a whole number from 1 on."],
    [
      ['ps', '--status', 'done'],
      "option '--status <statuses>' argument 'done' is invalid. \"done\" is not one of pending, running, completed, failed, cancelled.",
    ],
    [
      ['ps', '--timeout', 'soon'],
      "option '--timeout <time>' argument 'soon' is invalid. It is no time such as 500ms, 5s, 2m, 1h or 7d.",
    ],
    [['ps', '--url', 'here'], '--url: "here" is no URL of a server, such as http://127.0.0.1:4747'],
    [['tree'], "missing required argument 'id'. `holdfast tree --help` says what it takes"],
    [
      ['ps', 'bg_1'],
      "too many arguments for 'ps'. Expected 0 arguments but got 1: bg_1. `holdfast ps --help` says what it takes",
    ],
    [
      ['completion', 'csh'],
      "command-argument value 'csh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish.",
    ],
  ])('says 2 and what is wrong with %j', async (args, line) => {
    expect(await cli(args, { env: { HOLDFAST_TOKEN: 'x' } })).toEqual({
      code: 2,
      stdout: '',
      stderr: `holdfast: ${line}\n`,
    })
  })

  it('says what is wrong with its use as a problem document to programs', async () => {
    const { code, stdout, stderr } = await cli(['ps', '--json', '--wacth'])
    expect([code, stdout]).toEqual([2, ''])
    const title = "unknown option '--wacth'. The nearest is --watch"
    expect(JSON.parse(stderr)).toEqual({ type: 'about:blank', title, exitCode: 2 })
  })

  it('gives up with 124 when its time is over', async () => {
    const { code, stdout, stderr } = await cli(['ps', '--watch', '--timeout', '300ms'], { server })
    expect([code, stdout, stderr]).toEqual([124, '', 'holdfast: gave up; --timeout has passed\n'])
  })

  it('ends with 130 at Ctrl-C', async () => {
    const watching = new RunningCli(['ps', '--watch', '--json'], { server })
    await watching.until(/tasks/)
    watching.child.kill('SIGINT')
    expect(await watching.ended).toMatchObject({ code: 130, stderr: '' })
  })

  it('ends without a word when nobody reads it', async () => {
    const watching = new RunningCli(['ps', '-a', '--watch', '--json'], { server })
    await watching.until(/tasks/)
    watching.child.stdout.destroy()
    const body = { agent: 'echo', prompt: 'hi' }
    await server.request('POST', '/v1/threads/unread/runs', { body })
    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it.runIf(existsSync(oldNode))('says one line to a Node that is too old', async () => {
    const { code, stdout, stderr } = await cli(['ps'], { node: oldNode })
    if (code === 7) return
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^holdfast: Node 24 or later is needed; this is \d+\.\d+\.\d+\n$/)
  })
})

describe('the help', () => {
  it('reads like a manual page: usage, what it is, its flags, the flags of all, examples', async () => {
    const { code, stdout, stderr } = await cli(['ps', '--help'])
    expect([code, stderr]).toEqual([0, ''])
    const places = [
      'Usage: holdfast ps',
      'Lists tasks',
      '\nOptions:',
      '\nGlobal Options:',
      '\nExamples:\n  $ holdfast ps',
    ]
    expect(places.map((place) => stdout.indexOf(place)).every((at, index, all) => at > (all[index - 1] ?? -1))).toBe(
      true,
    )
  })

  it('of every command has a description and examples of that command', async () => {
    const { stdout: whole } = await cli(['--help'])
    const groups = whole.slice(whole.indexOf('\nStart:'), whole.indexOf('\nExamples:'))
    const names = [...groups.matchAll(/^ {2}([a-z]+) /gm)].flatMap((match) => match[1] ?? [])
    expect(names.length).toBeGreaterThan(7)
    for (const name of names.filter((each) => each !== 'help')) {
      const { code, stdout } = await cli([name, '--help'])
      const [, examples = ''] = stdout.split('\nExamples:\n')
      expect([name, code]).toEqual([name, 0])
      expect(examples.split('\n').filter(Boolean), name).not.toEqual([])
      expect(examples, name).toContain(`holdfast ${name}`)
    }
  })
})
