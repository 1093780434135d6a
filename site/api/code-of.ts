import path from 'node:path'
import ts from 'typescript'
import type { Code, Declared, Reference } from './model.ts'

/** The text of a declaration from its first word to where its body begins, and what the words in it name. */
export function codeOf(checker: ts.TypeChecker, node: ts.Node, end = node.getEnd()): Code {
  const source = node.getSourceFile()
  const start = node.getStart()
  const written = source.text.slice(start, end)
  // The keywords of a declaration that say how it is shared or run say nothing to its user.
  const skipped = /^(?:export |default |declare |async |override |public )*/.exec(written)?.[0].length ?? 0
  const from = start + skipped
  const { text, positions } = dedented(source.text.slice(from, end).replace(/[\s,;]+$/, ''), columnOf(source, start))
  const references: Reference[] = []
  const visit = (inner: ts.Node) => {
    const to = inner.getStart() >= from && inner.getEnd() <= end ? namedBy(checker, inner) : undefined
    const [first, last] = [positions[inner.getStart() - from], positions[inner.getEnd() - from - 1]]
    if (to && first !== undefined && last !== undefined) references.push({ start: first, end: last + 1, to })
    inner.forEachChild(visit)
  }
  visit(node)
  return { text, references }
}

/** A text that was made and not found, such as a type that nobody wrote down. */
export function plainCode(text: string): Code {
  return { text, references: [] }
}

/** Where a symbol is declared in these sources; undefined if it comes from elsewhere. */
export function declarationOf(symbol: ts.Symbol): Declared | undefined {
  const node = symbol.declarations?.[0]
  if (!node) return undefined
  const source = node.getSourceFile()
  const file = path.relative(process.cwd(), source.fileName)
  if (!file.startsWith('src/')) return undefined
  return { file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, name: symbol.name }
}

export function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function namedBy(checker: ts.TypeChecker, node: ts.Node): Declared | undefined {
  if (!ts.isIdentifier(node)) return undefined
  const { parent } = node
  const isReference =
    ts.isTypeReferenceNode(parent) || ts.isExpressionWithTypeArguments(parent) || ts.isTypeQueryNode(parent)
  const symbol = isReference ? checker.getSymbolAtLocation(node) : undefined
  if (!symbol) return undefined
  const target = resolved(checker, symbol)
  return target.flags & ts.SymbolFlags.TypeParameter ? undefined : declarationOf(target)
}

function columnOf(source: ts.SourceFile, start: number): number {
  return source.getLineAndCharacterOfPosition(start).character
}

/** The text with its indentation taken away, and for each of its characters where that is now. */
function dedented(text: string, column: number): { text: string; positions: readonly (number | undefined)[] } {
  const positions: (number | undefined)[] = []
  let result = ''
  let indentLeft = 0
  for (const char of text) {
    const isIndent = indentLeft > 0 && char === ' '
    positions.push(isIndent ? undefined : result.length)
    indentLeft = isIndent ? indentLeft - 1 : 0
    if (!isIndent) result += char
    if (char === '\n') indentLeft = column
  }
  return { text: result, positions }
}
