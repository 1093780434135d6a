// Builds the console into dist/console/. With --if-possible it does nothing where the tools of development are not installed,
// so that what runs after every install does not fail there.
import { createRequire } from 'node:module'

const isPossible = canResolve('vite')
if (isPossible) {
  // Whoever builds it in a test or for development still gets what is published.
  process.env['NODE_ENV'] = 'production'
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.ts', logLevel: 'warn' })
} else if (!process.argv.includes('--if-possible')) {
  throw new Error('Vite is not installed. Run npm ci first')
}

function canResolve(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`)
    return true
  } catch {
    return false
  }
}
