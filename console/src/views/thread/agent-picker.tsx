import { ChevronDown } from 'lucide-react'

interface AgentPickerProps {
  readonly agents: readonly string[]
  readonly value: string
  readonly onChange: (agent: string) => void
}

/** The control of the platform: it works by keys and on a phone, and there are never many agents. */
export function AgentPicker({ agents, value, onChange }: AgentPickerProps) {
  return (
    <span className="relative inline-flex items-center">
      <select
        aria-label="Agent"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 max-w-44 appearance-none truncate rounded-md bg-transparent pr-7 pl-2 font-medium text-ink-soft hover:bg-hover hover:text-ink"
      >
        {value === '' && <option value="">No agent</option>}
        {agents.map((agent) => (
          <option key={agent} value={agent}>
            {agent}
          </option>
        ))}
      </select>
      <ChevronDown size={14} aria-hidden className="pointer-events-none absolute right-2 text-ink-faint" />
    </span>
  )
}
