import type { Names } from './harness/world.ts'
import type { Sight } from './route-table.ts'

/** A frame of some type, and what a stranger gets for it. */
export interface FrameWay {
  readonly frame: { readonly type: string } & Readonly<Record<string, unknown>>
  readonly sight: Sight
  /** The type of the answer, unless it is refused. */
  readonly answer?: string
}

const asked = { agent: 'echo', prompt: 'of bob' }

/** One row for every type of frame that a client may send; the tests fail for a type that has none. */
export const frameTable: Readonly<Record<string, (names: Names) => readonly FrameWay[]>> = {
  attach: ({ thread, task }) => [
    { frame: { type: 'attach', thread }, sight: 'own', answer: 'attached' },
    { frame: { type: 'attach', thread, after: 0 }, sight: 'own', answer: 'attached' },
    { frame: { type: 'attach', thread, after: 999 }, sight: 'own', answer: 'error' },
    { frame: { type: 'attach', thread, task }, sight: 'missing' },
    { frame: { type: 'attach', thread, task, after: 0, types: ['custom'] }, sight: 'missing' },
  ],
  // That something is not attached to is not said: nobody learns by it whether it is there.
  detach: ({ thread, task }) => [
    { frame: { type: 'detach', thread }, sight: 'own', answer: 'detached' },
    { frame: { type: 'detach', thread, task }, sight: 'mine', answer: 'detached' },
  ],
  watch: () => [{ frame: { type: 'watch' }, sight: 'mine', answer: 'watching' }],
  unwatch: () => [{ frame: { type: 'unwatch' }, sight: 'mine', answer: 'unwatched' }],
  cancel: ({ thread, task }) => [
    { frame: { type: 'cancel', thread }, sight: 'own', answer: 'cancelled' },
    { frame: { type: 'cancel', thread, scope: 'all' }, sight: 'own', answer: 'cancelled' },
    { frame: { type: 'cancel', thread, task, reason: 'mine now' }, sight: 'missing' },
  ],
  send: ({ thread, task }) => [{ frame: { type: 'send', thread, task, content: 'hello' }, sight: 'missing' }],
  answer: ({ question, task }) => [
    { frame: { type: 'answer', question, answer: 'yes' }, sight: 'missing' },
    { frame: { type: 'answer', question: task, answer: 'yes' }, sight: 'missing' },
  ],
  ping: () => [{ frame: { type: 'ping' }, sight: 'mine', answer: 'pong' }],
  // The last, because what it begins is seen by others.
  run: ({ thread }) => [
    { frame: { type: 'run', thread, ...asked }, sight: 'own', answer: 'accepted' },
    { frame: { type: 'run', thread, ...asked, onBusy: 'steer' }, sight: 'own', answer: 'accepted' },
    { frame: { type: 'run', thread, ...asked, onBusy: 'interrupt' }, sight: 'own', answer: 'accepted' },
  ],
}
