import { useEffect } from 'react'
import { currentCommands } from './commands.ts'

// Long enough to find the second key, short enough that a stray first one is forgotten.
const pairMs = 1200

interface Pressed {
  readonly key: string
  readonly at: number
}

/** Gives the commands whose keys are pressed. What is typed into a field, or in an open dialog, is not a command. */
export function useKeyStrokes(): void {
  useEffect(() => {
    let before: Pressed | undefined
    const listen = (event: KeyboardEvent) => {
      const key = strokeOf(event)
      if (key === undefined || event.defaultPrevented) return
      const isPlain = !key.startsWith('mod+')
      if (isPlain && (isTyping(event.target) || document.querySelector('dialog[open]'))) return
      // Without a first key there is no pair, and a command without keys must not be taken for one.
      const pair = before && event.timeStamp - before.at < pairMs ? `${before.key} ${key}` : ''
      const commands = currentCommands()
      const command = commands.find(({ keys }) => keys === pair) ?? commands.find(({ keys }) => keys === key)
      before = command ? undefined : { key, at: event.timeStamp }
      if (!command || (key === 'Enter' && isControl(event.target))) return
      event.preventDefault()
      command.run()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function strokeOf(event: KeyboardEvent): string | undefined {
  if (event.isComposing || event.altKey) return undefined
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`
  return event.key
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  // A dialog that was closed keeps the focus for a moment, though nobody sees it.
  if (target.closest('dialog:not([open])')) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type)
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}

/** What Enter does by itself is left to it. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('a, button, summary, [role="menuitem"], [role="tab"]') !== null
}
