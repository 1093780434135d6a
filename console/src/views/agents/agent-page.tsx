import type { AgentLine } from 'holdfast/client'
import { Play } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { Button } from '../../design/button.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { Segments } from '../../design/segments.tsx'
import { apiUrl } from '../../place.ts'
import { useCommands } from '../../shell/commands.ts'
import { Page } from '../../shell/page.tsx'
import { Refusal } from '../thread/question-card.tsx'
import { FieldInput } from './field-input.tsx'
import { inputLook, Labelled } from './labelled.tsx'
import { Snippets } from './snippets-panel.tsx'
import { useAgentForm } from './use-agent-form.ts'

/** One agent: what it takes, a form for that, and the same run in code. */
export function AgentPage({ agent }: { readonly agent: AgentLine }) {
  const { name, description } = agent
  const [, go] = useLocation()
  const form = useAgentForm(agent)
  useCommands([
    { id: 'agent-run', title: `Run ${name}`, group: 'Thread', keys: 'mod+enter', run: () => void form.submit() },
    { id: 'agent-up', title: 'All agents', group: 'List', keys: 'u', run: () => go('/agents') },
  ])
  return (
    <Page title={name} header={<AgentHeader agent={agent} />}>
      <div className="scroller min-h-0 flex-1">
        <div className="mx-auto grid w-full max-w-6xl gap-8 p-4 md:p-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
          <div className="flex min-w-0 flex-col gap-6 break-words">
            <p className="max-w-prose text-md text-ink-soft">
              {harmlessText(description ?? 'This agent does not say what it does.')}
            </p>
            <AgentForm name={name} form={form} />
          </div>
          <Snippets request={{ url: apiUrl, thread: form.thread, agent: name, ask: form.ask }} />
        </div>
      </div>
    </Page>
  )
}

interface AgentFormProps {
  readonly name: string
  readonly form: ReturnType<typeof useAgentForm>
}

function AgentForm({ name, form }: AgentFormProps) {
  const { mode, path, error, isSending } = form
  return (
    <form
      aria-label={`Run ${name}`}
      noValidate
      onSubmit={(event) => void form.submit(event)}
      className="flex flex-col gap-6"
    >
      <Segments label="How to ask" value={mode} onChange={form.choose} options={form.modes} />
      {/* Each way of asking has fields of its own. */}
      <FieldInput
        key={mode}
        field={form.field}
        draft={form.draft}
        onChange={form.change}
        path={path}
        label={mode === 'prompt' ? 'Prompt' : 'Input'}
        isRequired
        faults={form.faults}
      />
      <ThreadChoice thread={form.thread} onChange={form.setThread} />
      {error !== undefined && <Refusal error={error} />}
      <div>
        <Button look="solid" type="submit" disabled={isSending}>
          <Play size={14} aria-hidden fill="currentColor" /> {isSending ? 'Starting…' : 'Run'}
        </Button>
      </div>
    </form>
  )
}

function AgentHeader({ agent: { name, version } }: { readonly agent: AgentLine }) {
  return (
    <header className="flex min-h-14 items-center gap-2 border-b border-line px-4 py-2 md:px-6">
      <nav aria-label="Breadcrumb" className="flex items-center gap-2 text-ink-faint">
        <Link href="/agents" className="rounded-sm hover:text-ink hover:underline">
          Agents
        </Link>
        <span aria-hidden>/</span>
      </nav>
      <h1 className="truncate text-lg font-semibold">{name}</h1>
      {version !== undefined && <span className="ml-2 text-xs text-ink-faint">version {version}</span>}
    </header>
  )
}

function ThreadChoice({ thread, onChange }: { readonly thread: string; readonly onChange: (thread: string) => void }) {
  return (
    <Labelled id="thread" label="Thread" isRequired hint="A new one, or the name of one that is there">
      {(props) => (
        <input
          {...props}
          value={thread}
          onChange={(event) => onChange(event.target.value)}
          maxLength={128}
          spellCheck={false}
          className={`${inputLook} max-w-80 font-mono text-xs`}
        />
      )}
    </Labelled>
  )
}
