import { describe, expect, it } from 'vitest'
import { limitText } from '../../../console/src/views/system/limit-text.ts'
import { defaultLimits } from '../../../src/core/limits.ts'

describe('a limit of the server', () => {
  const name = 'executingTasksPerAgent'

  it('is none where what an agent executes is not limited, as the server takes it', () => {
    const { executingTasksPerAgent: unset } = defaultLimits
    expect([limitText(name, unset), limitText(name, unset + 1)]).toEqual(['none', 'none'])
    expect(limitText(name, unset - 1)).toBe('999,999')
  })

  it('is a size where it is of bytes, and else a number', () => {
    expect(limitText('eventBytes', defaultLimits.eventBytes)).toBe('262.1 kB')
    expect(limitText('openTasksPerPrincipal', 1_000_000)).toBe('1,000,000')
  })
})
