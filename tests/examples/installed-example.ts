import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

interface Manifest {
  readonly dependencies: Record<string, string>
  readonly devDependencies: Record<string, string>
}

/** An example as it is after `npm install` and its build, in a folder of its own, without a network. */
export interface InstalledExample {
  readonly folder: string
  remove(): void
}

export function installExample(name: string): InstalledExample {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
  const left = ['node_modules', 'dist']
  cpSync(join(root, 'examples', name), folder, { recursive: true, filter: (file) => !left.includes(basename(file)) })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
    const place = join(folder, 'node_modules', dependency)
    mkdirSync(dirname(place), { recursive: true })
    if (dependency === 'holdfast') linkSources(place)
    // A copy, as an install makes one: the page must not have two of it, this one and that of the repository.
    else if (dependency === 'react') cpSync(join(root, 'node_modules', dependency), place, { recursive: true })
    else symlinkSync(join(root, 'node_modules', dependency), place)
  }
  execFileSync(process.execPath, [join('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A package that has what the sources export, so that nothing has to be built first. */
function linkSources(place: string): void {
  mkdirSync(place)
  const sources = { '.': 'index.ts', './client': 'client/index.ts', './react': 'react/index.ts' }
  const exported = Object.entries(sources).map(([subpath, source], at) => {
    const file = `./${at}.js`
    writeFileSync(join(place, file), `export * from ${JSON.stringify(join(root, 'src', source))}\n`)
    return [subpath, file]
  })
  const manifest = { name: 'holdfast', type: 'module', exports: Object.fromEntries(exported) as object }
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
}
