import { describe, expect, it } from 'vitest'
import { createRuntime, serve } from '../../../src/index.ts'
import { stderrLog } from '../../../src/server/stderr-log.ts'

function logged(): { readonly texts: string[]; readonly log: ReturnType<typeof stderrLog> } {
  const texts: string[] = []
  return { texts, log: stderrLog((text) => void texts.push(text)) }
}

describe('the log of a server that was given none', () => {
  it('tells what goes wrong, with what it is about and where it was thrown, and nothing else', () => {
    const { texts, log } = logged()
    log.debug({}, 'never mind')
    log.info({ task: 'bg_0' }, 'goes on')
    log.warn({ task: 'bg_0', code: 'agent_error', err: new Error('my bug') }, 'a task has failed')
    log.error({}, 'the store is away')
    expect(texts).toEqual([
      expect.stringMatching(
        /^holdfast: a task has failed \(task bg_0, code agent_error\)\n {2}Error: my bug\n {6}at .*stderr-log\.test\.ts/,
      ),
      'holdfast: the store is away\n',
    ])
  })

  it('lets nothing that it was given move the cursor, or begin a line of its own', () => {
    const { texts, log } = logged()
    const hostile = '\u001b[2Jx\rholdfast: all is well\u2028'
    log.warn({ agent: `a\n${hostile}`, err: { message: hostile, toString: () => `one\n${hostile}` } }, 'told')
    const [first, ...rest] = texts.join('').split('\n')
    expect(first).toMatch(/^holdfast: told \(agent a.+\)$/)
    expect(rest).toEqual(['  one', expect.stringMatching(/^ {2}/), ''])
    for (const control of ['\u001b', '\r', '\u2028']) expect(texts.join('')).not.toContain(control)
  })

  it('is what serve gives a runtime that has no log, and a runtime that has one keeps it', async () => {
    const [own, served] = [logged(), logged()]
    const boom = () => Promise.reject(new Error('my bug'))
    for (const log of [own.log, undefined]) {
      const runtime = createRuntime({ store: 'memory:', agents: { boom }, ...(log && { log }) })
      const server = await serve(runtime, {
        port: 0,
        tokens: { owner: 'secret' },
        handlesSignals: false,
        log: served.log,
      })
      await runtime.wait((await runtime.run({ thread: 't', agent: 'boom', prompt: 'go' })).id)
      await server.close()
    }
    expect(own.texts).toEqual([expect.stringContaining('a task has failed')])
    expect(served.texts).toEqual([expect.stringContaining('Error: my bug')])
  })
})
