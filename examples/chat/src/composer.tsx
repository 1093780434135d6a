import { type KeyboardEvent, type ReactElement, useState } from 'react'

interface ComposerProps {
  /** A run is live: what is sent now waits for it, unless it steers. */
  readonly isBusy: boolean
  /** Both tell whether it was accepted; if not, what was typed is still there. */
  readonly onSend: (text: string) => Promise<boolean>
  readonly onSteer?: (text: string) => Promise<boolean>
  readonly onStop?: () => void
}

export function Composer({ isBusy, onSend, onSteer, onStop }: ComposerProps): ReactElement {
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const cannotSend = isSending || text.trim() === ''
  async function give(to: (text: string) => Promise<boolean>): Promise<void> {
    if (cannotSend) return
    setSending(true)
    const isAccepted = await to(text.trim())
    setSending(false)
    // What was typed meanwhile is the next message.
    if (isAccepted) setText((now) => (now.startsWith(text) ? now.slice(text.length) : now))
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void give(onSend)
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void give(onSend)
      }}
    >
      <textarea
        aria-label="Message"
        placeholder={isBusy ? 'Steer it, or ask what comes next' : 'Ask something'}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div>
        {isBusy && onStop && (
          <button type="button" className="stop" onClick={onStop}>
            Stop
          </button>
        )}
        {isBusy && onSteer && (
          <button type="button" className="second" disabled={cannotSend} onClick={() => void give(onSteer)}>
            Steer now
          </button>
        )}
        <button type="submit" disabled={cannotSend}>
          {isBusy ? 'Queue next' : 'Send'}
        </button>
      </div>
    </form>
  )
}
