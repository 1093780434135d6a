import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect, idleLink, type Link, type LinkAction, type LinkInput } from '../../../src/client/link.ts'
import { HoldfastError } from '../../../src/core/errors.ts'

function run(link: Link, ...inputs: readonly LinkInput[]): { link: Link; actions: readonly LinkAction[] } {
  let actions: readonly LinkAction[] = []
  for (const input of inputs) [link, actions] = connect(link, input)
  return { link, actions }
}

const want: LinkInput = { type: 'want' }
const opened: LinkInput = { type: 'opened' }
const heard: LinkInput = { type: 'heard' }
const closed: LinkInput = { type: 'closed', random: 0 }
const due: LinkInput = { type: 'due' }
const ready: LinkInput = { type: 'probed', found: { is: 'ready' }, random: 0 }
const unready: LinkInput = { type: 'probed', found: { is: 'unready', retryAfterMs: 0 }, random: 0 }

describe('the link of a client', () => {
  it('opens when it is wanted, attaches all, and opens again after it was lost', () => {
    expect(run(idleLink, want).actions).toEqual([{ do: 'open' }])
    expect(run(idleLink, want, opened).actions).toEqual([{ do: 'attachAll' }])
    expect(run(idleLink, want, opened, closed).actions).toEqual([{ do: 'wait', ms: 125 }])
    expect(run(idleLink, want, opened, closed, due).actions).toEqual([{ do: 'open' }])
  })

  it('waits longer each time, until something was heard', () => {
    const twice = run(idleLink, want, opened, closed, due, opened, closed)
    expect(twice.actions).toEqual([{ do: 'wait', ms: 250 }])
    expect(run(twice.link, due, opened, heard, closed).actions).toEqual([{ do: 'wait', ms: 125 }])
  })

  it('asks by a plain request why it cannot open', () => {
    expect(run(idleLink, want, closed).actions).toEqual([{ do: 'probe' }])
    expect(run(idleLink, want, closed, unready).actions).toEqual([{ do: 'wait', ms: 125 }])
    const found = { is: 'unready', retryAfterMs: 3000 } as const
    expect(run(idleLink, want, closed, { type: 'probed', found, random: 0 }).actions).toEqual([
      { do: 'wait', ms: 3000 },
    ])
  })

  it('falls back when a server that is ready refuses it twice in a row, and only then', () => {
    const once = run(idleLink, want, closed, ready, due, closed)
    expect(run(once.link, ready).actions).toEqual([{ do: 'fallBack' }])
    expect(run(once.link, ready, want, due).actions).toEqual([])
    expect(run(once.link, unready, due, closed, ready).actions).toEqual([{ do: 'wait', ms: 500 }])
    expect(run(once.link, unready, due, opened, heard, closed, due, closed, ready).link.phase).toBe('waiting')
  })

  it('fails all who follow when it is refused for good, and tries again for the next', () => {
    const error = new HoldfastError('unauthenticated', 'no')
    const failed = run(idleLink, want, closed, { type: 'probed', found: { is: 'refused', error }, random: 0 })
    expect(failed.actions).toEqual([{ do: 'failAll', error }])
    expect(run(failed.link, want).actions).toEqual([{ do: 'open' }])
  })

  it('stays open for a moment after the last has left', () => {
    const left = run(idleLink, want, opened, { type: 'unwant' })
    expect(left.actions).toEqual([{ do: 'wait', ms: 1000 }])
    expect(run(left.link, want).actions).toEqual([{ do: 'cancelTimer' }])
    expect(run(left.link, due).actions).toEqual([{ do: 'drop' }])
    expect(run(left.link, closed)).toEqual({ link: idleLink, actions: [{ do: 'cancelTimer' }] })
  })

  it('tries at once when the network is back', () => {
    const { link } = run(idleLink, want, opened, closed)
    expect(run(link, { type: 'hasten' }).actions).toEqual([{ do: 'cancelTimer' }, { do: 'open' }])
  })

  it('can be wanted again after it fell back, once the network was away', () => {
    const fallen = run(idleLink, want, closed, ready, due, closed, ready).link
    expect(run(fallen, { type: 'hasten' })).toEqual({ link: idleLink, actions: [] })
    expect(run(fallen, { type: 'hasten' }, want).actions).toEqual([{ do: 'open' }])
  })

  it('has at most one socket and one timer, whatever happens, and none when it rests', () => {
    const error = new HoldfastError('unauthenticated', 'no')
    const inputs: LinkInput[] = [
      ...[want, opened, heard, closed, due, ready, unready],
      ...([{ type: 'unwant' }, { type: 'hasten' }, { type: 'close' }] as const),
      { type: 'probed', found: { is: 'refused', error }, random: 0.5 },
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...inputs), { maxLength: 60 }), (planned) => {
        let link = idleLink
        let hasSocket = false
        let hasTimer = false
        for (const input of planned) {
          // What cannot come: a word of a socket or a timer that is not there.
          if ((input === opened || input === heard || input === closed) && !hasSocket) continue
          if (input === due && !hasTimer) continue
          if (input === closed) hasSocket = false
          if (input === due) hasTimer = false
          const [next, actions] = connect(link, input)
          link = next
          for (const action of actions) {
            if (action.do === 'open') {
              expect(hasSocket).toBe(false)
              hasSocket = true
            }
            if (action.do === 'wait') {
              expect(hasTimer).toBe(false)
              hasTimer = true
            }
            if (action.do === 'drop') hasSocket = false
            if (action.do === 'cancelTimer') hasTimer = false
          }
          expect(hasSocket).toBe(['opening', 'open', 'lingering'].includes(link.phase))
          expect(hasTimer).toBe(['waiting', 'lingering'].includes(link.phase))
        }
      }),
      { numRuns: 500 },
    )
  })
})
