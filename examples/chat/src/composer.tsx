import { type KeyboardEvent, type ReactElement, useState } from 'react'

interface ComposerProps {
  /** A run is live: what is sent now waits for it, unless it steers. */
  readonly isBusy: boolean
  readonly onSend: (text: string) => void
  readonly onSteer?: (text: string) => void
  readonly onStop?: () => void
}

export function Composer({ isBusy, onSend, onSteer, onStop }: ComposerProps): ReactElement {
  const [text, setText] = useState('')
  const isEmpty = text.trim() === ''
  function give(to: (text: string) => void): void {
    if (isEmpty) return
    to(text.trim())
    setText('')
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    give(onSend)
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        give(onSend)
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
          <button type="button" className="second" disabled={isEmpty} onClick={() => give(onSteer)}>
            Steer now
          </button>
        )}
        <button type="submit" disabled={isEmpty}>
          {isBusy ? 'Queue next' : 'Send'}
        </button>
      </div>
    </form>
  )
}
