// How does Holdfast stand beside what people use today? Run with `npm run bench:peers`, after `npm ci` in this folder.
//
// Every peer is a server process of its own, and this one is the client of all of them. In each round every peer is visited once, alone:
// its server is started fresh, all rows are measured, and it is ended before the next comes. A figure is the median over the rounds. A peer
// that can not be installed or started is said so in a line; a row that fails is a dash with the reason. Nothing is asserted.
//
//   --only PEER,…   some of the peers       --rows ROW,…   some of the rows       --quick   one short round

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { complain } from '../../scripts/flags.ts'
import { median } from '../rounds.ts'
import { Databases } from './backing.ts'
import { holdfast } from './client/ports.ts'
import { Stream } from './client/wire.ts'
import { readFlags } from './flags.ts'
import { type Peer, type PeerName, peers } from './peers.ts'
import { measures } from './rows.ts'
import { Standing, within } from './standing.ts'
import { type Cell, type Line, type RowName, rowNames, tableText } from './table.ts'

const { only, rows, isQuick } = flagsOrComplaint()
const roundCount = isQuick ? 1 : 3
const startLimitMs = 60_000
const rowLimitMs = isQuick ? 15_000 : 60_000
// The whole takes no longer than a quarter of an hour, or three minutes: what there is no time for is left out, and said to be.
const budgetMs = isQuick ? 160_000 : 14 * 60_000
const frameCount = 10_000
const startedAt = performance.now()
const leftMs = () => budgetMs - (performance.now() - startedAt)

const databases = new Databases()
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-peers-'))
const framesFile = join(scratch, 'frames')
const figures = new Map<PeerName, Map<RowName, number[]>>()
const failures = new Map<string, string>()

function flagsOrComplaint() {
  try {
    const names = peers.map(({ name }) => name)
    return readFlags(process.argv.slice(2), names, rowNames)
  } catch (error) {
    return complain(messageOf(error))
  }
}

/** Measures the rows of one peer, one after the other, and tells which of them could not be; the server is done for then. */
async function measureRows(peer: Peer & { name: PeerName }, wanted: readonly RowName[]): Promise<RowName | undefined> {
  const standing = await Standing.start(peer, databases)
  const { child, signal } = standing
  try {
    const url = await within(startLimitMs, 'starting', child.ask<string>('url'))
    if (peer.isLimit) await child.ask('load', { file: framesFile })
    const port = await peer.port(url, child)
    for (const row of wanted) {
      try {
        if (leftMs() <= 0) return undefined
        const value = await within(Math.min(rowLimitMs, leftMs()), row, measures[row]({ port, child, isQuick, signal }))
        figuresOf(peer.name, row).push(value)
      } catch (error) {
        failures.set(`${peer.name} ${row}`, messageOf(error))
        return row
      }
    }
    return undefined
  } finally {
    await standing.end()
  }
}

function figuresOf(name: PeerName, row: RowName): number[] {
  const ofPeer = figures.get(name) ?? new Map<RowName, number[]>()
  figures.set(name, ofPeer)
  const values = ofPeer.get(row) ?? []
  ofPeer.set(row, values)
  return values
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n')[0]?.slice(0, 200) ?? ''
}

/** One visit to a peer. A row that fails costs the server that it failed on; the rows after it are measured on a new one. */
async function visit(peer: Peer & { name: PeerName }): Promise<void> {
  let wanted = rows.filter((row) => !peer.lacks?.[row] && !failures.has(`${peer.name} ${row}`))
  while (wanted.length > 0 && leftMs() > 0) {
    const failed = await measureRows(peer, wanted)
    if (!failed) return
    wanted = wanted.slice(wanted.indexOf(failed) + 1)
  }
}

const folderOf = (needs: string) => new URL(`./node_modules/${needs}/`, import.meta.url)

function versionOf({ needs }: Peer): string {
  if (needs === undefined) return ''
  const { version } = JSON.parse(readFileSync(new URL('package.json', folderOf(needs)), 'utf8')) as { version: string }
  return ` ${version}`
}

/** The frames of a run, as Holdfast sends them: what the bare servers send. */
async function recordFrames(): Promise<void> {
  const standing = await Standing.start(peers[0], databases)
  const port = await holdfast(await standing.child.ask<string>('url'), standing.child)
  const { accept, watch, lastMark } = port
  const run = await accept('recorded', { kind: 'emit', count: frameCount })
  const chunks: Buffer[] = []
  const stream = new Stream(watch(run), '"type":"task.completed"')
  stream.tap((chunk) => chunks.push(chunk))
  await stream.done
  stream.close()
  await standing.end()
  const text = Buffer.concat(chunks).toString()
  if (!text.includes(lastMark)) throw new Error('the recorded run has no last event')
  const frames = text.match(/id: \d+\ndata: [^\n]*\n\n/g) ?? []
  writeFileSync(framesFile, frames.join(''))
}

function lineOf(peer: Peer & { name: PeerName }): Line {
  const cells: Partial<Record<RowName, Cell>> = {}
  for (const row of rows) {
    const values = figures.get(peer.name)?.get(row) ?? []
    const reason = peer.lacks?.[row] ?? failures.get(`${peer.name} ${row}`) ?? 'there was no time left for it'
    cells[row] = values.length > 0 ? { value: median(values) } : { reason }
  }
  const { keeps, isLimit = false } = peer
  return { title: `${peer.title}${versionOf(peer)}`, keeps, isLimit, cells }
}

const chosen = peers.filter(({ name }) => only.includes(name)) as readonly (Peer & { name: PeerName })[]
const inOrder = [...chosen.filter(({ isSlow }) => !isSlow), ...chosen.filter(({ isSlow }) => isSlow)]
const absent = chosen.filter(({ needs }) => needs !== undefined && !existsSync(folderOf(needs)))
const unavailable = new Map(
  absent.map(({ name, needs }) => [name, `${needs} is not installed: run npm ci in bench/peers`]),
)
try {
  if (chosen.some(({ isLimit }) => isLimit)) await recordFrames()
  for (let round = 1; round <= roundCount; round++) {
    for (const peer of inOrder) {
      if (unavailable.has(peer.name)) continue
      const since = performance.now()
      await visit(peer).catch((error: unknown) => unavailable.set(peer.name, messageOf(error)))
      console.error(
        `round ${round} of ${roundCount}: ${peer.name}, ${((performance.now() - since) / 1000).toFixed(0)} s`,
      )
    }
  }
} finally {
  await databases.stop()
  rmSync(scratch, { recursive: true, force: true })
}
const lines = chosen.filter(({ name }) => !unavailable.has(name)).map(lineOf)
console.log(
  `\nNode ${process.version}, ${availableParallelism()} cores, ${roundCount} round(s), ${Math.round((performance.now() - startedAt) / 1000)} s.`,
)
console.log('In brackets: how many times better than Holdfast on SQLite; without it, than the best peer.\n')
console.log(tableText(lines, rows, ({ title }) => title === peers[0].title))
for (const [name, reason] of unavailable) console.log(`- ${name} could not be measured: ${reason}`)
