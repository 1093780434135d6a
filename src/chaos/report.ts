import type { ChaosReport } from './chaos.ts'
import type { Violation } from './check/violation.ts'

// So many violations are shown, and so many lines of each: the smallest tells most.
const violationsMax = 10
const linesMax = 8
const lineLengthMax = 400

/** A report as people read it. */
export function reportText(report: ChaosReport): string {
  const { seed, store, durationMs, rounds, counts, faults, violations, history, holds } = report
  const injected = Object.entries(faults).map(([kind, count]) => `${count} ${kind}`)
  const lines = [
    `seed ${seed}, store ${store}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${Math.round(durationMs / 1000)} s`,
    `${counts.acknowledged} acknowledged operations: ${said(counts)}`,
    `faults: ${injected.join(', ') || 'none'}`,
    `history: ${history}`,
    ...violations.slice(0, violationsMax).flatMap(violationLines),
    ...(violations.length > violationsMax ? [`and ${violations.length - violationsMax} more`] : []),
    `${violations.length} violations`,
    holds
      ? 'It holds.'
      : violations.length > 0
        ? 'It does not hold.'
        : 'Nothing was acknowledged, so nothing is shown.',
  ]
  return `${lines.join('\n')}\n`
}

function said({ acknowledged: _, ...counts }: ChaosReport['counts']): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function violationLines({ promise, what, witness }: Violation): string[] {
  const shown = witness.slice(0, linesMax).map((line) => `    ${line.slice(0, lineLengthMax)}`)
  return [`- ${promise}: ${what.slice(0, lineLengthMax)}`, ...shown]
}
