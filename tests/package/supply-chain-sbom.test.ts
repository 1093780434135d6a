import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Sbom, sbomOf, sbomProblems } from '../../scripts/supply-chain/sbom.ts'
import { shippedPackages } from '../../scripts/supply-chain/shipped.ts'
import { fakeLock } from './fake-tree.ts'

const root = resolve(import.meta.dirname, '../..')
const text = execFileSync(process.execPath, ['scripts/supply-chain-sbom.ts'], { cwd: root, encoding: 'utf8' })
const sbom = JSON.parse(text) as Sbom

/** The part of the schema of CycloneDX 1.6 that we use, and nothing beside it. */
const component = z.strictObject({
  type: z.literal('library'),
  'bom-ref': z.string().min(1),
  name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+\.\d+/),
  purl: z.string().regex(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@[\w.%-]+$/),
  scope: z.literal('required').optional(),
  licenses: z
    .tuple([
      z.union([
        z.strictObject({ license: z.strictObject({ id: z.string().regex(/^[\w.-]+$/) }) }),
        z.strictObject({ expression: z.string() }),
      ]),
    ])
    .optional(),
  hashes: z
    .tuple([z.strictObject({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) })])
    .optional(),
  properties: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
})
const cycloneDx = z.strictObject({
  $schema: z.literal('http://cyclonedx.org/schema/bom-1.6.schema.json'),
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
  version: z.literal(1),
  metadata: z.strictObject({ lifecycles: z.array(z.strictObject({ phase: z.literal('build') })), component }),
  components: z.array(component),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

describe('the bill of materials', () => {
  it('is CycloneDX of this package', () => {
    cycloneDx.parse(sbom)
    const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(sbom.metadata.component).toMatchObject({ name, version, purl: `pkg:npm/${name}@${version}` })
  })

  it('has every production dependency with version, licence, address and digest', () => {
    const entries = (JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockText).packages
    const production = Object.entries(entries).filter(
      ([path, entry]) => path !== '' && !entry.dev && !entry.devOptional,
    )
    expect(production.length).toBeGreaterThan(20)
    for (const [path, { version, license, integrity = '' }] of production) {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
      expect(sbom.components).toContainEqual(
        expect.objectContaining({
          name,
          version,
          purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
          licenses: [{ license: { id: license } }],
          hashes: [{ alg: 'SHA-512', content }],
        }),
      )
    }
  })

  it('has a tree whose every name is a component, and from whose root every component is reached', () => {
    const references = [sbom.metadata.component, ...sbom.components].map((one) => one['bom-ref'])
    expect(new Set(references).size).toBe(references.length)
    expect(sbom.dependencies.map(({ ref }) => ref)).toEqual(references)
    const byRef = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
    const reached = new Set<string>()
    const waiting = [sbom.metadata.component['bom-ref']]
    for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
      if (reached.has(ref)) continue
      reached.add(ref)
      waiting.push(...(byRef.get(ref) ?? [`nothing is ${ref}`]))
    }
    expect([...reached].toSorted()).toEqual(references.toSorted())
  })

  it('is the same for the same lock file, and another for another', () => {
    const of = (version: string) => {
      const lock = fakeLock({ a: { version } })
      return JSON.stringify(sbomOf(lock, shippedPackages(lock, []), ['a']))
    }
    expect(of('1.0.0')).toBe(of('1.0.0'))
    expect(JSON.parse(of('1.0.1')).serialNumber).not.toBe(JSON.parse(of('1.0.0')).serialNumber)
  })

  it('is written into the file that is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-sbom-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'sbom.json')
    execFileSync(process.execPath, ['scripts/supply-chain-sbom.ts', path], { cwd: root })
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('is found wanting where a package is missing, or has no licence or digest', () => {
    const lock = fakeLock({ whole: {}, silent: { license: undefined }, bare: { integrity: undefined } })
    const packages = shippedPackages(lock, [])
    const made = sbomOf(lock, packages, lock.root.needs)
    expect(sbomProblems(made, packages)).toEqual([
      'bare@1.0.0 has no version, licence or digest in the bill of materials',
      'silent@1.0.0 has no version, licence or digest in the bill of materials',
    ])
    const without = { ...made, components: made.components.filter(({ name }) => name !== 'whole') }
    expect(sbomProblems(without, packages)).toContain('whole@1.0.0 is not in the bill of materials')
  })

  it('states a choice of licences as one', () => {
    const lock = fakeLock({ a: { license: 'MIT OR Apache-2.0' } })
    const [only] = sbomOf(lock, shippedPackages(lock, []), ['a']).components
    expect(only?.licenses).toEqual([{ expression: 'MIT OR Apache-2.0' }])
  })
})

interface LockText {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string
        readonly license: string
        readonly integrity?: string
        readonly dev?: boolean
        readonly devOptional?: boolean
      }
    >
  >
}
