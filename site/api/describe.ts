import ts from 'typescript'
import { codeOf, declarationOf, plainCode } from './code-of.ts'
import { classMembers, type IsPublic, interfaceMembers } from './members.ts'
import type { ApiKind, ApiMember, ApiName, Code } from './model.ts'
import { signatureCode } from './signature-code.ts'

/** What a symbol is to whoever imports it. `isType` if its value cannot be imported. */
export function describeSymbol(
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  isType: boolean,
  isPublic: IsPublic,
): ApiName {
  const declared = declarationOf(symbol)
  if (!declared) throw new Error(`${symbol.name} is exported, but nothing in src/ declares it`)
  const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  return { name: symbol.name, declared, comment, ...shapeOf(checker, symbol, isType, isPublic) }
}

interface Shape {
  readonly kind: ApiKind
  readonly signatures: readonly Code[]
  readonly members: readonly ApiMember[]
}

function shapeOf(checker: ts.TypeChecker, symbol: ts.Symbol, isType: boolean, isPublic: IsPublic): Shape {
  const declarations = symbol.declarations ?? []
  const functions = declarations.filter(ts.isFunctionDeclaration)
  if (functions.length > 0) return { kind: 'function', signatures: functionCodes(checker, functions), members: [] }
  const [node] = declarations
  if (node && ts.isClassDeclaration(node)) {
    const head = codeOf(checker, node, headEnd(node.members.pos))
    return { kind: 'class', signatures: [head], members: classMembers(checker, node, isType) }
  }
  if (node && ts.isInterfaceDeclaration(node)) {
    const head = codeOf(checker, node, headEnd(node.members.pos))
    return { kind: 'interface', signatures: [head], members: interfaceMembers(checker, node, isPublic) }
  }
  if (node && ts.isTypeAliasDeclaration(node)) {
    const isObject = ts.isTypeLiteralNode(node.type)
    const members = ts.isTypeLiteralNode(node.type) ? interfaceMembers(checker, node.type, isPublic) : []
    const words = wordsOf(checker, node)
    const signature = words ?? codeOf(checker, node, isObject ? node.type.getStart() : undefined)
    return { kind: 'type', signatures: [withoutEquals(signature, isObject)], members }
  }
  return constantShape(checker, symbol, node)
}

function constantShape(checker: ts.TypeChecker, symbol: ts.Symbol, node: ts.Declaration | undefined): Shape {
  if (!node) throw new Error(`${symbol.name} has no declaration`)
  const type = checker.getTypeOfSymbolAtLocation(symbol, node)
  const calls = type.getCallSignatures()
  const flags = ts.TypeFormatFlags.NoTruncation
  if (calls.length > 0) {
    const texts = calls.map((call) => `function ${symbol.name}${checker.signatureToString(call, node, flags)}`)
    return { kind: 'function', signatures: texts.map(plainCode), members: [] }
  }
  const text = `const ${symbol.name}: ${checker.typeToString(type, node, flags)}`
  return { kind: 'constant', signatures: [plainCode(text)], members: [] }
}

/** Where there are overloads, the declaration with the body is not one of them. */
function functionCodes(checker: ts.TypeChecker, declarations: readonly ts.FunctionDeclaration[]): readonly Code[] {
  const overloads = declarations.filter(({ body }) => !body)
  const shown = overloads.length > 0 ? overloads : declarations
  return shown.map((node) => signatureCode(checker, node))
}

/** The words that a type allows, where the sources say only which list they are taken from. */
function wordsOf(checker: ts.TypeChecker, node: ts.TypeAliasDeclaration): Code | undefined {
  const words = listedIn(checker, node.type).map((word) => `'${word}'`)
  if (words.length === 0) return undefined
  const line = `type ${node.name.text} = ${words.join(' | ')}`
  return plainCode(line.length < 100 ? line : `type ${node.name.text} =\n  | ${words.join('\n  | ')}`)
}

/** In the order of the list: `(typeof list)[number]`, or the keys of an interface. */
function listedIn(checker: ts.TypeChecker, node: ts.TypeNode): readonly string[] {
  if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.KeyOfKeyword) {
    return checker
      .getTypeFromTypeNode(node.type)
      .getProperties()
      .map(({ name }) => name)
  }
  if (!ts.isIndexedAccessTypeNode(node)) return []
  const list = checker.getTypeFromTypeNode(node.objectType)
  if (!checker.isTupleType(list)) return []
  return checker.getTypeArguments(list as ts.TypeReference).flatMap((one) => (one.isStringLiteral() ? one.value : []))
}

function withoutEquals(code: Code, isObject: boolean): Code {
  return isObject ? { ...code, text: code.text.replace(/\s*=\s*$/, '') } : code
}

/** The place before the brace that opens the members. */
function headEnd(membersStart: number): number {
  return membersStart - 1
}
