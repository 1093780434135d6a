import { isTerminal, type Task } from 'holdfast/client'
import { useEvents, useQuestions } from 'holdfast/react'
import { useMemo } from 'react'
import { harmlessText } from '../../design/harmless-text.ts'
import { Json } from '../../design/json.tsx'
import { QuestionCard } from '../thread/question-card.tsx'
import { ChildList } from './child-list.tsx'
import { Inbox } from './inbox.tsx'
import { LiveOutput } from './live-output.tsx'
import { Outcome } from './outcome.tsx'
import { Section } from './section.tsx'
import { linesOf, type TaskTree } from './task-tree.ts'

interface OverviewProps {
  readonly task: Task
  readonly tree: TaskTree
  readonly leaf: Task
}

const types = ['inbox.accepted']

/** What came of a task first; then what waits for a person; then what it is made of. */
export function Overview({ task, tree, leaf }: OverviewProps) {
  const { events } = useEvents(task.thread, { task: task.id, types })
  const mail = useMemo(() => events.filter((event) => event.type === 'inbox.accepted'), [events])
  const isForced = events.some((event) => event.type === 'task.cancelled' && event.data.forced === true)
  const children = tree.childrenOf.get(task.id) ?? []
  return (
    <div className="scroller min-h-0 flex-1">
      <div className="flex max-w-4xl flex-col gap-6 p-4 md:p-6">
        {!isTerminal(task.status) && <OpenQuestions task={task} tree={tree} />}
        <Outcome task={task} leaf={leaf} isForced={isForced} />
        {task.status === 'running' && <LiveOutput task={task} />}
        {children.length > 0 && (
          <Section title="Children" note={childrenNote(children)}>
            <ChildList tasks={children} />
          </Section>
        )}
        {mail.length > 0 && (
          <Section title="Inbox" note={mail.length}>
            <Inbox task={task} mail={mail} />
          </Section>
        )}
        {task.input !== undefined && (
          <Section title={typeof task.input === 'string' ? 'Prompt' : 'Input'}>
            {typeof task.input === 'string' ? (
              <p className="break-words whitespace-pre-wrap">{harmlessText(task.input)}</p>
            ) : (
              <Json value={task.input} label="input" />
            )}
          </Section>
        )}
        <More task={task} />
      </div>
    </div>
  )
}

/** Of the task itself and of all below it: whoever looks at a tree that waits wants to know for what. */
function OpenQuestions({ task, tree }: { readonly task: Task; readonly tree: TaskTree }) {
  const { questions, answer } = useQuestions(task.thread)
  const ids = new Set(linesOf(task, tree).map((line) => line.task.id))
  const open = questions.filter((question) => ids.has(question.task))
  if (open.length === 0) return null
  return (
    <Section title={open.length === 1 ? 'It waits for an answer' : 'It waits for answers'}>
      {open.map((question) => (
        <QuestionCard key={question.id} asked={{ question }} onAnswer={answer} />
      ))}
    </Section>
  )
}

function More({ task: { usage, metadata } }: { readonly task: Task }) {
  return (
    <>
      {usage && Object.keys(usage).length > 0 && (
        <Section title="Usage">
          <dl className="grid w-fit grid-cols-[auto_auto] gap-x-6 gap-y-1">
            {Object.entries(usage).map(([name, count]) => (
              <div key={name} className="contents">
                <dt className="text-ink-soft">{harmlessText(name)}</dt>
                <dd className="text-right font-mono">{count.toLocaleString('en')}</dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
      {metadata !== undefined && (
        <Section title="Metadata">
          <Json value={metadata} label="metadata" />
        </Section>
      )}
    </>
  )
}

function childrenNote(children: readonly Task[]): string {
  const live = children.filter(({ status }) => !isTerminal(status)).length
  return live === 0 ? String(children.length) : `${live} running / ${children.length}`
}
