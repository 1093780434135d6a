// Builds the package into dist/: compiled sources, the SQL files that they read at run time, and the console.
import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'

// A file that was renamed or deleted must not live on in what is published.
rmSync('dist', { recursive: true, force: true })

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })

for (const source of globSync('src/**/*.sql')) {
  const target = path.join('dist', path.relative('src', source))
  mkdirSync(path.dirname(target), { recursive: true })
  copyFileSync(source, target)
}

await import('./build-console.ts')
