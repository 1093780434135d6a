import { describe, expect, it } from 'vitest'
import { orderHelp, orderOf } from '../../../../src/cli/attach/order.ts'

describe('a typed line', () => {
  it.each([
    ['  ', { do: 'nothing' }],
    ['hello /there', { do: 'say', how: 'auto', text: 'hello /there' }],
    ['two\nlines', { do: 'say', how: 'auto', text: 'two\nlines' }],
    ['//etc', { do: 'say', how: 'auto', text: '/etc' }],
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
    expect(orderOf(line, ['q_1'])).toEqual(order)
  })

  it.each([
    ['/steer', 'Say what: /steer TEXT'],
    ['/answer', 'Say the answer: /answer TEXT'],
    ['/answer q_1', 'Say the answer: /answer q_1 TEXT'],
    ['/cancle', 'There is no /cancle. The nearest is /cancel; /help shows all'],
  ])('%j is refused with what to do', (line, message) => {
    expect(orderOf(line, ['q_1'])).toEqual({ do: 'refuse', message })
  })

  it('has help for every order', () => {
    for (const name of ['steer', 'queue', 'interrupt', 'cancel', 'answer', 'detach']) {
      expect(orderHelp.join('\n')).toContain(`/${name}`)
    }
  })
})
