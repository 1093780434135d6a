import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { mirror } from './mirror.ts'

it('a mirrored folder has what the other has, and nothing that it has no more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mirror-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  mkdirSync(join(from, 'old/deep'), { recursive: true })
  for (const path of ['0001_initial.sql', '0002_names.sql', 'old/deep/0000.sql']) writeFileSync(join(from, path), path)
  await mirror(from, to)
  expect(readdirSync(to, { recursive: true }).toSorted()).toEqual(readdirSync(from, { recursive: true }).toSorted())
  renameSync(join(from, '0002_names.sql'), join(from, '0002_titles.sql'))
  writeFileSync(join(from, '0001_initial.sql'), 'changed')
  rmSync(join(from, 'old'), { recursive: true })
  await mirror(from, to)
  expect(readdirSync(to, { recursive: true }).toSorted()).toEqual(['0001_initial.sql', '0002_titles.sql'])
  expect(readFileSync(join(to, '0001_initial.sql'), 'utf8')).toBe('changed')
})
