import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { resolved } from './code-of.ts'
import { describeSymbol } from './describe.ts'
import type { IsPublic } from './members.ts'
import type { ApiName, EntryPoint } from './model.ts'

/** What every entry point of the package exports, read from the sources as the compiler sees them. */
export function readEntryPoints(): readonly EntryPoint[] {
  const sources = entrySources()
  const program = ts.createProgram([...sources.values()], compilerOptions())
  const checker = program.getTypeChecker()
  const modules = [...sources].map(([name, file]) => ({ name, exported: exportsOf(program, checker, file) }))
  const isPublic = new Set(modules.flatMap(({ exported }) => exported.map((symbol) => resolved(checker, symbol))))
  return modules.map(({ name, exported }) => ({
    name,
    names: exported
      .map((symbol) => describeExport(checker, symbol, (other) => isPublic.has(other)))
      .toSorted((one, other) => one.name.localeCompare(other.name, 'en')),
  }))
}

/** The source of each name that the package can be imported by. */
function entrySources(): ReadonlyMap<string, string> {
  const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    name: string
    exports: Record<string, string | { default: string }>
  }
  return new Map(
    Object.entries(exports).flatMap(([subpath, target]) => {
      if (typeof target === 'string') return []
      const source = target.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
      return [[subpath.replace(/^\./, name), source] as const]
    }),
  )
}

function describeExport(checker: ts.TypeChecker, symbol: ts.Symbol, isPublic: IsPublic): ApiName {
  const described = describeSymbol(checker, resolved(checker, symbol), isTypeOnly(symbol), isPublic)
  return { ...described, name: symbol.name }
}

function exportsOf(program: ts.Program, checker: ts.TypeChecker, file: string): readonly ts.Symbol[] {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`${file}, which package.json exports, is not a module`)
  return checker.getExportsOfModule(module)
}

function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    (node) => ts.isExportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly),
  )
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile) as { config: unknown }
  return ts.parseJsonConfigFileContent(config, ts.sys, '.').options
}
