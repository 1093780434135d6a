import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onEachServer } from '../server/harness/on-each-server.ts'
import { snapshotOf, spawnScript } from '../server/harness/reads.ts'
import { cli } from './harness/cli.ts'
import { TerminalScreen } from './harness/terminal.ts'
import { ended, runScript } from './harness/work.ts'

const words = [{ say: 'a' }, { say: 'b' }, { say: 'c' }]

onEachServer(['memory', 'sqlite'], (_kind, start) => {
  describe('holdfast prune', () => {
    it('removes events, says how many in a pipe, and finds none the second time', async () => {
      const server = await start()
      await ended(server, await runScript(server, 't', words))
      const { watchers: _before, ...before } = await snapshotOf(server, 't')
      const { code, stdout, stderr } = await cli(['prune', '--keep-events', '1'], { server })
      const { first, watchers: _after, ...rest } = await snapshotOf(server, 't')
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `0\t${first - 1}\t0\n`, stderr: '' })
      expect({ ...rest, first: 1 }).toEqual(before)
      expect(first).toBeGreaterThan(1)
      expect(await cli(['prune', '--keep-events', '1'], { server })).toMatchObject({ code: 0, stdout: '0\t0\t0\n' })
    })

    it('drops old threads, but none with a task that goes on or a result that waits', async () => {
      const server = await start()
      await ended(server, await runScript(server, 'old', words))
      await ended(server, await spawnScript(server, 'result', [{ return: 7 }]))
      await spawnScript(server, 'live', [{ hang: true }])
      const { head } = await snapshotOf(server, 'old')
      const flags = ['--threads-older-than', '1ms', '--events-older-than', '1ms', '--json']
      const would = await cli(['prune', '--dry-run', ...flags], { server })
      expect(JSON.parse(would.stdout)).toEqual({ threads: 1, events: head, tasks: 1 })
      expect((await snapshotOf(server, 'old')).first).toBe(1)
      expect(await cli(['prune', ...flags], { server })).toMatchObject({ code: 0, stdout: would.stdout })
      expect(await snapshotOf(server, 'old')).toMatchObject({ head, first: head + 1, tasks: [] })
      for (const thread of ['live', 'result']) expect((await snapshotOf(server, thread)).first).toBe(1)
    })
  })
})

onEachServer(['memory'], (_kind, start) => {
  describe('holdfast prune', () => {
    it('says of how many threads it could not be done, of all answers together', async () => {
      const answers = [
        { threads: 0, events: 3, tasks: 0, skipped: 2, cursor: 'more' },
        { threads: 1, events: 4, tasks: 5, skipped: 1 },
      ]
      let asked = 0
      const other = createServer((_request, response) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[asked++ % 2]))
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void other.close())
      await once(other, 'listening')
      const args = ['prune', '--keep-events', '1', '--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`]
      expect(await cli([...args, '--token', 'x'])).toEqual({
        code: 0,
        stdout: '1\t7\t5\n',
        stderr: expect.stringMatching(/^3 threads could not be pruned: held by another program, or .*\n$/),
      })
      const { stdout } = await cli([...args, '--token', 'x', '--json'])
      expect(JSON.parse(stdout)).toEqual({ threads: 1, events: 7, tasks: 5, skipped: 3 })
    })

    it('says in a sentence on a terminal what it did, or would do', async () => {
      const server = await start()
      await ended(server, await runScript(server, 't', words))
      const dry = new TerminalScreen(['prune', '--threads-older-than', '1ms', '--dry-run'], { server })
      await dry.shows(/Would remove up to \d+ events, and 1 thread with 1 task\n.*Leave out --dry-run/)
      expect(await dry.ended).toBe(0)
      const real = new TerminalScreen(['prune', '--threads-older-than', '1ms'], { server })
      await real.shows(/Removed \d+ events, and 1 thread with 1 task/)
      expect(await real.ended).toBe(0)
    })

    it('wants to know what to remove, in words that it takes', async () => {
      const server = await start()
      const none = await cli(['prune', '--dry-run'], { server })
      expect(none).toMatchObject({ code: 2, stdout: '' })
      expect(none.stderr).toContain('Say what to remove: --events-older-than, --keep-events or --threads-older-than')
      for (const args of [
        ['--keep-events', '0'],
        ['--events-older-than', 'yesterday'],
        ['--threads-older-than', '0d'],
      ]) {
        expect(await cli(['prune', ...args], { server })).toMatchObject({ code: 2, stdout: '' })
      }
      const wrong = { server, env: { HOLDFAST_TOKEN: 'wrong' } }
      expect(await cli(['prune', '--keep-events', '1'], wrong)).toMatchObject({ code: 4, stdout: '' })
      const nobody = { env: { HOLDFAST_URL: 'http://127.0.0.1:1', HOLDFAST_TOKEN: 'any' } }
      expect(await cli(['prune', '--keep-events', '1'], nobody)).toMatchObject({ code: 7, stdout: '' })
    })

    it.each([
      ['{ threadsMs: 1 }', 'threadsMs of a policy is at least 86400000'],
      ['{ eventMs: 1 }', 'There is no retention eventMs. The nearest is eventsMs'],
    ])('is what a policy does, which keeps a server from starting if it is %s', async (retention, said) => {
      const folder = mkdtempSync(join(tmpdir(), 'holdfast-prune-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      writeFileSync(join(folder, 'holdfast.config.ts'), `export default { retention: ${retention} }`)
      const { code, stderr } = await cli(['serve', '--port', '0', '--store', 'memory:'], {
        folder,
        env: { XDG_STATE_HOME: folder },
      })
      expect([code, stderr]).toEqual([1, expect.stringContaining(said)])
    })

    it('shows how it is used', async () => {
      const { code, stdout } = await cli(['prune', '--help'])
      expect(code).toBe(0)
      for (const part of [
        '--events-older-than <time>',
        '--keep-events <count>',
        '--dry-run',
        'Examples:',
        '$ holdfast prune',
      ]) {
        expect(stdout).toContain(part)
      }
    })
  })
})
