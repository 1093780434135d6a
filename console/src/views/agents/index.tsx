import type { AgentLine } from 'holdfast/client'
import { useAgents } from 'holdfast/react'
import { Bot, ChevronRight } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../design/empty.tsx'
import { ErrorState } from '../../design/error-state.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { Loading } from '../../design/loading.tsx'
import { NotFound } from '../../design/not-found.tsx'
import { agentPath } from '../../place.ts'
import { Page } from '../../shell/page.tsx'
import { AgentPage } from './agent-page.tsx'
import { fieldOf } from './field.ts'

/** The agents of the server, or one of them. */
export function AgentsView({ name }: { readonly name?: string }) {
  const { agents, isLoading, error, retry } = useAgents()
  const found = agents.find((agent) => agent.name === name)
  if (found) return <AgentPage key={found.name} agent={found} />
  return (
    <Page title={name ?? 'Agents'}>
      {error && agents.length === 0 ? (
        <ErrorState error={error} what="list of agents" onRetry={retry} />
      ) : isLoading ? (
        <Loading rows={4} />
      ) : name === undefined ? (
        <AgentList agents={agents} />
      ) : (
        <NotFound what="agent" />
      )}
    </Page>
  )
}

function AgentList({ agents }: { readonly agents: readonly AgentLine[] }) {
  if (agents.length === 0) {
    return (
      <Empty icon={Bot} title="This server has no agents">
        <p>An agent is a function of your program. Register one, and it is shown here with a form for its input:</p>
        <code className="rounded-sm bg-sunken px-2 py-1 font-mono text-xs text-ink">
          createRuntime({'{'} agents: {'{'} helper {'}'} {'}'})
        </code>
      </Empty>
    )
  }
  return (
    <div className="scroller min-h-0 flex-1">
      <ul
        aria-label="Agents"
        className="grid gap-3 p-4 md:grid-cols-[repeat(auto-fill,minmax(20rem,1fr))] md:gap-4 md:p-6"
      >
        {agents.map((agent) => (
          <li key={agent.name}>
            <AgentCard agent={agent} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function AgentCard({ agent: { name, description, version, inputSchema, concurrency } }: { readonly agent: AgentLine }) {
  return (
    <Link
      href={agentPath(name)}
      className="group flex h-full flex-col gap-2 rounded-lg border border-line bg-panel p-4 hover:border-line-strong"
    >
      <span className="flex items-center gap-2.5">
        <span className="grid size-8 shrink-0 place-items-center rounded-md bg-selected text-accent">
          <Bot size={16} aria-hidden />
        </span>
        <span className="min-w-0 flex-1 truncate text-md font-semibold">{name}</span>
        <ChevronRight size={16} aria-hidden className="shrink-0 text-ink-faint group-hover:text-ink" />
      </span>
      <span className="flex-1 text-ink-soft">{harmlessText(description ?? 'It does not say what it does.')}</span>
      <span className="flex gap-3 text-xs text-ink-faint">
        <span>{takes(inputSchema)}</span>
        {version !== undefined && <span>version {version}</span>}
        {concurrency !== undefined && <span>at most {concurrency} at once</span>}
      </span>
    </Link>
  )
}

function takes(schema: object | undefined): string {
  const field = schema && fieldOf(schema)
  if (field?.kind !== 'group') return field ? 'takes an input' : 'takes a prompt'
  const names = field.members.map(({ name }) => name)
  return `takes ${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''}`
}
