// The crash tests at length: `npm run crash -- --cycles 1000 --seed 42`.
import { randomInt } from 'node:crypto'
import { complain, readFlags } from '../../scripts/flags.ts'
import { type CyclesReport, killCycles } from './cycles.ts'

const values = readFlags({ cycles: { type: 'string', default: '100' }, seed: { type: 'string' } })

const cycles = wholeNumber('cycles', values.cycles)
const seed = values.seed === undefined ? randomInt(2 ** 31) : wholeNumber('seed', values.seed)
console.log(`seed ${seed}, ${cycles} cycles of kill -9 under load on SQLite`)
const report = await killCycles(cycles, seed, tell)
print(report)
// No loss out of no operations says nothing.
if (report.violations.length > 0 || report.counts.acknowledged === 0) process.exitCode = 1

function tell(cycle: number): void {
  if (cycle % 50 === 0) console.log(`${cycle} cycles`)
}

function print({ counts, violations, durationMs }: CyclesReport): void {
  console.log(
    `seed ${seed}, ${cycles} cycles, ${Math.round(durationMs / 1000)} s, ${counts.acknowledged} acknowledged operations`,
  )
  console.log(counts)
  console.log(`${violations.length} violations`)
  for (const violation of violations) console.log(`- ${violation}`)
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  return complain(`--${name} is a whole number from 1 on, not ${text}`)
}
