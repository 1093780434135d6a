import { randomInt } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import type { Attacker } from '../../../src/chaos/hostile/attack.ts'
import { type AttackName, attacks } from '../../../src/chaos/hostile/attacks.ts'
import { harmOf, launch } from '../../../src/chaos/hostile/launch.ts'
import { residentBytes } from '../../../src/chaos/nodes/resident-memory.ts'
import { SeededRandom } from '../../../src/chaos/seeded-random.ts'
import { connect, isEndOf, transports } from '../harness/client.ts'
import { scriptRun } from '../harness/reads.ts'
import { startServer, type TestServer } from '../harness/server.ts'

// Another one in every run; the one that failed is in the report.
const seed = randomInt(1, 2 ** 31)
const attackCount = 2000
const warmCount = 500
const atOnce = 16
// A heap that is allowed to grow does so before it is collected, which would look like something that is never let go.
const heapMibMax = 128
const mib = 1024 * 1024

const weights: Readonly<Record<AttackName, number>> = {
  malformed: 10,
  wrongPath: 10,
  wrongMethod: 8,
  wrongQuery: 12,
  wrongHeader: 10,
  tornHead: 4,
  wrongField: 14,
  wrongJson: 10,
  longJson: 2,
  badText: 3,
  hugeBody: 4,
  wrongHandshake: 4,
  wrongFrames: 8,
  endlessMessage: 1,
  tornFrame: 2,
  wrongMessages: 8,
}

let server: TestServer | undefined
afterEach(() => server?.end())

/** Lets so many attackers loose at once, and tells of every answer that is none. */
async function attackWith(
  attacker: Attacker,
  port: number,
  count: number,
  statuses: Map<number, number>,
): Promise<string[]> {
  const complaints: string[] = []
  let left = count
  const one = async () => {
    while (left > 0) {
      left -= 1
      const attack = attacks[attacker.random.weighted(weights)](attacker)
      const reaction = await launch(attack, port)
      for (const status of reaction.statuses) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const harm = harmOf(reaction)
      if (harm === undefined) continue
      const sent = attack.bytes.toString('latin1').slice(0, 500)
      complaints.push(`${attack.what}, ${harm}: ${sent} → ${reaction.received.slice(0, 500)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return complaints
}

/** What the server itself took for its own fault. */
function defectsOf({ stderr }: TestServer): string[] {
  return stderr.filter((line) => !line.startsWith('{') || (JSON.parse(line) as { level: number }).level >= 50)
}

it.skipIf(process.platform !== 'linux')(
  '2,000 hostile requests crash nothing, are never answered from 500 on, and leave memory flat',
  async () => {
    server = await startServer({ store: 'sqlite', env: { NODE_OPTIONS: `--max-old-space-size=${heapMibMax}` } })
    const { hostname, port } = new URL(server.url)
    const token = server.tokens['alice'] ?? ''
    const attacker: Attacker = { random: new SeededRandom(seed), host: `${hostname}:${port}`, token }
    const statuses = new Map<number, number>()
    const complaints = await attackWith(attacker, Number(port), warmCount, statuses)
    const warmBytes = await residentBytes(server.pid)
    complaints.push(...(await attackWith(attacker, Number(port), attackCount - warmCount, statuses)))
    const grownBytes = (await residentBytes(server.pid)) - warmBytes
    console.log(`seed ${seed}, grown by ${Math.round(grownBytes / mib)} MiB`, Object.fromEntries(statuses))
    expect({ seed, complaints, defects: defectsOf(server) }).toEqual({ seed, complaints: [], defects: [] })
    expect(grownBytes / mib).toBeLessThan(128)
    expect((await server.request('GET', '/readyz')).status).toBe(200)
    for (const transport of transports) {
      const client = await connect(transport, server)
      const run = await client.run('after-all', scriptRun([{ say: 'well' }]))
      const watcher = await client.watch({ thread: 'after-all', task: run.id })
      expect((await watcher.until(isEndOf(run.id))).at(-1)).toMatchObject({ type: 'task.completed' })
      client.drop()
    }
  },
)
