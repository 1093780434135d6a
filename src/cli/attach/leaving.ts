/**
 * How a person leaves. The first interrupt detaches; while work is live the command stays for a moment, so that a second
 * one can ask whether to cancel it. Only `y` cancels: whatever else is pressed, and the time, just leaves.
 */
export type Leaving =
  | { readonly is: 'attached' }
  /** Detached; a second interrupt before this instant asks. */
  | { readonly is: 'detached'; readonly until: number }
  | { readonly is: 'asking' }
  | { readonly is: 'gone'; readonly cancels: boolean }

export type LeavingInput =
  | { readonly type: 'interrupt'; readonly at: number; readonly hasWork: boolean }
  | { readonly type: 'key'; readonly text: string }
  | { readonly type: 'due'; readonly at: number }

// Long enough for a second thought, short enough that the shell is back before one looks for it.
export const secondThoughtMs = 2000

const gone: Leaving = { is: 'gone', cancels: false }

export function leave(leaving: Leaving, input: LeavingInput): Leaving {
  switch (leaving.is) {
    case 'attached':
      if (input.type !== 'interrupt') return leaving
      return input.hasWork ? { is: 'detached', until: input.at + secondThoughtMs } : gone
    case 'detached':
      if (input.type === 'key') return gone
      if (input.type === 'due') return input.at >= leaving.until ? gone : leaving
      return input.at < leaving.until ? { is: 'asking' } : gone
    case 'asking':
      if (input.type === 'due') return leaving
      return { is: 'gone', cancels: input.type === 'key' && /^y$/i.test(input.text) }
    case 'gone':
      return leaving
  }
}
