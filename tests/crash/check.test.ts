import { beforeAll, describe, expect, it } from 'vitest'
import type { Event, Task } from '../../src/index.ts'
import type { Case, ThreadHistory } from './history.ts'
import type { Entry } from './journal.ts'
import { storyThread } from './story.ts'
import { storyViolations, Telling } from './telling.ts'

// A check that finds nothing proves nothing, unless it finds what is broken on purpose.

let sound: Case

beforeAll(async () => {
  sound = await Telling.within((telling) => telling.finish())
})

function withThread(change: Partial<ThreadHistory>): Case {
  const thread = sound.threads.get(storyThread)
  if (!thread) throw new Error('The story has no thread')
  return { ...sound, threads: new Map([[storyThread, { ...thread, ...change }]]) }
}

function withLog(change: (log: readonly Event[]) => Event[]): Case {
  return withThread({ log: change(sound.threads.get(storyThread)?.log ?? []) })
}

function withTask(agent: string, change: (task: Task) => Task | undefined): Case {
  const tasks = new Map(sound.tasks)
  for (const task of sound.tasks.values()) {
    if (task.agent !== agent) continue
    const changed = change(task)
    if (changed) tasks.set(task.id, changed)
    else tasks.delete(task.id)
  }
  return { ...sound, tasks }
}

function withEntries(change: (entry: Entry) => Entry[]): Case {
  return { ...sound, entries: sound.entries.flatMap(change) }
}

/** The log with the first event of a type changed. */
function withEvent(type: Event['type'], change: (event: Event) => Event[]): Case {
  return withLog((log) => {
    const index = log.findIndex((event) => event.type === type)
    const event = log[index]
    return event ? log.toSpliced(index, 1, ...change(event)) : [...log]
  })
}

/** The log with something more at its end. */
function withMore(make: (log: readonly Event[]) => Event | undefined): Case {
  return withLog((log) => {
    const more = make(log)
    return more ? [...log, { ...more, seq: log.length + 1 }] : [...log]
  })
}

const last = (type: Event['type']) => (log: readonly Event[]) => log.findLast((event) => event.type === type)

describe('what checks a crash', () => {
  it('finds nothing wrong with a story that nobody disturbed', () => {
    expect(storyViolations(sound)).toEqual([])
  })

  it.each<[string, () => Case, RegExp]>([
    ['a hole', () => withEvent('text.delta', () => []), /stands where/],
    ['a number with another content', () => withEvent('text.delta', (e) => [{ ...e, at: e.at + 1 }]), /saw another/],
    ['a second ending', () => withMore(last('task.cancelled')), /has 2 endings/],
    ['an event after the ending', () => withMore(last('text.delta')), /after its ending/],
    ['time that goes back', () => withEvent('text.delta', (e) => [{ ...e, at: 1 }]), /time goes back/],
    ['a second start', () => withMore(last('task.started')), /was started twice/],
    ['a write of an old epoch', () => withMore((log) => reopened(log)), /has the epoch 1 of an earlier one/],
    ['a task that is gone', () => withTask('parent', () => undefined), /was accepted and is lost/],
    ['a lost cancel', () => withTask('idler', (task) => ({ ...task, status: 'completed' })), /was cancelled and is/],
    ['a changed result', () => withTask('child', (task) => ({ ...task, result: 'other' })), /has another result/],
    [
      'a record that changed after it was read',
      () => withTask('parent', (task) => ({ ...task, progress: 0 })),
      /was read as/,
    ],
    ['a key that made two tasks', () => doubled(), /the key run made/],
    [
      'a lost message',
      () => withEvent('inbox.accepted', (e) => [{ ...e, type: 'usage', data: {} }]),
      /is lost, doubled/,
    ],
    ['a question that was asked twice', () => withMore(last('question.asked')), /asked twice/],
    ['a second answer', () => withMore(last('question.answered')), /has 2 ends/],
    [
      'a lost answer',
      () => withEvent('question.answered', (e) => [{ ...e, type: 'usage', data: {} }]),
      /was acknowledged, and is lost/,
    ],
    ['an answer that nobody gave', () => withEntries(otherHearing), /was told .* for ask, and the log says/],
    ['a conversation that is not the log', () => withThread({ messages: [] }), /are not those of its log/],
    ['a step that was executed again', () => ({ ...sound, effects: again() }), /executed again as/],
    ['a step executed twice in one attempt', () => ({ ...sound, effects: again() }), /twice in one attempt/],
    ['an effect of a task that is not there', () => ({ ...sound, effects: stray() }), /is not in the store/],
    ['an answer that changed', () => withEntries(otherAnswer), /was answered with/],
    [
      'a seam between events',
      () => withEntries((entry) => [entry, { kind: 'broken', what: '5 came after 3' }]),
      /came after/,
    ],
    ['a result that nobody took and that is gone', () => withThread({ untaken: [] }), /is gone, and nobody took it/],
  ])('finds %s', (_, broken, words) => {
    expect(storyViolations(broken())).toContainEqual(expect.stringMatching(words))
  })
})

function reopened(log: readonly Event[]): Event | undefined {
  const started = log.find((event) => event.type === 'task.started')
  return started && { ...started, type: 'task.resumed', data: { attempt: 2, node: 'other', keep: 0 } }
}

function doubled(): Case {
  const run = [...sound.tasks.values()].find((task) => task.agent === 'parent')
  return run ? { ...sound, tasks: new Map([...sound.tasks, ['bg_99', { ...run, id: 'bg_99' as Task['id'] }]]) } : sound
}

function again() {
  return [...sound.effects, ...sound.effects.slice(0, 1).map((effect) => ({ ...effect, nonce: 'again' }))]
}

function stray() {
  return [...sound.effects, ...sound.effects.slice(0, 1).map((effect) => ({ ...effect, task: 'bg_99' }))]
}

function otherHearing(entry: Entry): Entry[] {
  return entry.kind === 'answered' && entry.step === 'ask' ? [{ ...entry, value: 'null' }] : [entry]
}

function otherAnswer(entry: Entry): Entry[] {
  return entry.kind === 'answered' ? [entry, { ...entry, value: '"other"' }] : [entry]
}
