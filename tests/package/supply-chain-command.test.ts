import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FakePackage, fakeLockText } from './fake-tree.ts'

const root = resolve(import.meta.dirname, '../..')
const good = { left: {}, right: { license: 'ISC' } } satisfies Record<string, FakePackage>
const nothingFound = { status: 200, advisories: {} }
const silent = { status: 405, advisories: {} }

interface Registry {
  readonly status: number
  readonly advisories: object
}

describe('npm run check:supply', () => {
  it('ends well where there is nothing to say', async () => {
    const { code, said } = await checked({ packages: good, registry: nothingFound })
    expect(said).not.toMatch(/WARNING|FAILED/)
    expect(said).toMatch(/^audit: no advisory for 2 packages$/m)
    expect(said).toMatch(/^licences: all of 2 shipped packages/m)
    expect(said).toMatch(/^origins: 2 packages with a digest, none of which is said to come from elsewhere/m)
    expect(said).toMatch(/^packed: 8 files, all of known kinds$/m)
    expect(said).toMatch(/^sbom: 2 components/m)
    expect(code).toBe(0)
  })

  it('says that advisories could not be asked for', async () => {
    const { code, said } = await checked({ packages: good, registry: silent })
    expect(said).toMatch(/^audit: WARNING: advisories could not be asked for, so nothing is known of them: 405 /m)
    expect(code).toBe(0)
  })

  it('fails where they could not be asked for and that is wanted', async () => {
    const { code, said } = await checked({ packages: good, registry: silent, env: { REQUIRE_AUDIT: '1' } })
    expect(said).toMatch(/^audit: FAILED: advisories could not be asked for/m)
    expect(code).toBe(1)
  })

  it('fails for an advisory on what is shipped', async () => {
    const advisory = { id: 1, url: 'https://advisories.example/1', title: 'It leaks', severity: 'low' }
    const advisories = { left: [{ ...advisory, vulnerable_versions: '<2.0.0', cwe: [], cvss: { score: 1 } }] }
    const { code, said } = await checked({ packages: good, registry: { status: 200, advisories } })
    expect(said).toMatch(/^audit: FAILED: left \(shipped, low\): It leaks https:\/\/advisories\.example\/1$/m)
    expect(code).toBe(1)
  })

  it('fails for a licence, an install script and a file, and tells of all of them', async () => {
    const packages = { left: { license: 'GPL-3.0-only' }, right: { hasInstallScript: true } }
    const { code, said } = await checked({ packages, registry: nothingFound, files: ['dist/holdfast.db'] })
    expect(said).toMatch(/^licences: FAILED: left@1\.0\.0 has the licence GPL-3\.0-only/m)
    expect(said).toMatch(/^origins: FAILED: right@1\.0\.0 runs a script when it is installed$/m)
    expect(said).toMatch(/^packed: FAILED: dist\/holdfast\.db would be published/m)
    expect(code).toBe(1)
  })
})

/** Runs the command over a project that is not ours, with a registry that answers as it is told. */
async function checked(given: {
  readonly packages: Readonly<Record<string, FakePackage>>
  readonly registry: Registry
  readonly files?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}): Promise<{ readonly code: number; readonly said: string }> {
  const folder = project(given.packages, given.files ?? [])
  const child = spawn(process.execPath, [join(root, 'scripts/supply-chain.ts')], {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      npm_config_registry: await registryUrl(given.registry),
      npm_config_update_notifier: 'false',
      ...given.env,
    },
  })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: Number(code), said: stdout + stderr }
}

function project(packages: Readonly<Record<string, FakePackage>>, files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-supply-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const lock = fakeLockText(packages)
  const { dependencies } =
    (JSON.parse(lock) as { packages: Record<string, { dependencies: object }> }).packages[''] ?? {}
  write('package-lock.json', lock)
  write(
    'package.json',
    JSON.stringify({
      name: 'holdfast',
      version: '0.0.1',
      license: 'MIT',
      files: ['bin', 'dist', 'CHANGELOG.md'],
      dependencies,
    }),
  )
  const compiled = ['bin/holdfast.js', 'dist/index.js', 'dist/stores/sqlite/migrations/0001_initial.sql']
  const console = ['dist/console/index.html', 'dist/console/assets/index-abc.js']
  for (const path of ['README.md', 'CHANGELOG.md', ...compiled, ...console, ...files]) write(path, '')
  write('console/src/main.ts', '')
  return folder
}

/** On loopback: what is asked of `npm audit`, and what it then wants to know of a package that something is known of. */
async function registryUrl({ status, advisories }: Registry): Promise<string> {
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    const isBulk = request.method === 'POST' && name.endsWith('advisories/bulk')
    const version = { name, version: '1.0.0', dist: { tarball: 'http://127.0.0.1/', shasum: '0'.repeat(40) } }
    const packument = { name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
    response.writeHead(isBulk ? status : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isBulk ? advisories : packument))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
