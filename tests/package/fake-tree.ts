import { createHash } from 'node:crypto'
import { type Lock, readLock } from '../../scripts/supply-chain/lock.ts'

export interface FakePackage {
  readonly version?: string
  readonly license?: string | undefined
  readonly integrity?: string | undefined
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The text of a lock file whose root depends on all of these packages; a name may be a path to a nested one. */
export function fakeLockText(packages: Readonly<Record<string, FakePackage>>): string {
  const names = Object.keys(packages).filter((name) => !name.includes('/node_modules/'))
  const dependencies = Object.fromEntries(names.map((name) => [name, '*']))
  const entries = Object.entries(packages).map(([name, entry]) => [
    `node_modules/${name}`,
    { version: '1.0.0', license: 'MIT', integrity: fakeIntegrity(name), ...entry },
  ])
  const root = { name: 'holdfast', version: '0.0.1', license: 'MIT', dependencies }
  const lock = { lockfileVersion: 3, requires: true, packages: { '': root, ...Object.fromEntries(entries) } }
  return JSON.stringify({ name: 'holdfast', version: '0.0.1', ...lock })
}

export function fakeLock(packages: Readonly<Record<string, FakePackage>>): Lock {
  return readLock(fakeLockText(packages))
}

function fakeIntegrity(name: string): string {
  return `sha512-${createHash('sha512').update(name).digest('base64')}`
}
