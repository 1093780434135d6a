import { useQuestions } from 'holdfast/react'
import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { Mark } from '../design/mark.tsx'
import { useHasManyLines } from '../live-lines.ts'
import { useLogin } from '../login/login-context.ts'
import { KeysHelp } from '../palette/keys-help.tsx'
import { Palette } from '../palette/palette.tsx'
import { useCommands } from './commands.ts'
import { ConnectionPill } from './connection-pill.tsx'
import { useKeyStrokes } from './key-strokes.ts'
import { NoticeList } from './notice-list.tsx'
import { Rail } from './rail.tsx'
import { setTheme } from './theme.ts'
import { ThemeSwitch } from './theme-switch.tsx'

type Opened = 'palette' | 'keys'

/** What stands around every view. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [at, go] = useLocation()
  const [opened, setOpened] = useState<Opened>()
  const { logOut } = useLogin()
  const hasManyLines = useHasManyLines()
  useKeyStrokes()
  useCommands([
    { id: 'go-tasks', title: 'Tasks', group: 'Go to', keys: 'g t', run: () => go('/tasks') },
    { id: 'go-threads', title: 'Threads', group: 'Go to', keys: 'g h', run: () => go('/threads') },
    { id: 'go-agents', title: 'Agents', group: 'Go to', keys: 'g a', run: () => go('/agents') },
    { id: 'go-system', title: 'System', group: 'Go to', keys: 'g s', run: () => go('/system') },
    { id: 'palette', title: 'Find a command', group: 'Console', keys: 'mod+k', run: () => setOpened('palette') },
    { id: 'keys', title: 'Show the keys', group: 'Console', keys: '?', run: () => setOpened('keys') },
    { id: 'theme-light', title: 'Light theme', group: 'Console', run: () => setTheme('light') },
    { id: 'theme-dark', title: 'Dark theme', group: 'Console', run: () => setTheme('dark') },
    { id: 'theme-auto', title: 'Theme of the system', group: 'Console', run: () => setTheme('auto') },
    { id: 'log-out', title: 'Log out', group: 'Console', run: logOut },
  ])
  // A dialog tells that it was closed a moment later, when another one may be open.
  const close = (closed: Opened) => setOpened((now) => (now === closed ? undefined : now))
  return (
    <div className="flex h-full flex-col md:flex-row">
      <button
        type="button"
        className="sr-only z-50 rounded-md bg-raised px-3 py-2 shadow-raised focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        onClick={() => document.getElementById('main')?.focus()}
      >
        Skip to the content
      </button>
      <Rail />
      <header className="flex h-11 shrink-0 items-center justify-between border-b border-line bg-panel pr-2 pl-4 md:hidden">
        <span className="flex items-center gap-2 font-semibold">
          <Mark /> Holdfast
        </span>
        <span className="flex items-center gap-1">
          <ConnectionPill isShort />
          <ThemeSwitch />
        </span>
      </header>
      <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        {children}
      </main>
      <Palette isOpen={opened === 'palette'} onClose={() => close('palette')} />
      <KeysHelp isOpen={opened === 'keys'} onClose={() => close('keys')} />
      <NoticeList />
      {/* A thread follows its own log, and where each log is a connection it is left to that. */}
      {(hasManyLines || !at.startsWith('/threads/')) && <Follower />}
    </div>
  )
}

/** Keeps the connection of the tab open, whatever the view follows, so that the pill knows whether the server is there. */
function Follower() {
  useQuestions()
  return null
}
