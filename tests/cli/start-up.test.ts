import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../server/harness/server.ts'
import { cli } from './harness/cli.ts'

// Writes what was loaded when the process exits, on stderr, one path to a line.
const reporter = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
process.on('exit', () => process.stderr.write('LOADED ' + JSON.stringify(loaded) + '\\n'))
`

let server: TestServer

beforeAll(async () => {
  server = await startServer({ store: 'memory' })
})

afterAll(() => server.end())

/** The sources that a command loads, and the packages. */
async function loadedBy(args: readonly string[]): Promise<string[]> {
  const nodeFlags = ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`]
  const { code, stderr } = await cli(args, { server, nodeFlags })
  expect([args, code, stderr.replace(/LOADED .*\n/, '')]).toEqual([args, 0, expect.any(String)])
  const urls = JSON.parse(/LOADED (.*)/.exec(stderr)?.[1] ?? '[]') as string[]
  expect(urls.some((url) => url.endsWith('/src/cli/main.ts'))).toBe(true)
  return urls.map((url) => url.replace(/^.*\/(src|node_modules)\//, '$1/'))
}

// All but the two packages that a command needs to be understood and to follow a log.
const ofServer =
  /^src\/(runtime|stores|server\/(?!host\.ts$|state-folder\.ts$)|index\.ts$)|^node_modules\/(?!commander\/|eventsource-parser\/)/

it.each([[['--help']], [['ps', '--help']], [['version']], [['--version']], [['completion', 'bash']]])(
  '%j loads neither a server nor a store',
  async (args) => {
    expect((await loadedBy(args)).filter((file) => ofServer.test(file))).toEqual([])
  },
)

it.each([[['ps']], [['threads']], [['agents']], [['ps', '--json', '-a']]])(
  '%j loads a client, and neither a server nor a store',
  async (args) => {
    const loaded = await loadedBy(args)
    expect(loaded).toContain('src/client/index.ts')
    expect(loaded.filter((file) => ofServer.test(file))).toEqual([])
  },
)
