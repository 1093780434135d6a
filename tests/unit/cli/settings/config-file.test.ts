import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/cli/settings/config-file.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

describe('a config file', () => {
  it('is read when it is named', async () => {
    const file = write('mine.mjs', 'export default { port: 1 }')
    expect(await loadConfig(file, folder)).toEqual({ file, values: { port: 1 } })
  })

  it('may be JSON', async () => {
    const file = write('mine.json', '{ "port": 3 }')
    expect(await loadConfig(file, folder)).toEqual({ file, values: { port: 3 } })
    await expect(loadConfig(write('broken.json', '{'), folder)).rejects.toThrow('broken.json cannot be loaded: ')
  })

  it('is read from the folder when it has the usual name', async () => {
    write('holdfast.config.ts', 'const port: number = 2\nexport default { port }')
    expect(await loadConfig(undefined, folder)).toEqual({ file: 'holdfast.config.ts', values: { port: 2 } })
  })

  it('need not be there, unless it is named', async () => {
    expect(await loadConfig(undefined, folder)).toBeUndefined()
    await expect(loadConfig('missing.ts', folder)).rejects.toThrow('There is no config file')
  })

  it.each([
    'export const port = 1',
    'export default 1',
    'export default null',
    'export default []',
    'export default () => ({})',
  ])('that says %s is refused', async (text) => {
    await expect(loadConfig(write('wrong.mjs', text), folder)).rejects.toThrow('no object as its default export')
  })

  it('that cannot be loaded is refused with the reason', async () => {
    const file = write('throws.mjs', 'throw new Error("no such luck")')
    await expect(loadConfig(file, folder)).rejects.toThrow('throws.mjs cannot be loaded: no such luck')
  })
})
