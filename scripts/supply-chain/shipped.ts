// What reaches those who install the package: its dependencies, and what is built into the files of the console.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closureOf, type Lock, type LockedPackage, readLock } from './lock.ts'

/** How a package gets to a user: npm installs it, or its code is in a file of ours. */
export type Way = 'installed' | 'built-in'

export interface ShippedPackage extends LockedPackage {
  readonly ways: readonly Way[]
}

/**
 * The dependencies of the root with all that they need, and those that sources which are bundled import. Of the latter this is more than
 * the bundle holds, since a bundler leaves out what is not called; a licence or an advisory must not be missed for that.
 */
export function shippedPackages(lock: Lock, bundledImports: readonly string[]): readonly ShippedPackage[] {
  // Peers of the root are the user's own, and optional: what the root needs are its dependencies alone.
  const installed = closureOf(lock, lock.root.needs)
  const builtIn = closureOf(lock, bundledImports)
  const all = new Map([...installed, ...builtIn].map((one) => [one.path, one]))
  return [...all.values()].map((one) => ({
    ...one,
    ways: [
      ...(installed.includes(one) ? (['installed'] as const) : []),
      ...(builtIn.includes(one) ? (['built-in'] as const) : []),
    ],
  }))
}

export interface Shipment {
  readonly lock: Lock
  readonly packages: readonly ShippedPackage[]
  /** Names that the root asks for itself. */
  readonly direct: readonly string[]
}

/** Reads it in the folder of the project. */
export function readShipment(): Shipment {
  const lock = readLock(readFileSync('package-lock.json', 'utf8'))
  const imports = importedPackages('console/src')
  return { lock, packages: shippedPackages(lock, imports), direct: [...lock.root.needs, ...imports] }
}

/** The packages that the sources in a folder name in imports of code, not of types alone. */
export function importedPackages(folder: string): readonly string[] {
  const files = globSync('**/*.{ts,tsx,css}', { cwd: folder })
  const names = files.flatMap((file) => namesIn(readFileSync(join(folder, file), 'utf8')))
  return [...new Set(names)].toSorted()
}

function namesIn(source: string): readonly string[] {
  const statements = source.matchAll(
    /^(?:import|export)\s(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|^@import\s+["']([^"']+)["']/gm,
  )
  return [...statements].flatMap(([, plain, called, styled]) => {
    const specifier = plain ?? called ?? styled ?? ''
    // A path, a module of Node, and the project itself are no packages of others.
    if (/^[./]|^node:|^holdfast(\/|$)/.test(specifier)) return []
    return specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
  })
}
