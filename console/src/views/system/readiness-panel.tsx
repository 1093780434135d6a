import { CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import type { ReactNode } from 'react'
import { version } from '../../../../package.json'
import { harmlessText } from '../../design/harmless-text.ts'
import type { Readiness } from './read-system.ts'

interface ReadinessPanelProps {
  readonly readiness: Readiness
  /** It was so when it was heard last; how it is now nobody knows. */
  readonly isStale: boolean
}

const looks = {
  ready: { icon: CircleCheck, ink: 'text-ok', text: 'Ready' },
  unready: { icon: CircleX, ink: 'text-bad', text: 'Not ready' },
  unheard: { icon: CircleHelp, ink: 'text-ink-faint', text: 'No answer' },
} as const

/** Whether it takes work, what it is and where it keeps things. */
export function ReadinessPanel({ readiness, isStale }: ReadinessPanelProps) {
  const { isReady, store, isDurable, node, notice } = readiness
  const { icon: Icon, ink, text } = looks[isStale ? 'unheard' : isReady ? 'ready' : 'unready']
  return (
    <section
      aria-label="Readiness"
      data-ready={isReady && !isStale}
      className="flex flex-col gap-4 rounded-lg border border-line bg-panel p-4 md:flex-row md:items-center md:gap-8 md:p-5"
    >
      <p className={`flex items-center gap-2.5 text-lg font-semibold ${ink}`}>
        <Icon size={22} aria-hidden /> {text}
      </p>
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <Item name="Version">{version}</Item>
        <Item name="Store">{store ?? 'not told'}</Item>
        <Item name="Kept">{isDurable === undefined ? 'not told' : isDurable ? 'on disk' : 'until it stops'}</Item>
        <Item name="Node">
          <span className="font-mono text-xs">{node ?? 'not told'}</span>
        </Item>
      </dl>
      {notice !== undefined && <p className="text-warn md:ml-auto md:max-w-sm">{harmlessText(notice)}</p>}
    </section>
  )
}

function Item({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="font-medium break-all">{children}</dd>
    </div>
  )
}
