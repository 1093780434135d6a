import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findingText, readAudit } from '../../scripts/supply-chain/audit.ts'
import { isAllowed, licenceProblems } from '../../scripts/supply-chain/licences.ts'
import { closureOf, readLock } from '../../scripts/supply-chain/lock.ts'
import { originProblems, scriptProblems } from '../../scripts/supply-chain/origins.ts'
import { packedKinds, packedProblems } from '../../scripts/supply-chain/packed-files.ts'
import { importedPackages, shippedPackages } from '../../scripts/supply-chain/shipped.ts'
import { fakeLock } from './fake-tree.ts'

const root = resolve(import.meta.dirname, '../..')
const realLock = readFileSync(join(root, 'package-lock.json'), 'utf8')

interface LockText {
  readonly packages: Readonly<Record<string, { dev?: true; devOptional?: true; optional?: true }>>
}

describe('the lock file', () => {
  it('gives the dependencies of the package with all that they need, as npm marks them', () => {
    const entries = Object.entries((JSON.parse(realLock) as LockText).packages)
    const marked = entries.filter(
      ([path, { dev, devOptional, optional }]) => path !== '' && !(dev || devOptional || optional),
    )
    const lock = readLock(realLock)
    const found = closureOf(lock, lock.root.needs).map(({ path }) => path)
    expect(found.length).toBeGreaterThan(20)
    expect(found.toSorted()).toEqual(marked.map(([path]) => path).toSorted())
  })

  it('gives the nearest of two versions', () => {
    const lock = fakeLock({
      a: { dependencies: { b: '1' } },
      b: { version: '2.0.0' },
      'a/node_modules/b': { version: '1.0.0', dependencies: { c: '1' } },
      c: { dependencies: { b: '2' } },
    })
    const found = closureOf(lock, ['a']).map(({ path, version }) => `${path} ${version}`)
    expect(found).toEqual([
      'node_modules/a 1.0.0',
      'node_modules/a/node_modules/b 1.0.0',
      'node_modules/b 2.0.0',
      'node_modules/c 1.0.0',
    ])
  })

  it('is refused where something is missing', () => {
    expect(() => closureOf(fakeLock({ a: { dependencies: { gone: '1' } } }), ['a'])).toThrow(
      /lacks gone, which a needs/,
    )
    expect(() => readLock('{"lockfileVersion": 1}')).toThrow(/not of version 3/)
  })
})

describe('what is shipped', () => {
  it('has what is built into the console beside what npm installs', () => {
    const imports = importedPackages(join(root, 'console/src'))
    expect(imports).toContain('react-markdown')
    expect(imports).not.toContain('holdfast')
    const shipped = new Map(shippedPackages(readLock(realLock), imports).map(({ name, ways }) => [name, ways]))
    expect(shipped.get('ws')).toEqual(['installed'])
    expect(shipped.get('micromark')).toEqual(['built-in'])
    expect(shipped.has('vitest')).toBe(false)
  })
})

describe('licences', () => {
  it.each(['MIT', 'Apache-2.0', '(AFL-2.1 OR BSD-3-Clause)', 'MIT AND ISC', '(MIT AND (GPL-3.0 OR ISC))'])(
    'may be %s',
    (licence) => {
      expect(isAllowed(licence)).toBe(true)
    },
  )

  it.each([
    ...['', 'GPL-3.0', 'mit', 'MIT AND GPL-3.0', 'SEE LICENSE IN LICENSE', 'UNLICENSED', '(MIT', 'MIT ISC', 'MIT OR'],
    ...['Apache-2.0 WITH LLVM-exception', 'BUSL-1.1', 'CC-BY-NC-4.0', 'MIT)', '()', 'OR'],
  ])('may not be "%s"', (licence) => {
    expect(isAllowed(licence)).toBe(false)
  })

  it('are named with their package where they are not allowed, or there is none', () => {
    const lock = fakeLock({ good: {}, bad: { license: 'AGPL-3.0-only' }, silent: { license: undefined } })
    expect(licenceProblems([...lock.packages.values()])).toEqual([
      'bad@1.0.0 has the licence AGPL-3.0-only, which is not in the list of scripts/supply-chain/licences.ts',
      'silent@1.0.0 states no licence',
    ])
  })
})

