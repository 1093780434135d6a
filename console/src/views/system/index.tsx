import { ExternalLink } from 'lucide-react'
import type { ReactNode } from 'react'
import { ErrorState } from '../../design/error-state.tsx'
import { harmlessText } from '../../design/harmless-text.ts'
import { Loading } from '../../design/loading.tsx'
import { clockText } from '../../design/span-text.ts'
import { Status } from '../../design/status.tsx'
import { apiUrl } from '../../place.ts'
import { Page } from '../../shell/page.tsx'
import { endedOf, type Fact, factsOf, ratesOf } from './facts.ts'
import { limitText } from './limit-text.ts'
import type { Reading } from './read-system.ts'
import { ReadinessPanel } from './readiness-panel.tsx'
import { Sparkline } from './sparkline.tsx'
import { useReadings } from './use-readings.ts'

/** How the server is. */
export function SystemView() {
  const { readings, error, retry } = useReadings()
  const last = readings.at(-1)
  return (
    <Page title="System" actions={<Links />}>
      {last ? (
        <Figures readings={readings} last={last} isStale={error !== undefined} />
      ) : error !== undefined ? (
        <ErrorState error={error} what="system" onRetry={retry} />
      ) : (
        <Loading />
      )}
    </Page>
  )
}

interface FiguresProps {
  readonly readings: readonly Reading[]
  readonly last: Reading
  readonly isStale: boolean
}

function Figures({ readings, last, isStale }: FiguresProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
    <div tabIndex={0} className="scroller min-h-0 flex-1">
      <div className="mx-auto flex w-full max-w-6xl flex-col gap-8 p-4 md:p-6">
        {isStale && (
          <p role="status" className="rounded-md bg-warn-soft px-4 py-2 text-warn">
            The server does not answer. These figures are as of {clockText(last.at)}.
          </p>
        )}
        <ReadinessPanel readiness={last.readiness} isStale={isStale} />
        {last.samples ? (
          <>
            <Section title="Now">
              <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-3">
                {factsOf(readings).map((fact) => (
                  <FactTile key={fact.name} fact={fact}>
                    {fact.name === 'Events per second' && <Sparkline values={ratesOf(readings)} />}
                  </FactTile>
                ))}
              </dl>
            </Section>
            <Section title="Ended on this node">
              <ul className="flex flex-wrap gap-x-8 gap-y-2">
                {endedOf(last.samples).map(({ status, count }) => (
                  <li key={status} className="flex items-center gap-2">
                    <Status status={status} /> <span className="font-semibold">{count.toLocaleString('en')}</span>
                  </li>
                ))}
              </ul>
            </Section>
          </>
        ) : (
          <p className="text-ink-soft">This server keeps its metrics elsewhere.</p>
        )}
        <Section title="Limits">
          <LimitTable limits={last.limits} />
        </Section>
      </div>
    </div>
  )
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  )
}

function FactTile({ fact, children }: { readonly fact: Fact; readonly children: ReactNode }) {
  const { name, value, note, isBad = false } = fact
  return (
    <div data-fact={name} className="relative flex flex-col gap-1 bg-panel p-4">
      <dt className="text-ink-soft">{name}</dt>
      <dd className={`text-xl font-semibold ${isBad ? 'text-bad' : ''}`}>
        {value ?? <span className="text-md font-normal text-ink-faint">not told</span>}
      </dd>
      <dd className="text-xs text-ink-faint">{note}</dd>
      {children}
    </div>
  )
}

function LimitTable({ limits }: { readonly limits: Reading['limits'] }) {
  const rows = Object.entries(limits as unknown as Readonly<Record<string, number>>)
  return (
    <dl className="grid gap-x-10 sm:grid-cols-2 lg:grid-cols-3">
      {rows.map(([name, value]) => (
        <div key={name} className="flex justify-between gap-4 border-b border-line py-1.5">
          <dt className="min-w-0 truncate text-ink-soft">{harmlessText(name)}</dt>
          <dd className="shrink-0 font-medium">{limitText(name, value)}</dd>
        </div>
      ))}
    </dl>
  )
}

const links = [
  { title: 'Health', path: '/healthz' },
  { title: 'Metrics', path: '/metrics' },
  { title: 'OpenAPI', path: '/openapi.json' },
] as const

function Links() {
  return (
    <nav aria-label="For programs" className="flex flex-wrap gap-1">
      {links.map(({ title, path }) => (
        <a
          key={path}
          href={`${apiUrl}${path}`}
          target="_blank"
          rel="noreferrer"
          className="inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 font-medium text-ink-soft hover:bg-hover hover:text-ink"
        >
          {title} <ExternalLink size={12} aria-hidden />
        </a>
      ))}
    </nav>
  )
}
