// The crash tests of a served process at length: `npm run crash:server -- --cycles 1000 --seed 42`.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { servedCycles } from './cycles.ts'

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '100' }, seed: { type: 'string' } },
})

const cycles = wholeNumber('cycles', values.cycles)
const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber('seed', values.seed)
console.log(`seed ${seed}, ${cycles} cycles of kill -9 of a server under load on SQLite`)
const { counts, violations, durationMs } = await servedCycles(cycles, seed, (cycle) => {
  if (cycle % 20 === 0) console.log(`${cycle} cycles`)
})
const seconds = Math.round(durationMs / 1000)
console.log(
  `seed ${seed}, ${cycles} cycles, ${seconds} s, ${counts.acknowledged} acknowledged operations, ` +
    `${counts.resumeCuts} resume cuts, ${counts.cancelled} cancels`,
)
console.log(counts)
console.log(`${violations.length} violations`)
for (const violation of violations) console.log(`- ${violation}`)
// No loss out of no operations says nothing.
if (violations.length > 0 || counts.acknowledged === 0) process.exitCode = 1

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  console.error(`--${name} is a whole number from 1 on, not ${text}`)
  process.exit(1)
}
