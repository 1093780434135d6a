import type { Task } from 'holdfast/client'
import { ChevronDown, Search } from 'lucide-react'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import { Chip } from '../../design/chip.tsx'
import { Menu } from '../../design/menu.tsx'
import { Status } from '../../design/status.tsx'
import { statuses, type TaskFilter } from './task-filter.ts'

interface FilterBarProps {
  readonly filter: TaskFilter
  readonly onChange: (change: Partial<TaskFilter>) => void
  /** What is listed; its agents and threads can be chosen from. */
  readonly tasks: readonly Task[]
  readonly inputRef: RefObject<HTMLInputElement | null>
  /** Somebody is done with typing. */
  readonly onLeave: () => void
}

// More than fit into a menu; who looks for another types its name.
const choicesMax = 12

export function FilterBar({ filter, onChange, tasks, inputRef, onLeave }: FilterBarProps) {
  const { statuses: asked, agent, thread, text, isDeep } = filter
  const agents = useChoices(tasks, 'agent')
  const threads = useChoices(tasks, 'thread')
  const toggle = (status: (typeof statuses)[number]) =>
    onChange({ statuses: asked.includes(status) ? asked.filter((other) => other !== status) : [...asked, status] })
  const chipsRef = useRef<HTMLDivElement>(null)
  // A page that is opened with a filter shows it, where not all of them have room.
  useEffect(() => {
    chipsRef.current?.querySelector('[data-on]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [])
  return (
    <search className="flex shrink-0 flex-col gap-2 border-b border-line px-4 py-2.5 md:px-6 min-[85rem]:flex-row min-[85rem]:items-center">
      <label className="flex h-8 min-w-0 items-center gap-2 rounded-md border border-line-strong bg-panel px-2.5 focus-within:outline-2 focus-within:outline-focus md:w-80 min-[85rem]:w-64">
        <Search size={14} aria-hidden className="shrink-0 text-ink-faint" />
        <input
          ref={inputRef}
          type="search"
          value={text}
          onChange={(event) => onChange({ text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.currentTarget.blur()
            onLeave()
          }}
          placeholder="Filter by text or id"
          aria-label="Filter by text or id"
          className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-ink-faint"
        />
      </label>
      <div ref={chipsRef} className="scroller -mx-4 flex items-center gap-1.5 px-4 py-0.5 md:mx-0 md:flex-wrap md:px-0">
        {statuses.map((status) => (
          <Chip key={status} isOn={asked.includes(status)} onClick={() => toggle(status)}>
            <Status status={status} isStill />
          </Chip>
        ))}
        <span aria-hidden className="mx-1 h-4 w-px shrink-0 bg-line md:max-xl:hidden" />
        <Choice name="Agent" value={agent} choices={agents} onChange={(value) => onChange({ agent: value })} />
        <Choice name="Thread" value={thread} choices={threads} onChange={(value) => onChange({ thread: value })} />
        <Chip isOn={isDeep} onClick={() => onChange({ isDeep: !isDeep })}>
          With children
        </Chip>
      </div>
    </search>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string | undefined
  readonly choices: readonly string[]
  readonly onChange: (value: string | undefined) => void
}

function Choice({ name, value, choices, onChange }: ChoiceProps) {
  if (value !== undefined) {
    return (
      <Chip isOn label={`${name.toLowerCase()} ${value}`} onRemove={() => onChange(undefined)}>
        <span className="text-ink-soft">{name}</span>
        <span className="max-w-40 truncate">{value}</span>
      </Chip>
    )
  }
  return (
    <Menu
      label={name}
      trigger={
        <button
          type="button"
          disabled={choices.length === 0}
          className="inline-flex h-7 items-center gap-1 rounded-full border border-line bg-panel px-3 text-xs font-medium text-ink-soft hover:border-line-strong hover:text-ink disabled:opacity-55"
        >
          {name} <ChevronDown size={12} aria-hidden />
        </button>
      }
      items={choices.map((choice) => ({ title: choice, onSelect: () => onChange(choice) }))}
    />
  )
}

function useChoices(tasks: readonly Task[], field: 'agent' | 'thread'): readonly string[] {
  return useMemo(() => {
    const values = new Set<string>()
    for (const task of tasks) {
      const value = task[field]
      if (value !== undefined) values.add(value)
      if (values.size === choicesMax) break
    }
    return [...values].toSorted()
  }, [tasks, field])
}
