import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const source = new URL('../../../../src/cli/serving/young-space.ts', import.meta.url).href

/** What the room for new objects comes to in a process in which ever more of them are alive at the same time. */
function youngMebibytes(nodeFlags: readonly string[]): number {
  const program = `
    import { setImmediate as nextTurn } from 'node:timers/promises'
    import { getHeapSpaceStatistics } from 'node:v8'
    import { limitYoungSpace } from '${source}'
    limitYoungSpace(${JSON.stringify(nodeFlags)})
    let alive = []
    for (let turn = 0; turn < 400; turn++) {
      for (let n = 0; n < 5_000; n++) alive.push({ n, text: 'text ' + n, list: [n] })
      if (alive.length > 300_000) alive = alive.slice(150_000)
      await nextTurn()
    }
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    console.log(space_size / 1024 ** 2)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }))
}

describe('the room for new objects', () => {
  it('stays at some megabytes however much is alive', () => {
    expect(youngMebibytes([])).toBeLessThanOrEqual(32)
  })

  it('is as large as whoever starts the server says', () => {
    expect(youngMebibytes(['--max-semi-space-size=64'])).toBeGreaterThan(32)
  })
})
