import { Command as Cmdk, defaultFilter } from 'cmdk'
import { useAgents, useTasks, useThreads } from 'holdfast/react'
import { Bot, CornerDownLeft, ListTree, MessagesSquare, Search } from 'lucide-react'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { useLocation } from 'wouter'
import { harmlessText } from '../design/harmless-text.ts'
import { ShortId } from '../design/short-id.tsx'
import { Status, shownStatus } from '../design/status.tsx'
import { agentPath, taskPath, threadPath } from '../place.ts'
import { type CommandGroup, useCommandList } from '../shell/commands.ts'
import { Keys } from './keys.tsx'
import { isThreadId } from './thread-id.ts'

const recentCount = 6
const isTaskId = /^bg_\S+$/

const groupLook =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-faint'

export function PaletteList({ onClose }: { readonly onClose: () => void }) {
  const [, go] = useLocation()
  const [query, setQuery] = useState('')
  const act = (run: () => void) => {
    onClose()
    run()
  }
  return (
    <Cmdk label="Commands" loop filter={score}>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search size={16} aria-hidden className="shrink-0 text-ink-faint" />
        <Cmdk.Input
          value={query}
          onValueChange={setQuery}
          placeholder="Find a command, an agent, a task or a thread"
          className="h-12 min-w-0 flex-1 bg-transparent text-md outline-none placeholder:text-ink-faint"
        />
      </div>
      <Cmdk.List className="scroller max-h-[min(60vh,26rem)] p-1.5 pt-0">
        <Cmdk.Empty className="px-3 py-6 text-center text-ink-soft">Nothing has that name</Cmdk.Empty>
        {/* What can be done with what is on the screen comes first, what is always there last. */}
        <Sought.Provider value={query.trim()}>
          <Commands groups={['Task', 'Thread', 'List', 'Go to']} act={act} />
          <Recent onGo={(path) => act(() => go(path))} />
          <Agents onGo={(path) => act(() => go(path))} />
          <Commands groups={['Console']} act={act} />
          <ByName onGo={(path) => act(() => go(path))} />
        </Sought.Provider>
      </Cmdk.List>
    </Cmdk>
  )
}

/** What was typed. */
const Sought = createContext('')

/** A stretch of the list with its heading. What is sought is one list, with what is meant most likely at its head. */
function Group({ heading, children }: { readonly heading: string; readonly children: ReactNode }) {
  if (useContext(Sought) !== '') return children
  return (
    <Cmdk.Group heading={heading} className={groupLook}>
      {children}
    </Cmdk.Group>
  )
}

const byTaskId = 'by task id'
const byThreadId = 'by thread id'

/**
 * An id of a task is hardly meant as anything else; that a text may also be the name of a thread is said last. By its name
 * something is more likely meant than by the other words it is found by, and by both together it is not.
 */
function score(value: string, search: string, keywords?: string[]): number {
  if (value.startsWith(byTaskId)) return 1
  if (value.startsWith(byThreadId)) return Number.MIN_VALUE
  return Math.max(defaultFilter(value, search), defaultFilter('', search, keywords) / 2)
}

interface CommandsProps {
  readonly groups: readonly CommandGroup[]
  readonly act: (run: () => void) => void
}

// Who opens the palette does not mean to go one row further by it; who types that finds it.
const movements = ['j', 'k', 'Enter']

function Commands({ groups, act }: CommandsProps) {
  const isSought = useContext(Sought) !== ''
  const commands = useCommandList().filter(
    ({ id, keys = '' }) => id !== 'palette' && (isSought || !movements.includes(keys)),
  )
  return groups.map((group) => {
    const found = commands.filter((command) => command.group === group)
    if (found.length === 0) return null
    return (
      <Group key={group} heading={group}>
        {found.map(({ id, title, keys, words, run }) => (
          <Item key={id} value={`${title} ${id}`} words={`${group} ${words ?? ''}`} onSelect={() => act(run)}>
            <span className="min-w-0 flex-1 truncate">{title}</span>
            {keys !== undefined && <Keys keys={keys} />}
          </Item>
        ))}
      </Group>
    )
  })
}

interface Going {
  readonly onGo: (path: string) => void
}

/** What was typed may be the id of something that is in no list. */
function ByName({ onGo }: Going) {
  const query = useContext(Sought)
  if (!isThreadId.test(query)) return null
  return (
    <Group heading="By id">
      {isTaskId.test(query) && (
        <Item value={`${byTaskId} ${query}`} onSelect={() => onGo(taskPath(query))}>
          <CornerDownLeft size={14} aria-hidden className="text-ink-faint" /> Open the task {query}
        </Item>
      )}
      <Item value={`${byThreadId} ${query}`} onSelect={() => onGo(threadPath(query))}>
        <CornerDownLeft size={14} aria-hidden className="text-ink-faint" /> Open the thread {query}
      </Item>
    </Group>
  )
}

function Recent({ onGo }: Going) {
  const { tasks } = useTasks({ roots: true })
  const { threads } = useThreads()
  return (
    <>
      <Group heading="Recent threads">
        {threads.slice(0, recentCount).map(({ thread }) => (
          <Item key={thread} value={`${thread} recent thread`} onSelect={() => onGo(threadPath(thread))}>
            <MessagesSquare size={14} aria-hidden className="text-ink-faint" />
            <span className="min-w-0 truncate">{thread}</span>
          </Item>
        ))}
      </Group>
      <Group heading="Recent tasks">
        {tasks.slice(0, recentCount).map((task) => (
          <Item
            key={task.id}
            value={`${task.description} ${task.id} recent task`}
            onSelect={() => onGo(taskPath(task.id))}
          >
            <ListTree size={14} aria-hidden className="shrink-0 text-ink-faint" />
            <span className="min-w-0 flex-1 truncate">{harmlessText(task.description)}</span>
            <span className="text-xs">
              <Status status={shownStatus(task)} />
            </span>
            <ShortId id={task.id} />
          </Item>
        ))}
      </Group>
    </>
  )
}

/** All of them are found by their names; a few are shown to who has typed nothing. */
function Agents({ onGo }: Going) {
  const isSought = useContext(Sought) !== ''
  const { agents } = useAgents()
  if (agents.length === 0) return null
  return (
    <Group heading="Agents">
      {agents.slice(0, isSought ? undefined : recentCount).map(({ name }) => (
        <Item key={name} value={`${name} agent`} words="run" onSelect={() => onGo(agentPath(name))}>
          <Bot size={14} aria-hidden className="shrink-0 text-ink-faint" />
          <span className="min-w-0 truncate">{name}</span>
        </Item>
      ))}
    </Group>
  )
}

interface ItemProps {
  readonly value: string
  readonly words?: string | undefined
  readonly onSelect: () => void
  readonly children: ReactNode
}

function Item({ value, words, onSelect, children }: ItemProps) {
  return (
    <Cmdk.Item
      value={value}
      {...(words !== undefined && { keywords: [words] })}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-3 py-1.5 data-[selected=true]:bg-selected"
    >
      {children}
    </Cmdk.Item>
  )
}
