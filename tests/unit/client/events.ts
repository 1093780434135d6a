import type { QuestionEvent, ThreadEvent } from '../../../src/client/thread-event.ts'
import type { EventData } from '../../../src/core/event.ts'

interface Place {
  readonly seq: number
  readonly task?: string
  readonly at?: number
}

type Data = EventData & { [Event in QuestionEvent as Event['type']]: Event['data'] }

/** An event of `bg_0` in thread `t`, unless told otherwise. */
export function event<Type extends keyof Data>(type: Type, data: Data[Type], place: Place): ThreadEvent {
  return { thread: 't', task: 'bg_0', at: 1000 + place.seq, epoch: 1, type, data, ...place } as unknown as ThreadEvent
}
