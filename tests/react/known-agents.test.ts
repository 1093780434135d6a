import { describe, it } from 'vitest'
import { echoAgent } from '../../src/index.ts'
import { useThread } from '../../src/react/index.ts'

const agents = { echo: echoAgent() }

/** Takes code whose types are looked at and which is never called. */
function onlyTyped(_code: () => Promise<void>): void {}

describe('useThread', () => {
  it('takes the names of the agents alone, if it is told them, and else any', () => {
    onlyTyped(async () => {
      const known = useThread<typeof agents>('t', { agent: 'echo' })
      await known.send('x', { agent: 'echo', onBusy: 'steer' })
      // @ts-expect-error there is no such agent
      await known.send('x', { agent: 'ecko' })
      // @ts-expect-error there is no such agent
      useThread<typeof agents>('t', { agent: 'ecko' })
      const any = useThread('t', { agent: 'whoever' })
      await any.send('x', { agent: 'somebody' })
    })
  })
})
