import type { RefObject } from 'react'
import { useLocation } from 'wouter'
import { copyAndSay } from '../../design/copy-menu.tsx'
import { type Command, useCommands } from '../../shell/commands.ts'

interface Parts {
  readonly scrollRef: RefObject<HTMLDivElement | null>
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  /** Absent while nothing runs. */
  readonly stop?: () => void
}

/** What can be done in a thread without a mouse. */
export function useThreadCommands({ scrollRef, inputRef, stop }: Parts): void {
  const [, go] = useLocation()
  const group = 'Thread'
  const step = (by: 1 | -1) => focusEntry(scrollRef.current, by)
  const toEnd = () => scrollRef.current?.scrollTo({ top: scrollRef.current.scrollHeight })
  const commands: Command[] = [
    { id: 'thread-write', title: 'Write a message', group, keys: 'm', run: () => inputRef.current?.focus() },
    { id: 'thread-next', title: 'Next message', group, keys: 'j', run: () => step(1) },
    { id: 'thread-previous', title: 'Previous message', group, keys: 'k', run: () => step(-1) },
    { id: 'thread-end', title: 'Follow the end', group, keys: 'f', run: toEnd },
    { id: 'thread-up', title: 'All threads', group, keys: 'u', run: () => go('/threads') },
    {
      id: 'thread-link',
      title: 'Copy the link of this thread',
      group,
      keys: 'y',
      run: () => void copyAndSay('the link', location.href),
    },
  ]
  if (stop) {
    commands.push({
      id: 'thread-stop',
      title: 'Stop the run',
      words: 'cancel',
      group,
      keys: 'c',
      run: stop,
    })
  }
  useCommands(commands)
}

function focusEntry(scroller: HTMLElement | null, by: 1 | -1): void {
  const entries = [...(scroller?.querySelectorAll<HTMLElement>('[data-entry]') ?? [])]
  const at = entries.findIndex((entry) => entry.contains(document.activeElement))
  // From nowhere one comes to the newest.
  const next = at === -1 ? entries.length - 1 : Math.min(Math.max(at + by, 0), entries.length - 1)
  entries[next]?.focus()
}
