import type { Part, Task } from 'holdfast/client'
import { Ban, Brain, ChevronRight, CircleX, History, type LucideIcon, Timer } from 'lucide-react'
import { memo, type ReactNode, useDeferredValue, useMemo } from 'react'
import { Link } from 'wouter'
import { harmlessText } from '../../design/harmless-text.ts'
import { Json } from '../../design/json.tsx'
import { ShortId } from '../../design/short-id.tsx'
import { Status, shownStatus } from '../../design/status.tsx'
import { Duration } from '../../design/time.tsx'
import { taskPath } from '../../place.ts'
import { ChildCard } from './child-card.tsx'
import { FilePart } from './file-part.tsx'
import { Markdown } from './markdown.tsx'
import { QuestionCard } from './question-card.tsx'
import { piecesOf } from './run-order.ts'
import { SaidBlock } from './said-block.tsx'
import { ToolCard } from './tool-card.tsx'
import type { RunEntry } from './transcript.ts'
import { usePlaces } from './use-places.ts'

export interface BlockProps {
  readonly live: ReadonlyMap<string, readonly Part[]>
  /** Those of which a question is open. */
  readonly asking: ReadonlySet<string>
  readonly onAnswer: (question: string, answer: string) => Promise<unknown>
}

/** All that a run did, in its order: what it said, its tools and children, what it asked and was told, and how it ended. */
export function RunBlock({ entry, ...shared }: BlockProps & { readonly entry: RunEntry }) {
  const { task, isLive } = entry
  const places = usePlaces(entry)
  const pieces = useMemo(() => piecesOf(entry, places), [entry, places])
  // An open question stands at the end wherever it was asked, and words may still grow before it.
  const last = pieces.findLastIndex((piece) => !('asked' in piece) || piece.asked.end !== undefined)
  return (
    <article aria-label={task ? `Run of ${task.agent ?? 'an agent'}` : 'Run'} className="flex flex-col gap-3">
      {task && <RunLine task={task} />}
      {pieces.map((piece, at) => {
        if ('part' in piece)
          return <PartBlock key={piece.key} part={piece.part} isLast={at === last} entry={entry} {...shared} />
        if ('asked' in piece)
          return (
            <QuestionCard
              key={piece.asked.question.id}
              asked={piece.asked}
              standsWith={task?.id}
              onAnswer={shared.onAnswer}
            />
          )
        if ('said' in piece) return <SaidBlock key={piece.said.id} message={piece.said} />
        return <Children key={piece.children[0]?.id} tasks={piece.children} {...shared} />
      })}
      {isLive && pieces.length === 0 && <Waiting />}
      <Ending entry={entry} />
    </article>
  )
}

function RunLine({ task }: { readonly task: Task }) {
  const { id, agent, startedAt, completedAt, attempt } = task
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-faint">
      <span className="text-sm font-semibold text-ink">{agent ?? 'run'}</span>
      <Status status={shownStatus(task)} />
      {startedAt !== undefined && <Duration from={startedAt} to={completedAt} />}
      <Link href={taskPath(id)} className="rounded-sm hover:underline" aria-label={`Task ${id}`}>
        <ShortId id={id} />
      </Link>
      {attempt > 1 && (
        <span className="inline-flex items-center gap-1" title={`Attempt ${attempt}`}>
          <History size={12} aria-hidden /> went on after a restart
        </span>
      )}
    </p>
  )
}

interface PartBlockProps extends BlockProps {
  readonly part: Part
  readonly entry: RunEntry
  readonly isLast: boolean
}

function PartBlock({ part, isLast, entry, ...shared }: PartBlockProps) {
  const { task, isLive, childrenOfCall, message } = entry
  switch (part.type) {
    case 'text':
      return (
        <Words
          text={part.text}
          isGrowing={isLive && isLast}
          isAsking={task !== undefined && shared.asking.has(task.id)}
        />
      )
    case 'reasoning':
      return <Reasoning text={part.text} isGrowing={isLive && isLast} />
    case 'tool':
      return (
        <div className="flex flex-col gap-2">
          <ToolCard part={part} isLive={isLive} isCancelled={message?.finish === 'cancelled'} />
          <Children tasks={childrenOfCall.get(part.id) ?? []} {...shared} />
        </div>
      )
    case 'file':
      return <FilePart part={part} />
    case 'data':
      return <Json value={part.value} label={part.name} />
  }
}

