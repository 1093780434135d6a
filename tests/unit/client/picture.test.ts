import { expect, it } from 'vitest'
import { tellsAll } from '../../../src/client/picture.ts'

it.each([
  ['a resume that keeps what the snapshot shows', 'task.resumed', { keep: 10 }, true],
  ['a resume that keeps less than it shows', 'task.resumed', { keep: 9 }, false],
  ['a resume that drops what came after it', 'task.resumed', { keep: 20, dropped: [[11, 12]] }, true],
  [
    'a resume that drops a part of it',
    'task.resumed',
    {
      keep: 20,
      dropped: [
        [11, 12],
        [4, 6],
      ],
    },
    false,
  ],
  ['a run that was asked for', 'task.accepted', { task: {} }, true],
  ['a run that grew from a message', 'task.accepted', { task: {}, steered: 'm' }, false],
  ['a message that is whole', 'message.created', { message: {} }, true],
  ['a message without its parts', 'message.created', { message: {}, partsOmitted: true }, false],
  ['the end of a task without its result', 'task.completed', { resultOmitted: true }, false],
])('whether %s tells all after a snapshot at 10', (_what, type, data, isTold) => {
  expect(tellsAll({ type, data }, 10)).toBe(isTold)
})
