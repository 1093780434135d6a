import { verdictText } from '../report.ts'
import type { PhaseReport } from './run-phase.ts'

export const tableHead = [
  '| phase | seen (wanted) | stores | acknowledged | violations | time (checker) | seed | commit |',
  '|---|---|---|---|---|---|---|---|',
  '',
].join('\n')

/** A phase as a line of the table of `docs/reliability.md`. */
export function phaseLine({ phase, tracks, seed, loadMs, checkMs, holds }: PhaseReport, commit: string): string {
  const verdicts = tracks.flatMap(({ verdict }) => verdict ?? [])
  const seen = phase.figures.map(({ what, wanted, had }) => `${said(had(verdicts))} ${what} (${said(wanted)})`)
  const acknowledged = verdicts.reduce((sum, { counts }) => sum + counts.acknowledged, 0)
  const violations = verdicts.reduce((sum, verdict) => sum + verdict.violations.length, 0)
  const stores = [...new Set(tracks.map(({ store }) => `\`${store}\``))].join(', ')
  const time = `${Math.round((loadMs + checkMs) / 1000)} s (${Math.round(checkMs / 1000)} s)`
  const cells = [phase.name, seen.join(', '), stores, said(acknowledged), `${violations}`, time, `${seed}`, commit]
  return `| ${cells.join(' | ')} |${holds ? '' : ' **missed**'}\n`
}

/** What each track saw, for whoever wants to look closer. */
export function trackText({ tracks }: PhaseReport): string {
  return tracks
    .map(({ store, history, verdict, error }) => {
      if (!verdict) return `${store} ${history}: ${String(error instanceof Error ? error.stack : error)}\n`
      return `${store} ${verdict.rounds} rounds\n${verdictText(verdict, history)}`
    })
    .join('')
}

function said(count: number): string {
  return count.toLocaleString('en-US')
}
