import type { Task } from 'holdfast/client'
import { type UseThreadResult, useAgents, useClient, useThread } from 'holdfast/react'
import { MessagesSquare } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { CancelDialog } from '../../design/cancel-dialog.tsx'
import { Empty } from '../../design/empty.tsx'
import { ErrorState, StaleBar } from '../../design/error-state.tsx'
import { Loading } from '../../design/loading.tsx'
import { NotFound } from '../../design/not-found.tsx'
import { useKeptText } from '../../kept-text.ts'
import { attempt } from '../../shell/attempt.ts'
import { Page } from '../../shell/page.tsx'
import { Composer } from './composer.tsx'
import { Refusal } from './question-card.tsx'
import { QueueList } from './queue-list.tsx'
import { ThreadHeader } from './thread-header.tsx'
import { transcriptOf } from './transcript.ts'
import { TranscriptList } from './transcript-list.tsx'
import { useOlder } from './use-older.ts'
import { useQuestionLog } from './use-question-log.ts'
import { useThreadCommands } from './use-thread-commands.ts'

// There is none, and none of that name can be made by writing to it.
const noThreadCodes: readonly string[] = ['not_found', 'invalid_request']

export function ThreadView({ thread }: { readonly thread: string }) {
  const client = useClient()
  const { agents } = useAgents()
  const [chosen, choose] = useKeptText(`agent.${thread}`)
  const names = agents.map(({ name }) => name)
  const view = useThread(thread)
  const agent = agentOf(chosen, names, view)
  const conversation = useOlder(client, thread, view.messages)
  const questions = useQuestionLog(client, thread, view)
  const tasks = useMemo(() => [...view.tasks.values()], [view.tasks])
  const entries = useMemo(
    () => transcriptOf({ messages: conversation.messages, tasks, live: view.live, questions, first: view.first }),
    [conversation.messages, tasks, view.live, questions, view.first],
  )
  const asking = useMemo(() => new Set<string>(view.questions.map(({ task }) => task)), [view.questions])
  const scrollRef = useRef<HTMLDivElement>(null)
  const inputRef = useRef<HTMLTextAreaElement>(null)
  const run = tasks.find(({ type, status }) => type === 'run' && status === 'running')
  const [isStopping, setStopping] = useState(false)
  useThreadCommands({ scrollRef, inputRef, ...(run && { stop: () => setStopping(true) }) })
  const header = <ThreadHeader thread={thread} run={run} waiting={view.queue.length} />
  if (view.error && entries.length === 0 && noThreadCodes.includes(view.error.code)) {
    return (
      <Page title={thread} header={header}>
        <NotFound what="thread" />
      </Page>
    )
  }
  return (
    <Page title={thread} header={header}>
      {view.error && entries.length > 0 && <StaleBar error={view.error} onRetry={view.retry} />}
      <Body view={view} isEmpty={entries.length === 0} inputRef={inputRef}>
        <TranscriptList
          entries={entries}
          live={view.live}
          asking={asking}
          onAnswer={view.answer}
          hasOlder={conversation.hasOlder}
          isLoadingOlder={conversation.isLoadingOlder}
          isOlderRefused={conversation.olderError !== undefined}
          onOlder={conversation.loadOlder}
          scrollRef={scrollRef}
        />
      </Body>
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-3 pb-3 md:px-6 md:pb-5">
        {conversation.olderError !== undefined && <Refusal error={conversation.olderError} />}
        <QueueList
          queue={view.queue}
          run={run ?? view.queue[0]}
          first={view.first}
          inputRef={inputRef}
          onWithdraw={(id) => attempt(view.withdraw(id))}
        />
        <Composer
          thread={thread}
          inputRef={inputRef}
          agent={agent}
          agents={names}
          onAgent={choose}
          isRunning={view.status === 'running'}
          isStopping={run?.cancelRequestedAt !== undefined}
          onSend={(text, way) => view.send(text, { agent, onBusy: way === 'send' ? 'queue' : way })}
          onStop={view.stop}
        />
      </div>
      <CancelDialog ids={isStopping && run ? [run.id] : []} thread={thread} onClose={() => setStopping(false)} />
      <Spoken run={run} openCount={view.questions.length} isLoading={view.isLoading} />
    </Page>
  )
}

interface BodyProps {
  readonly view: UseThreadResult
  readonly isEmpty: boolean
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly children: ReactNode
}

function Body({ view, isEmpty, inputRef, children }: BodyProps) {
  if (view.error && isEmpty) return <ErrorState error={view.error} what="thread" onRetry={view.retry} />
  if (view.isLoading) return <Loading rows={5} />
  return isEmpty ? <Nothing inputRef={inputRef} /> : children
}

/** All that can be done with an empty thread is to write, so the focus is there, unless somebody has put it elsewhere. */
function Nothing({ inputRef }: Pick<BodyProps, 'inputRef'>) {
  useEffect(() => {
    if (document.activeElement === document.body) inputRef.current?.focus()
  }, [inputRef])
  return (
    <Empty icon={MessagesSquare} title="Nothing was said here yet">
      <p>Write below. A thread needs no other beginning, and it goes on when you leave.</p>
    </Empty>
  )
}

interface SpokenProps {
  readonly run: Task | undefined
  readonly openCount: number
  readonly isLoading: boolean
}

/** What a screen reader says of a thread at work: its turns, and never each word that streams in. */
function Spoken({ run, openCount, isLoading }: SpokenProps) {
  const work = run ? `${run.agent ?? 'The run'} is at work` : 'Idle'
  const asked =
    openCount > 0 ? `${openCount === 1 ? 'A question waits' : `${openCount} questions wait`} for an answer` : ''
  return (
    <p role="status" className="sr-only">
      {isLoading ? '' : [work, asked].filter(Boolean).join('. ')}
    </p>
  )
}

/** The one that was chosen here, else that of the last run, else one that can be asked. */
function agentOf(chosen: string, names: readonly string[], { tasks }: UseThreadResult): string {
  if (names.includes(chosen)) return chosen
  const last = [...tasks.values()].findLast(({ type }) => type === 'run')?.agent
  if (last !== undefined && names.includes(last)) return last
  // A script says a prompt back; whatever else there is answers better.
  return names.find((name) => name !== 'script' && name !== 'echo') ?? names[0] ?? ''
}
