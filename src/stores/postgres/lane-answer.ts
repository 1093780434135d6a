import type { TaskId } from '../../core/id.ts'
import type { Refusal, Removed, Verdict } from '../../core/unit.ts'
import { fromColumn } from './column-text.ts'
import type { PackedBatch } from './pack-batch.ts'

/** What a commit was answered. */
export interface Answer {
  readonly at: number
  readonly verdicts: Verdict[]
  /** What units have written to the log that write nothing else, by their place in the batch. */
  readonly bodies?: ReadonlyMap<number, string>
}

type Said =
  | number
  | string
  | { readonly code: 'key_taken'; readonly task: TaskId; readonly digest: string }
  | {
      readonly first: number
      readonly at: number
      readonly taken: readonly TaskId[] | null
      readonly removed: Removed | null
    }

export function answerOf(text: string, { order, bodies }: PackedBatch): Answer {
  const { at, verdicts: said } = JSON.parse(text) as { at: number; verdicts: Said[] }
  const verdicts: Verdict[] = []
  for (const [n, each] of said.entries()) verdicts[order[n] ?? n] = verdictOf(each, at)
  return { at, verdicts, bodies }
}

function verdictOf(said: Said, at: number): Verdict {
  if (typeof said === 'number') return { committed: true, first: said, at, taken: [] }
  if (typeof said === 'string') return { committed: false, reason: { code: said } as Refusal }
  if ('code' in said) {
    const { code, task, digest } = said
    return { committed: false, reason: { code, task: fromColumn(task), digest: fromColumn(digest) } }
  }
  const { first, taken, removed } = said
  return {
    committed: true,
    first,
    at: said.at,
    taken: (taken ?? []).map((id) => fromColumn(id)),
    ...(removed && { removed }),
  }
}
