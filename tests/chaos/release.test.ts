import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chaos } from '../../src/chaos/index.ts'
import { expectHeld, timeoutMs } from './held.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-release-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

function release(...flags: readonly string[]) {
  return run(process.execPath, [join(root, 'src/chaos/main.ts'), ...flags])
}

describe('chaos', { timeout: timeoutMs }, () => {
  it('attacks a node and holds idle streams of it, and everybody is served as ever', async () => {
    const enough = { hostile: 300, idle: 40 }
    const report = await chaos({ seed: 4, store: 'sqlite:', leaseMs: 15_000, clients: 3, enough })
    expectHeld(report)
    expect(report.counts).toMatchObject({ hostile: 300, idle: 40 })
  })
})

describe('a release', { timeout: timeoutMs }, () => {
  it('runs the phases that are named at the size that is asked for, and prints a line for each', async () => {
    const { stdout } = await release('--phase', 'hostile', '--scale', '0.001', '--seed', '42', '--history', folder)
    expect(stdout).toMatch(/^seed 42, commit \S+, histories in .*\nThis is 0.001 of a release, to try it\.\n/)
    expect(stdout).toMatch(/\| hostile \| \d+ hostile requests \(200\) \| `sqlite:`, `postgres:` \| [\d,]+ \| 0 \|/)
    expect(stdout).toMatch(/minutes\. It holds\.\n$/)
    const histories = (await readdir(folder)).filter((name) => name.endsWith('.ndjson')).sort()
    expect(histories).toEqual(['hostile-1.ndjson', 'hostile-2.ndjson'])
  })

  it('refuses a phase that there is not, and a size that is none', async () => {
    await expect(release('--phase', 'kils')).rejects.toThrow('There is no phase kils: use kills, nodes')
    await expect(release('--release', '--scale', '2')).rejects.toThrow(
      '--scale is a number above 0 and at most 1, not 2',
    )
  })
})
