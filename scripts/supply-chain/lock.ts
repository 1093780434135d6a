// Reads package-lock.json: what an installation is made of, and which part of it reaches those who use the package. npm can
// list that itself (`npm sbom --omit dev`), but leaves out every dependency that something of development needs as well.

/** A package as the lock file has it. */
export interface LockedPackage {
  /** Where it is installed: node_modules/a/node_modules/b. */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly licence: string | undefined
  readonly integrity: string | undefined
  /** Where it was got from; absent if that is the registry in force. */
  readonly resolved: string | undefined
  readonly hasInstallScript: boolean
  /** Names of packages that it cannot do without. */
  readonly needs: readonly string[]
  /** Names of packages that it takes where they are installed. */
  readonly takes: readonly string[]
}

export interface Lock {
  readonly root: LockedPackage
  /** All but the root, by path. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

interface LockEntry {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const folder = 'node_modules/'

export function readLock(text: string): Lock {
  const { lockfileVersion, packages = {} } = JSON.parse(text) as {
    readonly lockfileVersion?: number
    readonly packages?: Readonly<Record<string, LockEntry>>
  }
  const root = packages['']
  if (lockfileVersion !== 3 || !root)
    throw new Error('package-lock.json is not of version 3. Write it with npm 9 or newer')
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  return {
    root: lockedPackage('', root),
    packages: new Map(entries.map(([path, entry]) => [path, lockedPackage(path, entry)])),
  }
}

/** The packages of these names as seen from the root, and all that they need, ordered by path. */
export function closureOf({ root, packages }: Lock, names: readonly string[]): readonly LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  const waiting = names.map((name) => ({ from: root, name, isNeeded: true }))
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { from, name, isNeeded } = next
    const here = resolved(packages, from, name)
    if (!here && isNeeded) throw new Error(`package-lock.json lacks ${name}, which ${from.name} needs. Run npm install`)
    if (!here || found.has(here.path)) continue
    found.set(here.path, here)
    waiting.push(...here.needs.map((need) => ({ from: here, name: need, isNeeded: true })))
    waiting.push(...here.takes.map((take) => ({ from: here, name: take, isNeeded: false })))
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The package that a name means to another: the nearest one upwards, as Node looks for it. */
export function resolved(
  packages: ReadonlyMap<string, LockedPackage>,
  from: LockedPackage,
  name: string,
): LockedPackage | undefined {
  for (let place = from.path; place !== ''; place = place.slice(0, Math.max(0, place.lastIndexOf(`/${folder}`)))) {
    const here = packages.get(`${place}/${folder}${name}`)
    if (here) return here
  }
  return packages.get(`${folder}${name}`)
}

function lockedPackage(path: string, entry: LockEntry): LockedPackage {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = entry
  const peers = Object.keys(peerDependencies)
  const optional = Object.keys(entry.optionalDependencies ?? {})
  const isOptional = (name: string) => peerDependenciesMeta[name]?.optional === true
  return {
    path,
    name: entry.name ?? path.slice(path.lastIndexOf(folder) + folder.length),
    version: entry.version ?? '',
    licence: entry.license,
    integrity: entry.integrity,
    resolved: entry.resolved,
    hasInstallScript: entry.hasInstallScript === true,
    needs: [...Object.keys(entry.dependencies ?? {}), ...peers.filter((name) => !isOptional(name))],
    takes: optional,
  }
}
