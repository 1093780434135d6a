import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const source = new URL('../../../src/server/allocate-young.ts', import.meta.url).href

/** How often V8 says what it expects of a place in a program that keeps all that it makes. */
async function expectationCount(before: string): Promise<number> {
  const program = `
    ${before}
    const make = (n) => {
      const list = []
      list.push({ n })
      return list
    }
    const kept = []
    for (let n = 0; n < 400_000; n++) kept.push(make(n))
  `
  const flags = ['--trace-pretenuring-statistics', '--input-type=module', '-e', program]
  const { stdout } = await run(process.execPath, flags)
  return stdout.split('=> maybe tenure').length - 1
}

it('keeps V8 from expecting that what stayed at first stays for ever', async () => {
  const asked = (flags: readonly string[]) =>
    expectationCount(`import { allocateYoung } from '${source}'; allocateYoung(${JSON.stringify(flags)})`)
  expect(await expectationCount('')).toBeGreaterThan(0)
  expect(await asked([])).toBe(0)
  expect(await asked(['--allocation-site-pretenuring'])).toBeGreaterThan(0)
})
