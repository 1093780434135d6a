import { useEffect, useRef, useSyncExternalStore } from 'react'

/**
 * Everything that can be done by a key or from the palette, registered by the view that does it for as long as it is on the
 * screen. `keys` is what is pressed: one key (`j`, `/`, `Enter`), two in a row (`g t`), or with Ctrl or Cmd (`mod+k`).
 */
export interface Command {
  readonly id: string
  readonly title: string
  /** Under which heading it is listed. */
  readonly group: CommandGroup
  readonly keys?: string
  readonly run: () => void
  /** Words by which the palette finds it too. */
  readonly words?: string
}

export const commandGroups = ['Go to', 'List', 'Task', 'Thread', 'Console'] as const

export type CommandGroup = (typeof commandGroups)[number]

type Source = () => readonly Command[]

const sources = new Set<Source>()
const listeners = new Set<() => void>()
let list: readonly Command[] | undefined

function changed(): void {
  list = undefined
  for (const listener of listeners) listener()
}

/** What was registered last comes first: of two commands with the same keys or id, that of the innermost view counts. */
export function currentCommands(): readonly Command[] {
  if (list) return list
  const all = [...sources].reverse().flatMap((source) => source())
  const ids = new Set<string>()
  list = all.filter(({ id }) => !ids.has(id) && ids.add(id))
  return list
}

/** Registers commands while the component is mounted. What they do is always that of the last render. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  const shown = commands.map(({ id, title, keys = '' }) => `${id}\t${title}\t${keys}`).join('\n')
  useEffect(() => {
    latest.current = commands
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read anew when what it shows has changed.
  useEffect(() => {
    const source: Source = () =>
      latest.current.map((command) => ({
        ...command,
        run: () => latest.current.find(({ id }) => id === command.id)?.run(),
      }))
    sources.add(source)
    changed()
    return () => {
      sources.delete(source)
      changed()
    }
  }, [shown])
}

/** All commands that can be given now, for the palette and the list of keys. */
export function useCommandList(): readonly Command[] {
  return useSyncExternalStore(subscribe, currentCommands)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
