/** One line of the table: what was measured, and what it was meant to be. Exactly one of the bounds is given. */
export interface Figure {
  readonly what: string
  readonly value: number
  /** Follows the value: ` ms`, ` kB`, or `×` for a ratio to a baseline. */
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
  /** What the value was made of, such as the two sides of a ratio. */
  readonly of: string
}

/** Prints a figure, and hands it to `run.ts` if that is what started this process. */
export function report(figure: Figure): void {
  console.log(line(figure))
  process.send?.(figure)
}

export function line(figure: Figure): string {
  const { what, of } = figure
  return `${verdict(figure).padEnd(8)} ${what}: ${valueText(figure)}, target ${targetText(figure)} (${of})`
}

export function valueText({ value, unit }: Figure): string {
  return `${value.toFixed(2)}${unit}`
}

export function targetText({ atLeast, atMost, unit }: Figure): string {
  return atLeast === undefined ? `≤ ${atMost}${unit}` : `≥ ${atLeast}${unit}`
}

export function verdict({ value, atLeast, atMost }: Figure): 'met' | 'not met' {
  const isMet = value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY)
  return isMet ? 'met' : 'not met'
}

/** A count per second, as people read it. */
export function perSecond(count: number, ms: number): string {
  return `${Math.round(count / (ms / 1000)).toLocaleString('en')}/s`
}
