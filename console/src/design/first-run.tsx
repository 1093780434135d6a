import { useAgents } from 'holdfast/react'
import { Copy } from 'lucide-react'
import { apiUrl } from '../place.ts'
import { Button } from './button.tsx'
import { copyAndSay } from './copy-menu.tsx'
import { shellWord } from './shell-word.ts'

/** The command that runs an agent of this server from a terminal, once it is known which agents there are. */
export function FirstRun({ flags }: { readonly flags: string }) {
  const { agents } = useAgents()
  // One with a schema may refuse a prompt.
  const agent = agents.find(({ inputSchema }) => inputSchema === undefined) ?? agents[0]
  if (!agent) return null
  const text = `holdfast --url ${shellWord(apiUrl)} run ${shellWord(agent.name)} "hello" ${flags}`
  return (
    <span className="flex max-w-full items-center gap-1 rounded-md bg-sunken py-1 pr-1 pl-3 text-left">
      <code className="min-w-0 font-mono text-xs break-words text-ink">{text}</code>
      <Button look="quiet" isIcon aria-label="Copy the command" onClick={() => void copyAndSay('command', text)}>
        <Copy size={14} aria-hidden />
      </Button>
    </span>
  )
}
