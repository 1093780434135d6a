import type { AgentLine } from 'holdfast/client'
import { useClient } from 'holdfast/react'
import { type FormEvent, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { threadPath } from '../../place.ts'
import { newThreadId } from '../threads/new-thread-id.ts'
import { type Draft, draftOf, type Fault, faultsOf, readDraft } from './draft.ts'
import { type Field, fieldOf } from './field.ts'
import { focusField } from './focus-field.ts'
import type { Ask } from './snippets.ts'

/** The ways in which an agent can be asked; a form only where there is a schema to make it from. */
export type Mode = 'form' | 'prompt' | 'json'

type Fields = Readonly<Partial<Record<Mode, Field>>>

const anyJson: Field = { kind: 'json', description: 'Checked by the server' }
const promptField: Field = { kind: 'text', minLength: 1 }

/** What is being filled in for one agent, and what starts it. */
export function useAgentForm({ name, inputSchema }: AgentLine) {
  const client = useClient()
  const [, go] = useLocation()
  const fields = useMemo(() => fieldsOf(inputSchema), [inputSchema])
  const [mode, setMode] = useState<Mode>(fields.form ? 'form' : 'prompt')
  const [drafts, setDrafts] = useState<Partial<Record<Mode, Draft>>>({})
  const [seed, setSeed] = useState('')
  const [thread, setThread] = useState(newThreadId)
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const [error, setError] = useState<unknown>()
  const [isSending, setSending] = useState(false)
  const field = fields[mode] ?? anyJson
  const draft = drafts[mode] ?? draftOf(field)
  const path = mode === 'prompt' ? 'prompt' : 'input'
  const read = useMemo(() => readDraft(field, draft, path), [field, draft, path])
  const ask: Ask = mode === 'prompt' ? { prompt: String(read.value ?? '') } : { input: read.value ?? {} }
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    setError(undefined)
    setFaults(read.faults)
    if (read.faults.length > 0) return focusFault(read.faults)
    setSending(true)
    try {
      await client.run(thread, { agent: name, ...ask })
      go(threadPath(thread))
    } catch (refusal) {
      const found = faultsOf(refusal)
      setFaults(found)
      setError(refusal)
      setSending(false)
      focusFault(found)
    }
  }
  const change = (next: Draft) => {
    setDrafts((before) => ({ ...before, [mode]: next }))
    setFaults([])
  }
  const choose = (next: Mode) => {
    setMode(next)
    // What was filled in goes on as JSON, unless somebody has written other JSON.
    if (mode !== 'form' || next !== 'json' || (drafts.json ?? '') !== seed) return
    const text = JSON.stringify(read.value ?? {}, undefined, 2)
    setSeed(text)
    setDrafts((before) => ({ ...before, json: text }))
  }
  const modes = modesOf(fields)
  return { mode, modes, choose, field, draft, change, path, thread, setThread, faults, error, isSending, ask, submit }
}

function fieldsOf(schema: object | undefined): Fields {
  const form = schema && fieldOf(schema)
  // One that is JSON as a whole, or one text, has its own way already.
  return { ...(form && form.kind !== 'json' && { form }), prompt: promptField, json: anyJson }
}

function modesOf(fields: Fields): readonly { name: Mode; title: string }[] {
  const all = [
    { name: 'form', title: 'Form' },
    { name: 'prompt', title: 'Prompt' },
    { name: 'json', title: 'JSON' },
  ] as const
  return all.filter(({ name }) => fields[name])
}

/** The first field that has to be mended; what follows is found from there. */
function focusFault([first]: readonly Fault[]): void {
  if (first) focusField(first.path)
}
