import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { fakeSurroundings } from './fake-surroundings.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-main-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const around = fakeSurroundings({ env: { XDG_STATE_HOME: folder, ...env }, folder })
  const code = await main(args, around)
  return { code, out: around.written.out, err: around.written.err }
}

describe('holdfast serve', () => {
  it.each([
    [['--prot', '1'], {}, "unknown option '--prot'. The nearest is --port"],
    [['--stor=memory:'], {}, "unknown option '--stor=memory:'. The nearest is --store"],
    [['--port', 'http'], {}, '--port: "http" is not a whole number from 0 to 65535'],
    [['--port'], {}, "option '--port <number>' argument missing. `holdfast serve --help` says what it takes"],
    [
      ['now'],
      {},
      "too many arguments for 'serve'. Expected 0 arguments but got 1: now. `holdfast serve --help` says what it takes",
    ],
    [[], { HOLDFAST_TOKN: 'x' }, 'There is no setting HOLDFAST_TOKN. The nearest is HOLDFAST_TOKEN'],
    [[], { HOLDFAST_LEASE_MS: 'x' }, 'HOLDFAST_LEASE_MS: "x" is not a whole number from 1 on'],
    [
      [],
      { HOLDFAST_LEASE_MS: '\u001b[31m\n\u2028x' },
      'HOLDFAST_LEASE_MS: "\\u001b[31m\\n x" is not a whole number from 1 on',
    ],
    [
      ['--store', 'postgres:h/d'],
      {},
      '--store: The URL of the database is not right. Use postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    ],
    [
      ['--host', '0.0.0.0'],
      {},
      'Others can reach 0.0.0.0. Configure a token (HOLDFAST_TOKEN, or tokens of serve), or listen on 127.0.0.1',
    ],
    [
      ['--host', '::'],
      {},
      'Others can reach ::. Configure a token (HOLDFAST_TOKEN, or tokens of serve), or listen on 127.0.0.1',
    ],
    [
      ['--host', '127.1'],
      {},
      'Others can reach 127.1. Configure a token (HOLDFAST_TOKEN, or tokens of serve), or listen on 127.0.0.1',
    ],
  ])('%j with %j is refused with 1 and one line, and leaves nothing behind', async (args, env, line) => {
    expect(await run(['serve', ...args], env)).toEqual({ code: 1, out: '', err: `holdfast: ${line}\n` })
    expect(readdirSync(folder)).toEqual([])
  })

  it('with a config file that is not there is refused', async () => {
    const line = `holdfast: There is no config file ${join(folder, 'missing.ts')}\n`
    expect(await run(['serve', '--config', 'missing.ts'])).toEqual({ code: 1, out: '', err: line })
  })
})

describe('holdfast', () => {
  it('prints its help and its version on stdout', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('serve'), err: '' })
    expect(await run(['serve', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--store'), err: '' })
    expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+/), err: '' })
  })

  it.each([
    [['sevre'], "unknown command 'sevre'. The nearest is serve"],
    [['--versoin'], "unknown option '--versoin'. The nearest is --version"],
    [['bogus'], "unknown command 'bogus'. `holdfast --help` has them all"],
    [['--bogus'], "unknown option '--bogus'. `holdfast --help` has them all"],
    [['help', 'nope'], "unknown command 'nope'. `holdfast --help` has them all"],
    [['help', 'sevre'], "unknown command 'sevre'. The nearest is serve"],
    [['--no-color', 'help', 'sevre'], "unknown command 'sevre'. The nearest is serve"],
    [['ps', '--bogus'], "unknown option '--bogus'. `holdfast ps --help` has them all"],
  ])('does not understand %j, and says 2', async (args, line) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err: `holdfast: ${line}\n` })
  })

  it('says in the help of inspect that it may find nothing that holds a task up', async () => {
    const { out } = await run(['inspect', '--help'])
    expect(out.replace(/\s+/g, ' ')).toContain('or that nothing which the server knows of does')
  })

  it('prints the help of a command that help is asked for', async () => {
    for (const args of [['help', 'serve'], ['--quiet', 'help', 'serve'], ['help']]) {
      expect(await run(args)).toMatchObject({ code: 0, out: expect.stringContaining('Usage: holdfast'), err: '' })
    }
  })

  it('without a command says 2 and how it is used', async () => {
    expect(await run([])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: holdfast') })
  })
})
