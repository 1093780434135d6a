import type { Task } from 'holdfast/client'
import type { UseTaskResult } from 'holdfast/react'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { caretAtEnd } from '../../design/caret-at-end.ts'
import { Dialog } from '../../design/dialog.tsx'
import { say } from '../../shell/notices.ts'
import { Refusal } from '../thread/question-card.tsx'

interface SendDialogProps {
  readonly isOpen: boolean
  readonly task: Task
  readonly send: UseTaskResult['send']
  readonly onClose: () => void
}

/** Whether it can be written to: runs and agents have an inbox. */
export function hasInbox({ type }: Task): boolean {
  return type === 'run' || type === 'agent'
}

export function SendDialog({ isOpen, task, send, onClose }: SendDialogProps) {
  const formId = useId()
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isEmpty = text.trim() === ''
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // The keys come here though the button is disabled.
    if (isBusy || isEmpty) return
    setBusy(true)
    setError(undefined)
    try {
      await send(text)
      say(`Sent to ${task.id}`)
      setText('')
      onClose()
    } catch (refusal) {
      setError(refusal)
    }
    setBusy(false)
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Send a message to ${task.id}`}
      footer={
        <Button look="solid" type="submit" form={formId} disabled={isBusy || isEmpty}>
          Send
        </Button>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
        <p className="text-ink-soft">It is read when the agent next looks into its inbox.</p>
        <textarea
          ref={caretAtEnd}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
          }}
          aria-label="Message"
          dir="auto"
          rows={4}
          className="rounded-md border border-line-strong bg-panel px-3 py-2"
        />
        {error !== undefined && <Refusal error={error} />}
      </form>
    </Dialog>
  )
}