interface WordsProps {
  readonly text: string
  readonly isGrowing: boolean
  /** The run waits for somebody, and says so by its question. */
  readonly isAsking: boolean
}

/** A text that grows is laid out when there is time for it; the page stays quick however fast it comes. */
const Words = memo(function Words({ text, isGrowing, isAsking }: WordsProps) {
  const shown = useDeferredValue(text)
  return (
    <div data-growing={isGrowing}>
      <Markdown text={isGrowing ? shown : text} />
      {isGrowing && !isAsking && <span aria-hidden className="mt-2 block size-2 animate-wait rounded-full bg-run" />}
    </div>
  )
})

const Reasoning = memo(function Reasoning({ text, isGrowing }: { readonly text: string; readonly isGrowing: boolean }) {
  return (
    <details className="group">
      <summary className="flex w-fit list-none items-center gap-1.5 rounded-sm text-xs font-medium text-ink-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <Brain size={14} aria-hidden className={isGrowing ? 'animate-wait' : undefined} />
        {isGrowing ? 'Thinking…' : 'Thought'}
        <ChevronRight size={14} aria-hidden className="group-open:rotate-90" />
      </summary>
      <p dir="auto" className="mt-2 border-s-2 border-line ps-4 whitespace-pre-wrap text-ink-soft">
        {harmlessText(text)}
      </p>
    </details>
  )
})

function Children({ tasks, live, asking }: BlockProps & { readonly tasks: readonly Task[] }) {
  if (tasks.length === 0) return null
  return (
    <ul aria-label="Child tasks" className="flex flex-col gap-2">
      {tasks.map((task) => (
        <li key={task.id}>
          <ChildCard task={task} parts={live.get(task.id)} hasQuestion={asking.has(task.id)} />
        </li>
      ))}
    </ul>
  )
}

function Waiting() {
  return <p className="animate-wait text-ink-faint">Working…</p>
}

/** Only what did not end well needs a word, and what ended without any. */
function Ending({ entry: { task, message, parts, isLive } }: { readonly entry: RunEntry }) {
  if (isLive) return null
  const partly = parts.some(({ type }) => type !== 'reasoning') ? 'What is above is as far as it came.' : ''
  if (message?.finish === 'cancelled') return <Note icon={Ban} ink="text-warn" title="Cancelled" text={partly} />
  if (message?.finish === 'timeout') return <Note icon={Timer} ink="text-bad" title="Out of time" text={partly} />
  if (message?.finish === 'error' || task?.status === 'failed') {
    const why = task?.error ? harmlessText(task.error.message) : ''
    return <Note icon={CircleX} ink="text-bad" title="Failed" text={[why, partly].filter(Boolean).join('. ')} />
  }
  if (message) return null
  if (task?.resultOmitted) {
    return (
      <Link href={taskPath(task.id)} className="text-ink-faint underline underline-offset-3 hover:text-accent">
        The result is too large to be shown here
      </Link>
    )
  }
  if (task?.result === undefined) return null
  return <Json value={task.result} label="the result" />
}

interface NoteProps {
  readonly icon: LucideIcon
  readonly ink: string
  readonly title: string
  readonly text: ReactNode
}

function Note({ icon: Icon, ink, title, text }: NoteProps) {
  return (
    <p data-ending={title} className="flex items-start gap-1.5 text-sm text-ink-soft">
      <Icon size={14} aria-hidden className={`mt-[3px] shrink-0 ${ink}`} />
      <span className="min-w-0 break-words whitespace-pre-wrap">
        <span className={`font-medium ${ink}`}>{title}</span> {text}
      </span>
    </p>
  )
}
