// How much memory does a server take that only waits? Run with `node bench/server-memory.ts`.
//
// Resident memory of `holdfast serve` when nobody has asked it anything, at its second start, when the sources are in Node's
// compile cache; then heap in use after a garbage collection with 2,000 idle SSE subscribers, each on a thread of its own,
// socket, request and response included; then with 2,000 runs that wait in `ctx.receive`. Each against the same process before.
// The client is another process.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from './figures.ts'
import { newThread } from './server/cast.ts'
import { Child } from './server/child.ts'

const count = 2_000

/** Kilobytes in memory of a server that is ready. */
async function residentKilobytes(folder: string): Promise<number> {
  const bin = new URL('../bin/holdfast.js', import.meta.url).pathname
  const env = { ...process.env, HOLDFAST_TOKEN: 'bench', NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const args = [bin, 'serve', '--port', '0', '--store', `sqlite:${join(folder, 'holdfast.db')}`]
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(server.stdout, 'data')
  const resident = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)]).toString())
  server.kill()
  await once(server, 'exit')
  return resident
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
await residentKilobytes(folder)
const resident = await residentKilobytes(folder)
rmSync(folder, { recursive: true, force: true })
report({ what: 'idle server', value: (resident * 1024) / 1e6, unit: ' MB', atMost: 120, of: 'resident' })

const holdfast = new Child('./holdfast-process.ts')
const client = new Child('./client-process.ts')
const url = await holdfast.ask<string>('url')
const memory = () => holdfast.ask<NodeJS.MemoryUsage>('memory')

const watched = () => ({ url, path: `/v1/threads/${newThread()}/events` })
await client.ask('hold', { targets: [watched()] })
await client.ask('post', { url, path: '/v1/threads/first/runs', body: { agent: 'parked', prompt: 'go' } })
const before = await memory()
await client.ask('hold', { targets: Array.from({ length: count }, watched) })
const during = await memory()
const of = `each of ${count.toLocaleString('en')}`
report({
  what: 'heap of an idle SSE subscriber',
  value: (during.heapUsed - before.heapUsed) / count / 1000,
  unit: ' kB',
  atMost: 10,
  of,
})
await client.ask('release')

const park = (runs: number) => {
  const paths = Array.from({ length: runs }, () => `/v1/threads/${newThread()}/runs`)
  return client.ask('posts', { url, paths, body: { agent: 'parked', prompt: 'go' }, count: runs, inFlight: 32 })
}
// The first ones also pay for code that is compiled as it runs.
await park(count / 4)
const beforeRuns = await memory()
await park(count)
const after = await memory()
report({
  what: 'heap of a parked run',
  value: (after.heapUsed - beforeRuns.heapUsed) / count / 1000,
  unit: ' kB',
  atMost: 10,
  of,
})
await client.end()
await holdfast.end()
