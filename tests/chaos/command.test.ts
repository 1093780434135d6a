import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chaos } from '../../src/chaos/index.ts'
import { printedBy, programUnder } from '../docs-program.ts'
import { startServer } from '../server/harness/server.ts'
import { linesOf, soundDraft } from '../unit/chaos/sound-history.ts'
import { expectHeld, timeoutMs } from './held.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-command-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** How the program ends on a history, and what it prints. */
async function checked(lines: readonly object[]): Promise<Ended> {
  const file = join(folder, 'history.ndjson')
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return ended('--check', file)
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function ended(...args: readonly string[]): Promise<Ended> {
  return run(process.execPath, [join(root, 'src/chaos/main.ts'), ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  )
}

describe('the chaos program', () => {
  it('says that a sound history holds, and ends with 0', async () => {
    const { code, stdout } = await checked(linesOf(soundDraft()))
    expect(stdout).toMatch(/^10 acknowledged operations: [\s\S]*0 violations\nIt holds\.\n$/)
    expect(code).toBe(0)
  })

  it('shows what is broken with its witness, and ends with 1', async () => {
    const draft = soundDraft()
    const entries = draft.entries.filter(({ kind }) => kind !== 'effect')
    const { code, stdout } = await checked(linesOf({ ...draft, entries }))
    expect(stdout).toMatch(/- G11: bg_0 told of s in attempt 1, and executed it last in 0\n {4}2 task\.started bg_0/)
    expect(code).toBe(1)
  })

  it('takes nothing out of nothing for a failure', async () => {
    const draft = soundDraft()
    const kinds = ['round', 'calm', 'served', 'over']
    const entries = draft.entries.filter(({ kind }) => kinds.includes(kind))
    const { code, stdout } = await checked(
      linesOf({ logs: { 'alice/t0': [] }, tasks: new Map(), entries, untaken: [] }),
    )
    expect(stdout).toContain('0 violations\nNothing was acknowledged')
    expect(code).toBe(1)
  })

  it('takes a round that came to a standstill before it had what was asked for for a failure', async () => {
    const { code, stdout } = await checked([...linesOf(soundDraft()), { kind: 'missing', what: '2 kill' }])
    expect(stdout).toContain('0 violations\nIt came to a standstill, and what was asked for is missing: 2 kill.')
    expect(code).toBe(1)
  })
})

describe('an option that would not be heeded, or cannot be', () => {
  it.each([
    ['--release --store postgres:', '--store cannot be used here: a release takes --release'],
    ['--release --nodes 5', '--nodes cannot'],
    ['--phase kills --minutes 5', '--minutes cannot'],
    ['--release --url http://127.0.0.1:1 --token alice=t', '--url, --token cannot'],
    ['--scale 0.1', '--scale cannot be used here: a run on nodes of its own takes --store'],
    ['--url http://127.0.0.1:1 --token alice=t --store sqlite:', '--store cannot be used here: --url takes --url'],
    ['--token alice=t', '--token cannot'],
    ['--store mysql:', '--store is sqlite, postgres or postgres://…, not mysql:'],
    ['--check history.ndjson --seed 3', '--seed cannot be used here: --check takes --check alone'],
    ['--check /no/history.ndjson', 'There is no file /no/history.ndjson'],
    ['--check /tmp', 'There is no file /tmp'],
    ['--nodes 2', '--nodes cannot be used here: on SQLite there is one'],
    ['--store sqlite --nodes 2', '--nodes cannot be used here: on SQLite there is one'],
    ['--url http://127.0.0.1:1 --token alice', '--token is PRINCIPAL=TOKEN, once for each principal'],
    ['--url http://127.0.0.1:1 --token =secret', '--token is PRINCIPAL=TOKEN, once for each principal'],
    ['--check /dev/null', '/dev/null holds no history'],
    ['--phase kills,none', 'There is no phase none: use kills, '],
    ['--url nowhere --token alice=t', '--url is http:// or https:// and a host, not nowhere'],
    ['--url ftp://127.0.0.1 --token alice=t', '--url is http:// or https:// and a host, not ftp://127.0.0.1'],
    ['--minute 3', "Unknown option '--minute'. --help has them all"],
    ['--minutes', "Option '--minutes <value>' argument missing. --help has them all"],
    ['postgres', "Unexpected argument 'postgres'. --help has them all"],
  ])('is refused, with 1, and nothing is begun: %s', async (args, sentence) => {
    const { code, stdout, stderr } = await ended(...args.split(' '))
    expect(stderr).toContain(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('is named by the help, as each that can be', async () => {
    const { code, stdout } = await ended('--help')
    expect(code).toBe(0)
    const named = [...stdout.matchAll(/--([a-z]+)/g)].map(([, name]) => name)
    const program = await readFile(join(root, 'src/chaos/flags.ts'), 'utf8')
    const known = [...program.matchAll(/^ {4}([a-z]+): \{ type:/gm)].map(([, name]) => name)
    expect(known).toContain('phase')
    expect(known.filter((name) => !named.includes(name))).toEqual(['help'])
  })
})

describe('chaos', { timeout: timeoutMs }, () => {
  it('loads nodes that somebody else runs, in threads of its own', async () => {
    const server = await startServer({ store: 'memory' })
    try {
      const enough = { acknowledged: 60, cuts: 5 }
      const report = await chaos({ seed: 3, urls: [server.url], tokens: server.tokens, leaseMs: 1000, enough })
      expectHeld(report)
      expect(report.faults).toEqual({})
      const { threads } = await server
        .request<{ threads: { thread: string }[] }>('GET', '/v1/threads')
        .then(({ body }) => body)
      expect(threads.every(({ thread }) => thread.startsWith('chaos-'))).toBe(true)
    } finally {
      await server.end()
    }
  })

  it('refuses to do to nodes of somebody else what was asked for', async () => {
    const server = await startServer({ store: 'memory' })
    try {
      const asked = chaos({ seed: 3, urls: [server.url], tokens: server.tokens, enough: { faults: { kill: 1 } } })
      await expect(asked).rejects.toThrow('There is no fault kill here')
    } finally {
      await server.end()
    }
  })

  it('is used as the page on reliability says', async () => {
    const page = await readFile(join(root, 'docs/reliability.md'), 'utf8')
    expect(await printedBy(programUnder('In your own program', page))).toBe('it holds\n')
  })
})
