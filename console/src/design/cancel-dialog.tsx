import { useClient } from 'holdfast/react'
import { useState } from 'react'
import { say } from '../shell/notices.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { messageOf, requestIdOf } from './error-state.tsx'

interface CancelDialogProps {
  /** The tasks to cancel, each with its tree; closed without any. */
  readonly ids: readonly string[]
  /** Cancels what runs and waits in this thread, of which `ids` is what runs. */
  readonly thread?: string
  readonly onClose: () => void
  readonly onDone?: () => void
}

/** Asks once more, because what is cancelled does not come back. */
export function CancelDialog({ ids, thread, onClose, onDone }: CancelDialogProps) {
  const client = useClient()
  const [reason, setReason] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const close = () => {
    setError(undefined)
    setReason('')
    onClose()
  }
  const cancel = async () => {
    setBusy(true)
    try {
      const given = reason.trim() === '' ? {} : { reason: reason.trim() }
      const cancelled = await (thread === undefined
        ? Promise.all(ids.map((id) => client.cancel(id, given)))
        : client.cancelThread(thread, given))
      const count = new Set(cancelled.flat()).size
      say(count === 0 ? 'Nothing was left to cancel' : `Cancelling ${count} ${count === 1 ? 'task' : 'tasks'}`)
      close()
      onDone?.()
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  const what = ids.length === 1 ? `task ${ids[0]}` : `${ids.length} tasks`
  return (
    <Dialog
      isOpen={ids.length > 0}
      onClose={close}
      title={`Cancel ${what}?`}
      footer={
        <>
          <Button onClick={close}>Keep running</Button>
          <Button look="danger" disabled={isBusy} onClick={() => void cancel()}>
            Cancel {ids.length === 1 ? 'this tree' : `${ids.length} trees`}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void cancel()
        }}
        className="flex flex-col gap-3"
      >
        <p className="text-ink-soft">
          {ids.length === 1 ? 'It stops' : 'They stop'}, with everything spawned by {ids.length === 1 ? 'it' : 'them'}
          {thread !== undefined && ', and what waits in this thread is not begun'}. What was put out so far is kept.
        </p>
        <label className="flex flex-col gap-1.5 font-medium">
          Reason, if you like
          <input
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            className="h-8 rounded-md border border-line-strong bg-panel px-2.5 font-normal"
          />
        </label>
        {error !== undefined && (
          <p role="alert" className="text-bad">
            {messageOf(error)} <span className="font-mono text-xs">{requestIdOf(error)}</span>
          </p>
        )}
      </form>
    </Dialog>
  )
}