describe('origins', () => {
  it('are refused without a digest, with a weak one, and outside the registry', () => {
    const lock = fakeLock({
      good: { resolved: 'https://registry.npmjs.org/good/-/good-1.0.0.tgz' },
      bare: { integrity: undefined },
      weak: { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      forked: { resolved: 'git+ssh://git@github.com/somebody/forked.git#0123456' },
      lookalike: { resolved: 'https://registry.npmjs.org.example/lookalike-1.0.0.tgz' },
    })
    const problems = originProblems([...lock.packages.values()])
    expect(problems.map((problem) => problem.split('@')[0])).toEqual(
      ['bare', 'weak', 'forked', 'lookalike'].map((name) => `node_modules/${name}`),
    )
  })

  it('are told of where a package runs a script when it is installed', () => {
    const lock = fakeLock({ good: {}, eager: { hasInstallScript: true } })
    expect(scriptProblems([...lock.packages.values()])).toEqual(['eager@1.0.0 runs a script when it is installed'])
  })
})

describe('packed files', () => {
  const good = [
    ...['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'bin/holdfast.js', 'dist/index.js', 'dist/index.d.ts'],
    ...[
      'dist/stores/sqlite/migrations/0001_initial.sql',
      'dist/console/index.html',
      'dist/console/assets/index-B0_-a.js',
    ],
  ]

  it('are of known kinds', () => {
    expect(packedProblems(good)).toEqual([])
  })

  it.each([
    ...['.env', 'holdfast.db', 'dist/holdfast.db', 'dist/token', 'dist/server/key.pem', 'dist/secret/index.js'],
    ...[
      'src/index.ts',
      'dist/index.ts',
      'dist/server/serve.test.js',
      'dist/tsconfig.build.tsbuildinfo',
      'bin/other.js',
    ],
    ...[
      'dist/console/assets/index.js.map',
      'dist/cli/commands/serve.js.map',
      'dist/server/../../x.js',
      'dist/stores/sqlite/migrations/old.sql',
      'SECRETS.md',
    ],
  ])('may not be %s', (path) => {
    expect(packedProblems([...good, path])).toEqual([expect.stringContaining(`${path} would be published`)])
  })

  it('are missed where a kind has none', () => {
    for (const kind of packedKinds) {
      expect(packedProblems(good.filter((path) => !kind.paths.test(path)))).toEqual([
        expect.stringContaining(kind.what),
      ])
    }
  })
})

describe('an audit', () => {
  const shipped = new Set(['node_modules/ws'])
  const report = (severity: string, nodes: readonly string[]) =>
    JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: {
        bad: { name: 'bad', severity, via: [{ title: 'It leaks', url: 'https://advisories.example/1' }, 'ws'], nodes },
      },
    })

  it.each([
    { severity: 'low', path: 'node_modules/ws', isFailing: true },
    { severity: 'info', path: 'node_modules/ws', isFailing: false },
    { severity: 'moderate', path: 'node_modules/vite', isFailing: false },
    { severity: 'high', path: 'node_modules/vite', isFailing: true },
    { severity: 'of a new kind', path: 'node_modules/vite', isFailing: true },
  ])('takes $severity in $path for failing: $isFailing', ({ severity, path, isFailing }) => {
    const audit = readAudit(report(severity, [path]), shipped)
    expect(audit).toMatchObject({ isAsked: true, findings: [{ name: 'bad', isFailing }] })
  })

  it('says of a finding what it is about', () => {
    const audit = readAudit(report('high', ['node_modules/ws']), shipped)
    const texts = audit.isAsked ? audit.findings.map(findingText) : []
    expect(texts).toEqual(['bad (shipped, high): It leaks https://advisories.example/1; by ws'])
  })

  it.each([
    { output: '', why: 'npm said nothing' },
    { output: 'a gateway page\n<html>', why: 'a gateway page' },
    { output: '{"message": "405 Method Not Allowed", "statusCode": 405}', why: '405 Method Not Allowed' },
    { output: '{"error": {"code": "ENOLOCK", "summary": "This needs a lock"}}', why: 'This needs a lock' },
    {
      output: '{"auditReportVersion": 3, "vulnerabilities": {}}',
      why: '{"auditReportVersion": 3, "vulnerabilities": {}}',
    },
    { output: 'null', why: 'null' },
  ])('that was not answered is none: $why', ({ output, why }) => {
    expect(readAudit(output, shipped)).toEqual({ isAsked: false, why })
  })
})
