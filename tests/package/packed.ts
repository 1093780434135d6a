import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
export const manifest: {
  readonly version: string
  readonly dependencies: object
  readonly exports: object
  readonly files: readonly string[]
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What builds the package, beside what is in it. */
const buildFiles = ['package.json', 'src', 'console', 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'bin']
const docs = manifest.files.filter((file) => file.endsWith('.md') || file === 'LICENSE')

/** A project of a user who has installed the package as it would be published, and nothing of this repository. */
export class Packed {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-packed-'))
  /** The paths in the package. */
  files: readonly string[] = []

  install(): void {
    const archive = this.#pack()
    const target = join(this.folder, 'node_modules/holdfast')
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', archive, '-C', target, '--strip-components=1'])
    this.files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, ''))
    this.write('package.json', JSON.stringify({ name: 'user', type: 'module', private: true }))
    // Its dependencies are those of its manifest, from where this repository has them.
    for (const name of [...Object.keys(manifest.dependencies), 'ai', 'react', '@types/node', '@types/react'])
      this.link(name)
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text)
  }

  /** Runs a program of the repository's tools, or Node itself, in the project. */
  run(program: 'node' | 'tsc', args: readonly string[]): string {
    const env = { PATH: process.env['PATH'] ?? '', HOME: this.folder }
    const file = program === 'node' ? process.execPath : join(root, 'node_modules/.bin', program)
    return execFileSync(file, args, { cwd: this.folder, env, encoding: 'utf8' })
  }

  /** Puts a package of this repository into the project, as if it had been installed. */
  link(name: string): void {
    const link = join(this.folder, 'node_modules', name)
    if (existsSync(link)) return
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** In a copy, so that the repository's own build is left as it is. */
  #pack(): string {
    const copy = join(this.folder, 'copy')
    mkdirSync(copy)
    for (const file of [...buildFiles, ...docs]) cpSync(join(root, file), join(copy, file), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`
    const options = { cwd: copy, env: { ...process.env, PATH: path }, encoding: 'utf8' } as const
    execFileSync(process.execPath, ['scripts/build.ts'], options)
    const name = execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], options).trim()
    return join(copy, name)
  }
}
