import { Check, CircleSlash, MessageCircleQuestion } from 'lucide-react'
import { type FormEvent, memo, useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../../design/button.tsx'
import { messageOf, requestIdOf } from '../../design/error-state.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { useNow } from '../../design/now.ts'
import { durationText } from '../../design/span-text.ts'
import { taskTitle } from '../../design/task-title.ts'
import { taskPath } from '../../place.ts'
import type { Asked } from './transcript.ts'

interface QuestionCardProps {
  readonly asked: Asked
  /** The task that it stands with: who asks is said of any other. */
  readonly standsWith?: string | undefined
  readonly onAnswer: (question: string, answer: string) => Promise<unknown>
}

/** What a task asks of people. Whoever answers first answers for all; the others see it closed at once. */
export const QuestionCard = memo(function QuestionCard({ asked, standsWith, onAnswer }: QuestionCardProps) {
  const { question, end } = asked
  const titleId = useId()
  const isOpen = end === undefined
  const [title = '', ...rest] = harmlessText(question.text.trim()).split('\n')
  const more = rest.join('\n').trim()
  return (
    <section
      {...useKeptFocus(isOpen)}
      aria-labelledby={titleId}
      data-question={question.id}
      data-open={isOpen}
      className={`flex flex-col gap-3 rounded-lg border p-4 break-words ${isOpen ? 'border-warn bg-warn-soft' : 'border-line bg-panel'}`}
    >
      <header className="flex items-start gap-2">
        <MessageCircleQuestion
          size={18}
          aria-hidden
          className={`mt-0.5 shrink-0 ${isOpen ? 'text-warn' : 'text-ink-faint'}`}
        />
        <div className="flex min-w-0 flex-1 flex-col gap-1">
          <h3 id={titleId} dir="auto" className="text-md font-semibold whitespace-pre-wrap">
            {title}
          </h3>
          {more !== '' && (
            <p dir="auto" className="whitespace-pre-wrap">
              {more}
            </p>
          )}
          {standsWith !== undefined && standsWith !== question.task && <Asker asked={asked} />}
        </div>
      </header>
      {isOpen ? <AnswerForm question={question} onAnswer={onAnswer} labelledBy={titleId} /> : <Ending end={end} />}
    </section>
  )
})

function Asker({ asked: { question, asker } }: Pick<QuestionCardProps, 'asked'>) {
  return (
    <p className="text-xs text-ink-soft">
      Asked by{' '}
      <Link href={taskPath(question.task)} className="rounded-sm font-medium underline underline-offset-3">
        {asker ? taskTitle(asker) : question.task}
      </Link>
    </p>
  )
}

/** Its form goes when it is closed: who was in there is then on the card, and goes on from it. */
function useKeptFocus(isOpen: boolean) {
  const ref = useRef<HTMLElement>(null)
  const isHere = useRef(false)
  useEffect(() => {
    if (isOpen || !isHere.current || document.activeElement !== document.body) return
    ref.current?.focus({ preventScroll: true })
  }, [isOpen])
  return {
    ref,
    tabIndex: -1,
    onFocus: () => {
      isHere.current = true
    },
    // A button that is disabled, or goes, gives the focus to nobody.
    onBlur: ({ relatedTarget }: { readonly relatedTarget: EventTarget | null }) => {
      if (relatedTarget) isHere.current = false
    },
  }
}

function Ending({ end }: { readonly end: NonNullable<Asked['end']> }) {
  if ('closed' in end) {
    return (
      <p className="flex items-center gap-1.5 text-ink-soft">
        <CircleSlash size={14} aria-hidden />
        {end.closed === 'timeout' ? 'Closed: nobody answered in time' : 'Closed'}
      </p>
    )
  }
  const who = end.by === 'timeout' ? 'by default, as nobody did' : `by ${end.by}`
  return (
    <p className="flex items-center gap-1.5">
      <Check size={14} aria-hidden className="shrink-0 text-ok" />
      <span className="min-w-0">
        <bdi className="font-medium">{harmlessText(textOf(end.answer))}</bdi>{' '}
        <span className="text-ink-soft">answered {who}</span>
      </span>
    </p>
  )
}

interface AnswerFormProps extends Pick<QuestionCardProps, 'onAnswer'> {
  readonly question: Asked['question']
  readonly labelledBy: string
}

function AnswerForm({ question, onAnswer, labelledBy }: AnswerFormProps) {
  const { id, options } = question
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<unknown>()
  const answer = async (given: string) => {
    setSending(true)
    setError(undefined)
    try {
      // It stays so afterwards: the card closes by itself when the answer is in the log.
      await onAnswer(id, given)
    } catch (refusal) {
      setError(refusal)
      setSending(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') void answer(text)
  }
  return (
    <>
      {options && options.length > 0 ? (
        <div role="group" aria-labelledby={labelledBy} className="flex flex-wrap gap-2">
          {options.map((option) => (
            // Whoever chooses has to read all of what is chosen.
            <Button
              key={option}
              disabled={isSending}
              onClick={() => void answer(option)}
              className="h-auto! min-h-8 max-w-full py-1 text-left whitespace-pre-wrap!"
            >
              <span dir="auto" className="min-w-0">
                {harmlessText(option)}
              </span>
            </Button>
          ))}
        </div>
      ) : (
        <form onSubmit={submit} className="flex gap-2">
          <input
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-labelledby={labelledBy}
            dir="auto"
            placeholder="Your answer"
            className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-3 placeholder:text-ink-faint"
          />
          <Button look="solid" type="submit" disabled={isSending || text.trim() === ''}>
            Answer
          </Button>
        </form>
      )}
      <Expiry question={question} />
      {error !== undefined && <Refusal error={error} />}
    </>
  )
}

function Expiry({ question }: { readonly question: Asked['question'] }) {
  const { expiresAt, default: fallback } = question
  const now = useNow(expiresAt !== undefined)
  if (expiresAt === undefined) return null
  const left = durationText(Math.max(0, Math.floor((expiresAt - now) / 1000) * 1000))
  const then = fallback === undefined ? 'is closed' : `is answered with “${textOf(fallback)}”`
  return (
    <p className="text-xs text-ink-soft">
      Otherwise it {harmlessText(then)} in {left}
    </p>
  )
}

export function Refusal({ error }: { readonly error: unknown }) {
  const requestId = requestIdOf(error)
  return (
    <p role="alert" className="text-sm text-bad">
      {messageOf(error)}
      {requestId !== undefined && <span className="ml-2 font-mono text-xs text-ink-soft">Request {requestId}</span>}
    </p>
  )
}

function textOf(answer: unknown): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
}
