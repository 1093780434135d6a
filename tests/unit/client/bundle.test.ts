import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { describe, expect, it } from 'vitest'

const gzipBytesMax = 12 * 1000

/** The client as a page would load it: one file, without comments and white space. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: 'src/client/index.ts', preserveEntrySignatures: 'strict', output: { format: 'es' } },
    },
  })
  const [first] = Array.isArray(built) ? built : [built]
  if (!first || !('output' in first)) throw new Error('A build gives its output')
  const [file, ...others] = first.output
  expect(others).toEqual([])
  return file.code
}

describe('the bundle of the client', () => {
  it('is small, and needs nothing that a browser has not', async () => {
    const code = await bundle()
    const bytes = gzipSync(code).length
    expect(bytes, `${bytes} bytes`).toBeLessThanOrEqual(gzipBytesMax)
    expect(bytes).toBeGreaterThan(2_000)
    expect(code).not.toMatch(/\bfrom\s*["']/)
    expect(code).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(|node:/)
  })
})
