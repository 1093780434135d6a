import { describe, expect, it } from 'vitest'
import { harmlessText, harmlessUrl } from '../../../console/src/design/harmless-text.ts'
import { joined, mayHaveOlder, olderMessages } from '../../../console/src/views/thread/older-messages.ts'
import { questionsOf, withQuestionEvents } from '../../../console/src/views/thread/question-log.ts'
import { unreadSteering } from '../../../console/src/views/thread/unread-steering.ts'
import type { Message, Question, QuestionEvent, ThreadEvent } from '../../../src/client/index.ts'

describe('the text of a model', () => {
  it.each([
    ['colours of a terminal are gone', '\u001b[31mred\u001b[0m', 'red'],
    ['the title of a terminal is not set', '\u001b]0;owned\u0007rest', 'rest'],
    ['a control character is shown as its picture', 'a\u0000b\u0007', 'a␀b␇'],
    ['what turns the direction is shown by its name', 'user\u202egpj.exe', 'user⟨U+202E⟩gpj.exe'],
    ['lines and tabs stay', 'a\r\nb\tc\n', 'a\nb\tc\n'],
    ['other writing stays', 'žluťoučký 漢字 👍🏽', 'žluťoučký 漢字 👍🏽'],
  ])('%s', (_title, given, shown) => {
    expect(harmlessText(given)).toBe(shown)
  })

  it('leads to the web and to mail, and nowhere else', () => {
    const given = [
      'https://a.test/b',
      'mailto:a@b.test',
      'javascript:alert(1)',
      'data:text/html,x',
      '/v1/logout',
      '//a.test',
    ]
    expect(given.map((url) => harmlessUrl(url) !== undefined)).toEqual([true, true, false, false, false, false])
  })
})

const said = (seq: number) => ({ id: `m${seq}`, seq }) as Message

describe('older messages', () => {
  const all = (seqs: readonly number[]) => {
    const asked: number[] = []
    const read = async (after: number) => {
      asked.push(after)
      const found = seqs.filter((seq) => seq > after).slice(0, 50)
      const last = found.at(-1)
      const isMore = last !== undefined && last !== seqs.at(-1)
      return { messages: found.map(said), ...(isMore && { cursor: last }) }
    }
    return { read, asked }
  }

  it('are those before a number, back to the first where there are few', async () => {
    const { read } = all([1, 40, 9_000, 20_000])
    const { messages, isAll } = await olderMessages(read, 20_000)
    expect(messages.map(({ seq }) => seq)).toEqual([1, 40, 9_000])
    expect(isAll).toBe(true)
  })

  it('are about a screen where there are many, without a hole before the number', async () => {
    const { read } = all(Array.from({ length: 5_000 }, (_, at) => at * 10 + 1))
    const { messages, isAll } = await olderMessages(read, 40_001)
    expect(isAll).toBe(false)
    expect(messages.at(-1)?.seq).toBe(39_991)
    expect(messages).toHaveLength(100)
  })

  it('may be there where a snapshot is full, or begins late because its messages are large', () => {
    const seqs = (count: number, first: number) => Array.from({ length: count }, (_, at) => said(first + at))
    expect([mayHaveOlder(seqs(100, 3)), mayHaveOlder(seqs(2, 40))]).toEqual([true, true])
    expect([mayHaveOlder(seqs(99, 3)), mayHaveOlder([])]).toEqual([false, false])
  })

  const joinedSeqs = (known: readonly number[], recent: readonly number[]) =>
    joined(known.map(said), recent.map(said)).map(({ seq }) => seq)

  it('stay when the live part begins anew, unless there is a hole between', () => {
    expect(joinedSeqs([1, 2, 3], [3, 4])).toEqual([1, 2, 3, 4])
    expect(joinedSeqs([1, 2], [8, 9])).toEqual([8, 9])
  })

  it('are gone when the live part has none of what is known, as in a thread that was deleted', () => {
    expect(joinedSeqs([1, 2, 3], [10])).toEqual([10])
    expect(joinedSeqs([1, 2, 3], [])).toEqual([])
  })
})

describe('what a run was told', () => {
  const told = (id: string, content: unknown, steer = true) =>
    ({ type: 'inbox.accepted', data: { id, content, ...(steer && { steer }) } }) as ThreadEvent
  const read = (id: string) => ({ type: 'message.created', data: { message: { id } } }) as ThreadEvent

  it('is shown until it is read', () => {
    expect(unreadSteering([told('m1', 'mind the gap')])).toEqual([{ id: 'm1', text: 'mind the gap' }])
    expect(unreadSteering([told('m1', 'one'), told('m2', 'two'), read('m1')])).toEqual([{ id: 'm2', text: 'two' }])
  })

  it('is shown by its words and the names of its files', () => {
    const parts = [
      { type: 'text', text: 'see' },
      { type: 'file', mediaType: 'image/png', name: 'map.png', url: 'data:' },
      { type: 'file', mediaType: 'image/gif', url: 'data:' },
    ]
    expect(unreadSteering([told('m1', parts)])).toEqual([{ id: 'm1', text: 'see map.png image/gif' }])
  })

  it('is not a message that never enters the conversation', () => {
    expect(unreadSteering([told('m1', 'by the way', false)])).toEqual([])
  })
})

describe('the questions of a thread', () => {
  const question = { id: 'q', text: '?' } as Question
  const asked = { type: 'question.asked', data: { question } } as QuestionEvent
  const answered = { type: 'question.answered', data: { id: 'q', answer: 'yes', by: 'alice' } } as QuestionEvent

  it('are open, then answered', () => {
    const open = withQuestionEvents(new Map(), [asked])
    expect(questionsOf(open, [question])).toEqual([{ question }])
    expect(questionsOf(withQuestionEvents(open, [answered]), [])).toEqual([
      { question, end: { answer: 'yes', by: 'alice' } },
    ])
  })

  it('are over as soon as they are not among the open ones', () => {
    expect(questionsOf(withQuestionEvents(new Map(), [asked]), [])).toEqual([{ question, end: { closed: 'ended' } }])
  })

  it('are shown before the log is read', () => {
    expect(questionsOf(new Map(), [question])).toEqual([{ question }])
  })
})
