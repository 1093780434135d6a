// Runs the benchmarks one after the other, each in a process of its own, and prints one table at the end. Run with
// `npm run bench`, or `node bench/run.ts NAME…` for some of them. A missed target fails nothing: timing on a shared machine
// is no test.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { complain } from '../scripts/flags.ts'
import { type Figure, targetText, valueText, verdict } from './figures.ts'

const names = [
  'durable-events',
  'replay',
  'spawn-to-completed',
  'fan-out',
  'idle-heap',
  'restart',
  'disk-bytes',
  'flood',
  'growth',
  'server-streams',
  'server-replay',
  'server-accept',
  'server-latency',
  'server-memory',
  'ai-sdk',
  'postgres-events',
  'postgres-runs',
  'postgres-latency',
  'postgres-nodes',
  'postgres-takeover',
  'postgres-attach',
  'postgres-growth',
]

async function run(name: string): Promise<Figure[]> {
  const figures: Figure[] = []
  const child = fork(new URL(`./${name}.ts`, import.meta.url))
  child.on('message', (figure) => figures.push(figure as Figure))
  await once(child, 'exit')
  if (child.exitCode !== 0) throw new Error(`${name} failed`)
  return figures
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [figure.what, valueText(figure), targetText(figure), verdict(figure), figure.of])
  const all = [['what', 'measured', 'target', '', 'of'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !names.includes(name))
if (unknown.length > 0) complain(`There is no benchmark ${unknown.join(', ')}: use ${names.join(', ')}`)
const figures: Figure[] = []
for (const name of asked.length > 0 ? asked : names) figures.push(...(await run(name)))
console.log(`\n${table(figures)}`)
