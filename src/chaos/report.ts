import type { ChaosReport } from './chaos.ts'
import type { Counts, Verdict } from './check/check-case.ts'
import type { Violation } from './check/violation.ts'

// So many violations are shown, and so many lines of each: the smallest tells most.
const violationsMax = 10
const linesMax = 8
const lineLengthMax = 400

/** A report as people read it. */
export function reportText(report: ChaosReport): string {
  const { seed, store, durationMs, rounds, history } = report
  const lasted = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${Math.round(durationMs / 1000)} s`
  return `seed ${seed}, store ${store}, ${lasted}\n${verdictText(report, history)}`
}

/** What a history shows, without how it was made. */
export function verdictText(verdict: Verdict, history: string): string {
  const { counts, faults, violations } = verdict
  const injected = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`)
  const lines = [
    `${counts.acknowledged} acknowledged operations: ${said(counts)}`,
    `faults: ${injected.join(', ') || 'none'}`,
    `history: ${history}`,
    ...violations.slice(0, violationsMax).flatMap(violationLines),
    ...(violations.length > violationsMax ? [`and ${violations.length - violationsMax} more`] : []),
    `${violations.length} violations`,
    conclusionOf(verdict),
  ]
  return `${lines.join('\n')}\n`
}

function conclusionOf({ holds, violations, missing }: Verdict): string {
  if (holds) return 'It holds.'
  if (violations.length > 0) return 'It does not hold.'
  if (missing.length > 0) return `It came to a standstill, and what was asked for is missing: ${missing.join(', ')}.`
  return 'Nothing was acknowledged, so nothing is shown.'
}

function said({ acknowledged: _, ...counts }: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function violationLines({ promise, what, witness }: Violation): string[] {
  const shown = witness.slice(0, linesMax).map((line) => `    ${line.slice(0, lineLengthMax)}`)
  return [`- ${promise}: ${what.slice(0, lineLengthMax)}`, ...shown]
}
