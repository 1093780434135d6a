import { describe, expect, it } from 'vitest'
import { hasManyLines, heedNotice, heedRetry } from '../../../console/src/live-lines.ts'

const fellBack = () => heedNotice({ code: 'fell_back', message: 'No WebSocket opens; SSE is used' })

describe('many logs', () => {
  it('are followed unless no WebSocket opens, and again whenever one is tried again', () => {
    expect(hasManyLines()).toBe(true)
    heedNotice({ code: 'reconnecting', message: 'The connection is lost' })
    expect(hasManyLines()).toBe(true)
    fellBack()
    expect(hasManyLines()).toBe(false)
    // By SSE the server is heard again as well.
    heedNotice({ code: 'reconnected', message: 'The server is heard again' })
    expect(hasManyLines()).toBe(false)
    heedRetry()
    expect(hasManyLines()).toBe(true)
    fellBack()
    expect(hasManyLines()).toBe(false)
    heedRetry()
  })
})
