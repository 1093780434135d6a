import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { publicNames } from './public-names.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, string | { default: string }>
}

// A subpath that is a plain file, such as package.json, exports no names.
const sources = new Map(
  Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[subpath, sourceOf(target.default)] as const],
  ),
)

describe('the public names', () => {
  it('are listed for every subpath', () => {
    expect(Object.keys(publicNames).sort()).toEqual([...sources.keys()].sort())
  })

  const program = ts.createProgram([...sources.values()], compilerOptions())

  it.each([...sources])('of %s are those of the table', (subpath, source) => {
    expect(existsSync(source), `${source}, the source of the export "${subpath}", does not exist`).toBe(true)
    const names = exportedNames(program, source)
    const asRow = `If this is meant, the row of the table is now:\n  '${subpath}': [${names.map((name) => `'${name}'`).join(', ')}],\n`
    expect(names, asRow).toEqual(publicNames[subpath] ?? [])
  })

  it('are named one by one, never with export *', () => {
    const starred = [...sources.values()].filter((file) => existsSync(file) && hasStarExport(file))
    expect(starred).toEqual([])
  })
})

function sourceOf(distPath: string): string {
  return distPath.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile) as { config: unknown }
  return ts.parseJsonConfigFileContent(config, ts.sys, '.').options
}

function exportedNames(program: ts.Program, source: string): string[] {
  const file = program.getSourceFile(source)
  const checker = program.getTypeChecker()
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) return []
  return checker
    .getExportsOfModule(module)
    .map((symbol) => symbol.name)
    .sort()
}

function hasStarExport(source: string): boolean {
  const file = ts.createSourceFile(source, readFileSync(source, 'utf8'), ts.ScriptTarget.Latest)
  return file.statements.some((node) => ts.isExportDeclaration(node) && node.exportClause === undefined)
}
