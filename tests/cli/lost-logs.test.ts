import { describe, expect, it, onTestFinished } from 'vitest'
import { startServer } from '../server/harness/server.ts'
import { cli, RunningCli } from './harness/cli.ts'
import { LastingServer } from './harness/lasting-server.ts'
import { ended, runScript } from './harness/work.ts'

const words = [{ say: 'a' }, { say: 'b' }, { say: 'c' }]

describe('logs -f --subtree', () => {
  it('ends if its task is gone when the server is back', async () => {
    const server = await LastingServer.open('memory')
    const run = await runScript(server, 't', [{ say: 'here' }, { hang: true }])
    const following = new RunningCli(['logs', run.id, '-f', '--subtree'], { server })
    await following.until(/here/)
    await server.restart()
    const { code, stderr } = await following.ended
    expect(code).toBe(0)
    expect(stderr).toContain('The log ends at')
  })

  it('ends at once if nothing of its task is kept', async () => {
    const server = await startServer({ store: 'memory' })
    onTestFinished(() => server.end())
    const run = await ended(server, await runScript(server, 't', words))
    await ended(server, await runScript(server, 't', words))
    expect((await cli(['prune', '--keep-events', '2'], { server })).code).toBe(0)
    const { code, stdout } = await cli(['logs', run.id, '-f', '--subtree', '--timeout', '60s'], { server })
    expect([code, stdout]).toEqual([0, ''])
  })
})
