import ts from 'typescript'
import { codeOf, declarationOf, resolved } from './code-of.ts'
import type { ApiMember } from './model.ts'
import { signatureCode } from './signature-code.ts'

/** Whether users can import it. */
export type IsPublic = (symbol: ts.Symbol) => boolean

/** The members of an interface, and those of what it extends where that cannot be imported and so has no place of its own. */
export function interfaceMembers(
  checker: ts.TypeChecker,
  node: ts.InterfaceDeclaration | ts.TypeLiteralNode,
  isPublic: IsPublic,
): readonly ApiMember[] {
  const own = node.members.map((member) => ({
    name: nameOf(member),
    code: codeOf(checker, member),
    comment: commentAbove(checker, member),
  }))
  if (ts.isTypeLiteralNode(node)) return own
  return [...own, ...basesOf(node).flatMap((base) => inherited(checker, base, isPublic))]
}

function basesOf(node: ts.InterfaceDeclaration): readonly ts.ExpressionWithTypeArguments[] {
  return node.heritageClauses?.flatMap(({ types }) => [...types]) ?? []
}

function inherited(
  checker: ts.TypeChecker,
  base: ts.ExpressionWithTypeArguments,
  isPublic: IsPublic,
): readonly ApiMember[] {
  return hiddenInterfaces(checker, base, isPublic).flatMap((declaration) => [
    ...interfaceMembers(checker, declaration, isPublic),
    // What a hidden one extends is seen in no head, so that it is named here.
    ...basesOf(declaration)
      .filter((further) => hiddenInterfaces(checker, further, isPublic).length === 0)
      .map((further) => ({
        name: further.getText(),
        code: codeOf(checker, further),
        comment: 'And everything of this.',
      })),
  ])
}

function hiddenInterfaces(
  checker: ts.TypeChecker,
  base: ts.ExpressionWithTypeArguments,
  isPublic: IsPublic,
): readonly ts.InterfaceDeclaration[] {
  const named = checker.getSymbolAtLocation(base.expression)
  const symbol = named && resolved(checker, named)
  if (!symbol || isPublic(symbol) || !declarationOf(symbol)) return []
  return (symbol.declarations ?? []).filter(ts.isInterfaceDeclaration)
}

/** What users of an object of the class can reach; how it is made as well, if they can make one. */
export function classMembers(
  checker: ts.TypeChecker,
  node: ts.ClassDeclaration,
  isType: boolean,
): readonly ApiMember[] {
  const withoutBody = new Set(
    node.members.flatMap((member) => (ts.isMethodDeclaration(member) && !member.body ? [nameOf(member)] : [])),
  )
  return node.members.flatMap((member) => {
    if (!isReachable(member, isType)) return []
    const name = nameOf(member)
    // The one with the body is not an overload, but what is behind them.
    if (ts.isMethodDeclaration(member) && member.body && withoutBody.has(name)) return []
    return [{ name, code: classMemberCode(checker, member), comment: commentAbove(checker, member) }]
  })
}

function isReachable(member: ts.ClassElement, isType: boolean): boolean {
  if (member.name && ts.isPrivateIdentifier(member.name)) return false
  const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : []
  const kinds = modifiers.map(({ kind }) => kind)
  if (kinds.includes(ts.SyntaxKind.PrivateKeyword) || kinds.includes(ts.SyntaxKind.ProtectedKeyword)) return false
  const isMaking = ts.isConstructorDeclaration(member) || kinds.includes(ts.SyntaxKind.StaticKeyword)
  return !(isType && isMaking) && !ts.isClassStaticBlockDeclaration(member)
}

function classMemberCode(checker: ts.TypeChecker, member: ts.ClassElement) {
  if (ts.isMethodDeclaration(member) || ts.isGetAccessorDeclaration(member) || ts.isConstructorDeclaration(member)) {
    return signatureCode(checker, member)
  }
  if (ts.isPropertyDeclaration(member) && member.initializer) {
    return codeOf(checker, member, member.type?.getEnd() ?? member.name.getEnd())
  }
  return codeOf(checker, member)
}

function nameOf(member: ts.TypeElement | ts.ClassElement): string {
  if (ts.isConstructorDeclaration(member)) return 'constructor'
  if (ts.isCallSignatureDeclaration(member)) return 'call'
  if (!member.name) return 'index'
  return ts.isStringLiteral(member.name) ? member.name.text : member.name.getText()
}

function commentAbove(checker: ts.TypeChecker, member: ts.Declaration): string {
  const symbol = (member as { symbol?: ts.Symbol }).symbol
  // Each overload has a comment of its own.
  const own = ts
    .getJSDocCommentsAndTags(member)
    .flatMap((comment) => (ts.isJSDoc(comment) ? (ts.getTextOfJSDocComment(comment.comment) ?? '') : []))
    .join('\n')
  return own || (symbol ? ts.displayPartsToString(symbol.getDocumentationComment(checker)) : '')
}
