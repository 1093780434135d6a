import { describe, expect, it } from 'vitest'
import { orderHelp, orderOf } from '../../../../src/cli/attach/order.ts'
import type { Question } from '../../../../src/client/index.ts'

const questions = [
  { id: 'q_1', options: ['yes', 'My manager'] },
  { id: 'q_2', options: ['no'] },
] as unknown as readonly Question[]

describe('a typed line', () => {
  it.each([
    ['  ', { do: 'nothing' }],
    ['hello /there', { do: 'say', how: 'auto', text: 'hello /there' }],
    ['two\nlines', { do: 'say', how: 'auto', text: 'two\nlines' }],
    ['//etc', { do: 'say', how: 'auto', text: '/etc' }],
    ['/steer yes', { do: 'say', how: 'steer', text: 'yes' }],
    ['/steer  be brief', { do: 'say', how: 'steer', text: 'be brief' }],
    ['/queue a\nb', { do: 'say', how: 'queue', text: 'a\nb' }],
    ['/interrupt no', { do: 'say', how: 'interrupt', text: 'no' }],
    ['/cancel', { do: 'cancel' }],
    ['/cancel too slow', { do: 'cancel', reason: 'too slow' }],
    ['/answer yes please', { do: 'answer', text: 'yes please' }],
    ['/answer q_1 yes', { do: 'answer', question: 'q_1', text: 'yes' }],
    ['/answer q_9 yes', { do: 'answer', text: 'q_9 yes' }],
    ['/detach', { do: 'detach' }],
    ['/help', { do: 'help' }],
  ])('%j is understood', (line, order) => {
    expect(orderOf(line, questions)).toEqual(order)
  })

  it.each([
    ['/steer', 'Say what: /steer TEXT'],
    ['/answer', 'Say the answer: /answer TEXT'],
    ['/answer q_1', 'Say the answer: /answer q_1 TEXT'],
    [' My manager', 'That is an option of an open question: /answer My manager answers it, /steer My manager does not'],
    ['no', 'That is an option of an open question: /answer q_2 no answers it, /steer no does not'],
    ['/cancle', 'There is no /cancle. The nearest is /cancel; /help shows all'],
  ])('%j is refused with what to do', (line, message) => {
    expect(orderOf(line, questions)).toEqual({ do: 'refuse', message })
  })

  it('has help for every order', () => {
    for (const name of ['steer', 'queue', 'interrupt', 'cancel', 'answer', 'detach']) {
      expect(orderHelp.join('\n')).toContain(`/${name}`)
    }
  })
})
