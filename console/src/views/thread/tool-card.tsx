import type { Part } from 'holdfast/client'
import { Ban, ChevronRight, CircleCheck, CircleX, LoaderCircle, type LucideIcon, Wrench } from 'lucide-react'
import { memo } from 'react'
import { classes } from '../../design/classes.ts'
import { harmlessText } from '../../design/harmless-text.ts'
import { Json } from '../../design/json.tsx'

type Tool = Extract<Part, { type: 'tool' }>
type ToolStatus = 'running' | 'done' | 'failed' | 'cancelled'

const looks: Readonly<Record<ToolStatus, { readonly icon: LucideIcon; readonly ink: string }>> = {
  running: { icon: LoaderCircle, ink: 'text-run' },
  done: { icon: CircleCheck, ink: 'text-ok' },
  failed: { icon: CircleX, ink: 'text-bad' },
  cancelled: { icon: Ban, ink: 'text-warn' },
}

interface RunState {
  readonly isLive: boolean
  readonly isCancelled: boolean
}

interface ToolCardProps extends RunState {
  readonly part: Tool
}

/** A call of a tool in one line; what went in and came out is a click away. */
export const ToolCard = memo(function ToolCard({ part, ...run }: ToolCardProps) {
  const status = statusOf(part, run)
  const { icon: Icon, ink } = looks[status]
  return (
    <details data-tool={part.name} className="group rounded-md border border-line bg-panel break-words open:bg-panel">
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-md px-3 py-1.5 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <Wrench size={14} aria-hidden className="shrink-0 text-ink-faint" />
        <span className="min-w-0 truncate font-mono text-xs font-medium group-open:whitespace-normal">
          {harmlessText(part.name)}
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-faint">{oneLine(part.input)}</span>
        <span className={classes('inline-flex shrink-0 items-center gap-1 text-xs font-medium', ink)}>
          <Icon size={14} aria-hidden className={classes(status === 'running' && 'animate-spin')} />
          {status}
        </span>
        <ChevronRight size={14} aria-hidden className="shrink-0 text-ink-faint group-open:rotate-90" />
      </summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        <Labelled label="Input">
          <Json value={part.input} label="the input" />
        </Labelled>
        {part.error !== undefined && (
          <Labelled label="Error">
            <p className="rounded-md bg-bad-soft px-3 py-2 font-mono text-xs whitespace-pre-wrap text-bad">
              {harmlessText(part.error)}
            </p>
          </Labelled>
        )}
        {part.output !== undefined && (
          <Labelled label="Output">
            <Json value={part.output} label="the output" />
          </Labelled>
        )}
      </div>
    </details>
  )
})

function Labelled({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-ink-soft">{label}</p>
      {children}
    </div>
  )
}

// What is said for a tool that was cut off by the cancel of its run. Another has failed before.
const cutOff = /^The task (ended as|was) cancelled/

function statusOf({ output, error }: Tool, { isLive, isCancelled }: RunState): ToolStatus {
  if (error !== undefined) return isCancelled && cutOff.test(error) ? 'cancelled' : 'failed'
  return output === undefined && isLive ? 'running' : 'done'
}

const lineLengthMax = 160

/** The input as one would say it: the only value of an object, else its JSON. */
function oneLine(input: unknown): string {
  const values = typeof input === 'object' && input !== null && !Array.isArray(input) ? Object.values(input) : [input]
  const [only] = values
  const text = values.length === 1 && typeof only === 'string' ? only : (JSON.stringify(input) ?? '')
  return harmlessText(text.slice(0, lineLengthMax).replaceAll('\n', ' '))
}
