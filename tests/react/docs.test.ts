import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { printedBy, programsIn } from '../docs-program.ts'

const root = resolve(import.meta.dirname, '../..')

/** What is wrong with the components of these pages, if they were written in a project of React. */
async function faultsIn(pages: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(pages.map((page) => readFile(join(root, page), 'utf8')))
  const found = texts.map((text) => [...text.matchAll(/^```tsx\n(.*?)^```$/gms)].flatMap((match) => match[1] ?? []))
  expect(found.filter(({ length }) => length === 0)).toEqual([])
  const components = found.flat()
  // Next to the tests, from where React is found.
  const folder = await mkdtemp(join(import.meta.dirname, 'docs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const files = components.map((_, index) => join(folder, `component-${index}.tsx`))
  await Promise.all(files.map((file, index) => writeFile(file, components[index] ?? '')))
  const program = ts.createProgram(files, {
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true, types: ['react'] },
    ...{ jsx: ts.JsxEmit.ReactJSX, target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.ESNext },
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
    paths: { 'holdfast/*': [join(root, 'src/*/index.ts')] },
  })
  const own = ts.getPreEmitDiagnostics(program).filter(({ file }) => file && files.includes(file.fileName))
  return own.map(({ file, messageText, start = 0 }) => {
    const line = file ? file.text.slice(0, start).split('\n').length : 0
    return `${file?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

describe('the page on React', () => {
  it('has components that compile, as does the readme', async () => {
    expect(await faultsIn(['docs/react.md', 'README.md'])).toEqual([])
  }, 60_000)

  it('has a program that renders on a server what was said', async () => {
    const [program = '', ...others] = programsIn(await readFile(join(root, 'docs/react.md'), 'utf8'))
    expect(others).toEqual([])
    expect(await printedBy(program)).toBe(
      '<p>idle: [{&quot;type&quot;:&quot;text&quot;,&quot;text&quot;:&quot;hello&quot;}]</p>\n',
    )
  }, 60_000)

  it('names every hook', async () => {
    const page = await readFile(join(root, 'docs/react.md'), 'utf8')
    const names = Object.keys(await import('../../src/react/index.ts'))
    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })
})
