import { afterEach, describe, expect, it } from 'vitest'
import { agentsOf } from '../../../../src/cli/serving/agents.ts'
import { maskedSettings } from '../../../../src/cli/settings/masked-settings.ts'
import { readSettings } from '../../../../src/cli/settings/settings.ts'
import { isHoldfastError } from '../../../../src/core/errors.ts'
import { createRuntime, type Runtime } from '../../../../src/index.ts'

let runtime: Runtime | undefined

afterEach(async () => {
  await runtime?.close()
  runtime = undefined
})

/** How a script that blocks for no time at all ends on a server with these settings, or is refused. */
async function statusOfBlocking(host: string, script: boolean | 'unsafe'): Promise<string | undefined> {
  runtime = createRuntime({ store: 'memory:', agents: agentsOf({ host, script, agents: {} }) })
  try {
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script: [{ blockMs: 0 }] } })
    return (await runtime.wait(id))?.status
  } catch (error) {
    return isHoldfastError(error) ? error.code : undefined
  }
}

describe('the agents of a server', () => {
  it.each([
    ['127.0.0.1', true, 'completed'],
    ['::1', 'unsafe', 'completed'],
    ['0.0.0.0', true, 'invalid_input'],
    ['0.0.0.0', 'unsafe', 'completed'],
  ] as const)('on %s with script %s: a script that blocks is %s', async (host, script, status) => {
    expect(await statusOfBlocking(host, script)).toBe(status)
  })

  it('are without script when it is off', () => {
    expect(Object.keys(agentsOf({ host: '127.0.0.1', script: false, agents: {} }))).toEqual(['demo', 'echo'])
  })

  it('of the config file come along, and replace those of the same name', () => {
    const mine = (): string => 'mine'
    const agents = agentsOf({ host: '127.0.0.1', script: true, agents: { mine, echo: mine } })
    expect(Object.keys(agents).sort()).toEqual(['demo', 'echo', 'mine', 'script'])
    expect(agents['echo']).toBe(mine)
  })
})

describe('settings that are shown', () => {
  it('tell who has a token and which agents there are, and no more of them', () => {
    const env = { HOLDFAST_TOKENS: 'alice=secret-1,bob=secret-2' }
    const settings = {
      ...readSettings({ flags: {}, env }),
      store: 'postgres://me:pass@word@db/x',
      agents: { a: () => 1 },
    }
    const shown = maskedSettings(settings)
    expect(shown).toMatchObject({ principals: ['alice', 'bob'], agents: ['a'], store: 'postgres://me:***@db/x' })
    expect(JSON.stringify(shown)).not.toMatch(/secret|pass/)
  })
})
