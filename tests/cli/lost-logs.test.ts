import { describe, expect, it, onTestFinished } from 'vitest'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { makeFolder, startServer, TestServer } from '../server/harness/server.ts'
import { cli, program, RunningCli } from './harness/cli.ts'
import { ended, runScript } from './harness/work.ts'

/** A server that comes back on its port, having forgotten everything. */
class ForgetfulServer extends TestServer {
  static async open(): Promise<ForgetfulServer> {
    const server = new ForgetfulServer({ store: 'memory' }, await makeFolder())
    onTestFinished(() => server.end())
    await server.start()
    return server
  }

  protected override launch(env: Readonly<Record<string, string>>): OwnedProcess {
    const port = this.url === '' ? '0' : new URL(this.url).port
    return new OwnedProcess({ arguments: [program, 'serve', '--port', port], env })
  }
}

const words = [{ say: 'a' }, { say: 'b' }, { say: 'c' }]

describe('logs -f --subtree', () => {
  it('ends if its task is gone when the server is back', async () => {
    const server = await ForgetfulServer.open()
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
    const { code, stdout } = await cli(['logs', run.id, '-f', '--subtree', '--timeout', '5s'], { server })
    expect([code, stdout]).toEqual([0, ''])
  })
})
