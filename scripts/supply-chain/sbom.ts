// The bill of materials of the package in the JSON of CycloneDX 1.6. The same lock file gives the same bytes: it has no time, and its
// serial number comes from its content, so two of them can be compared.
import { createHash } from 'node:crypto'
import { type Lock, type LockedPackage, resolved } from './lock.ts'
import type { ShippedPackage } from './shipped.ts'

export interface Sbom {
  readonly $schema: string
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly serialNumber: string
  readonly version: 1
  readonly metadata: { readonly lifecycles: readonly { readonly phase: 'build' }[]; readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly scope?: 'required'
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[]
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

/** Of the root of a lock file, which asks for packages by these names itself. */
export function sbomOf(lock: Lock, packages: readonly ShippedPackage[], direct: readonly string[]): Sbom {
  const components = packages.map((one) => ({ ...component(one), ...scope(one) }))
  const root = component(lock.root)
  const dependencies = [
    { ref: root['bom-ref'], dependsOn: refs(lock, packages, lock.root, direct) },
    ...packages.map((one) => ({ ref: refOf(one), dependsOn: refs(lock, packages, one, [...one.needs, ...one.takes]) })),
  ]
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([root, components, dependencies]))}`,
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: root },
    components,
    dependencies,
  }
}

/** A sentence for each shipped package that is not whole in a bill of materials. */
export function sbomProblems({ components }: Sbom, packages: readonly LockedPackage[]): readonly string[] {
  const byRef = new Map(components.map((one) => [one['bom-ref'], one]))
  return packages.flatMap((one) => {
    const found = byRef.get(refOf(one))
    const name = `${one.name}@${one.version}`
    if (!found) return `${name} is not in the bill of materials`
    const isWhole = found.version !== '' && found.licenses?.length === 1 && found.hashes?.length === 1
    return isWhole ? [] : `${name} has no version, licence or digest in the bill of materials`
  })
}

function component({ name, version, path, licence, integrity }: LockedPackage): Component {
  return {
    type: 'library',
    'bom-ref': refOf({ name, version, path }),
    name,
    version,
    purl: purlOf({ name, version }),
    ...(licence && { licenses: [/\s/.test(licence) ? { expression: licence } : { license: { id: licence } }] }),
    ...(integrity?.startsWith('sha512-') && { hashes: [{ alg: 'SHA-512' as const, content: hexOf(integrity) }] }),
  }
}

function scope({ ways }: ShippedPackage): Pick<Component, 'scope' | 'properties'> {
  return { scope: 'required', properties: ways.map((value) => ({ name: 'holdfast:way', value })) }
}

function refs(
  lock: Lock,
  packages: readonly LockedPackage[],
  from: LockedPackage,
  names: readonly string[],
): readonly string[] {
  const paths = new Set(packages.map(({ path }) => path))
  const found = names.flatMap((name) => resolved(lock.packages, from, name) ?? [])
  return [...new Set(found.filter(({ path }) => paths.has(path)).map(refOf))].toSorted()
}

/** A version that is installed in two places is one material, but two nodes of the tree. */
function refOf({ name, version, path }: Pick<LockedPackage, 'name' | 'version' | 'path'>): string {
  const isNested = path.lastIndexOf('node_modules/') > 0
  return isNested ? `${purlOf({ name, version })}#${path}` : purlOf({ name, version })
}

function purlOf({ name, version }: Pick<LockedPackage, 'name' | 'version'>): string {
  return `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
