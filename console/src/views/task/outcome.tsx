import type { Task } from 'holdfast/client'
import { TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { harmlessText } from '../../design/harmless-text.ts'
import { Json } from '../../design/json.tsx'
import { taskTitle } from '../../design/task-title.ts'
import { taskPath } from '../../place.ts'
import { Section } from './section.tsx'

interface OutcomeProps {
  readonly task: Task
  /** Where it failed, if that was not in itself. */
  readonly leaf: Task
  /** It did not stop when it was asked to. */
  readonly isForced: boolean
}

/** How a task ended: its result or its error, which is what most people come for. */
export function Outcome({ task, leaf, isForced }: OutcomeProps) {
  const { error, result, partial } = task
  return (
    <>
      {leaf.id !== task.id && <FailingLeaf leaf={leaf} />}
      {error && (
        <Section title={task.status === 'cancelled' ? 'Cancelled' : 'Error'} note={error.code}>
          <Message text={error.message} isBad={task.status === 'failed'} />
          {isForced && (
            <p className="text-ink-soft">It did not stop when it was asked to, and was cut off after its grace time.</p>
          )}
          {partial && (
            <p className="text-ink-soft">What it had put out by then is kept, in its thread and its events.</p>
          )}
        </Section>
      )}
      {result !== undefined && (
        <Section title="Result">
          {typeof result === 'string' ? <Message text={result} /> : <Json value={result} label="result" />}
        </Section>
      )}
    </>
  )
}

function FailingLeaf({ leaf }: { readonly leaf: Task }) {
  return (
    <Section title="Where it failed">
      <div className="flex flex-col gap-2 rounded-lg border border-bad bg-bad-soft p-4">
        <p className="flex items-center gap-2 font-medium">
          <TriangleAlert size={16} aria-hidden className="shrink-0 text-bad" />
          <Link href={taskPath(leaf.id)} className="min-w-0 truncate underline underline-offset-3 hover:text-accent">
            {taskTitle(leaf)}
          </Link>
          <span className="font-mono text-xs font-normal">{leaf.id}</span>
        </p>
        <p className="break-words whitespace-pre-wrap">
          {leaf.error ? harmlessText(`${leaf.error.code}: ${leaf.error.message}`) : 'It failed without a word.'}
        </p>
      </div>
    </Section>
  )
}

function Message({ text, isBad = false }: { readonly text: string; readonly isBad?: boolean }) {
  return (
    <p
      className={`rounded-lg border p-4 break-words whitespace-pre-wrap ${isBad ? 'border-bad bg-bad-soft' : 'border-line bg-panel'}`}
    >
      {harmlessText(text)}
    </p>
  )
}
