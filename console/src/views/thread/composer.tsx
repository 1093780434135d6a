import { ArrowUp, ListPlus, Navigation, OctagonX, Square } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useLayoutEffect, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { caretAtEnd } from '../../design/caret-at-end.ts'
import { useLater } from '../../design/skeleton.tsx'
import { Tooltip } from '../../design/tooltip.tsx'
import { useKeptText } from '../../kept-text.ts'
import { AgentPicker } from './agent-picker.tsx'
import { Failure, useAttempts } from './attempts.tsx'

/** What becomes of a prompt: asked of an idle thread, or one of the three ways to reach one that is at work. */
export type Way = 'send' | 'steer' | 'queue' | 'interrupt'

interface ComposerProps {
  readonly thread: string
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly agent: string
  readonly agents: readonly string[]
  readonly onAgent: (agent: string) => void
  readonly isRunning: boolean
  readonly isStopping: boolean
  readonly onSend: (text: string, way: Way) => Promise<unknown>
  readonly onStop: () => Promise<unknown>
}

/** Where one writes to a thread. What is written is kept until it is sent, whatever happens to the page. */
export function Composer(props: ComposerProps) {
  const { thread, inputRef, isRunning, onSend } = props
  const [text, setText] = useKeptText(`draft.${thread}`, inputRef)
  const [isSending, setSending] = useState(false)
  const { error, attempt } = useAttempts()
  const isReady = text.trim() !== '' && props.agent !== '' && !isSending
  const send = async (way: Way) => {
    if (!isReady) return
    setSending(true)
    if (await attempt(() => onSend(text, way))) setText('')
    setSending(false)
    inputRef.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const way = wayOf(event, isRunning)
    if (event.key === 'Escape') inputRef.current?.blur()
    if (!way) return
    event.preventDefault()
    void send(way)
  }
  const stop = () => {
    void attempt(props.onStop)
    // The button goes, and the focus would go with it.
    inputRef.current?.focus()
  }
  useGrowing(inputRef, text)
  useLayoutEffect(() => caretAtEnd(inputRef.current), [inputRef])
  return (
    <form
      aria-label="Write to the thread"
      onSubmit={(event) => {
        event.preventDefault()
        void send(isRunning ? 'steer' : 'send')
      }}
      className="flex flex-col gap-2"
    >
      {error !== undefined && <Failure error={error} hasText={text !== ''} />}
      <div className="flex flex-col gap-1 rounded-lg border border-line-strong bg-raised p-2 shadow-raised focus-within:border-focus">
        <textarea
          ref={inputRef}
          rows={1}
          value={text}
          readOnly={isSending}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          aria-label="Prompt"
          dir="auto"
          placeholder={isRunning ? 'Tell the run, or ask what comes next' : `Ask ${props.agent || 'an agent'}`}
          className="scroller max-h-56 w-full resize-none bg-transparent px-2 py-1.5 text-md outline-none placeholder:text-ink-faint"
        />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span className="mr-auto">
            <AgentPicker agents={props.agents} value={props.agent} onChange={props.onAgent} />
          </span>
          {isRunning && <Stop isStopping={props.isStopping} onStop={stop} />}
          <span className={isRunning ? 'flex w-full flex-wrap gap-2 sm:w-auto' : undefined}>
            <Ways isRunning={isRunning} isReady={isReady} isSending={isSending} onSend={(way) => void send(way)} />
          </span>
        </div>
      </div>
    </form>
  )
}

function Stop({ isStopping, onStop }: { readonly isStopping: boolean; readonly onStop: () => void }) {
  return (
    <Button look="danger" disabled={isStopping} onClick={onStop}>
      <Square size={12} aria-hidden fill="currentColor" /> {isStopping ? 'Stopping…' : 'Stop'}
    </Button>
  )
}

interface WaysProps {
  readonly isRunning: boolean
  readonly isReady: boolean
  readonly isSending: boolean
  readonly onSend: (way: Way) => void
}

// On a phone they share a line.
const shared = 'flex-1 px-2 sm:flex-none sm:px-3'

function Ways({ isRunning, isReady, isSending, onSend }: WaysProps) {
  if (!isRunning) {
    return (
      <Tooltip text="Enter" side="top">
        <Button look="solid" type="submit" disabled={!isReady}>
          <ArrowUp size={16} aria-hidden /> {isSending ? <Sending instead="Send" /> : 'Send'}
        </Button>
      </Tooltip>
    )
  }
  return (
    <>
      <Tooltip text="Stops the run and asks this instead · Ctrl or Cmd+Shift+Enter" side="top">
        <Button className={shared} disabled={!isReady} onClick={() => onSend('interrupt')}>
          <OctagonX size={14} aria-hidden /> Interrupt
        </Button>
      </Tooltip>
      <Tooltip text="Asked when the run has ended · Ctrl or Cmd+Enter" side="top">
        <Button className={shared} disabled={!isReady} onClick={() => onSend('queue')}>
          <ListPlus size={14} aria-hidden /> Queue next
        </Button>
      </Tooltip>
      <Tooltip text="Told to the run while it works · Enter" side="top">
        <Button className={shared} look="solid" type="submit" disabled={!isReady}>
          <Navigation size={14} aria-hidden /> {isSending ? <Sending instead="Steer now" /> : 'Steer now'}
        </Button>
      </Tooltip>
    </>
  )
}

// What is sent within this is sent at once.
const sendingMs = 150

function Sending({ instead }: { readonly instead: string }) {
  return useLater(sendingMs) ? 'Sending…' : instead
}

/** Enter sends; with Shift it is a new line; what is being composed by an input method is left alone. */
function wayOf(event: KeyboardEvent, isRunning: boolean): Way | undefined {
  if (event.key !== 'Enter' || event.nativeEvent.isComposing) return undefined
  const isWithControl = event.ctrlKey || event.metaKey
  if (!isRunning) return event.shiftKey ? undefined : 'send'
  if (isWithControl) return event.shiftKey ? 'interrupt' : 'queue'
  return event.shiftKey ? undefined : 'steer'
}

/** As high as what is in it, up to a limit. */
function useGrowing(ref: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const area = ref.current
    if (!area) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [ref, text])
}
