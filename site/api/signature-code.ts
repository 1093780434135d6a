import ts from 'typescript'
import { codeOf } from './code-of.ts'
import type { Code } from './model.ts'

/** A function or a method without its body. A result that is not written down is said as it was found. */
export function signatureCode(
  checker: ts.TypeChecker,
  node: ts.FunctionDeclaration | ts.MethodDeclaration | ts.GetAccessorDeclaration | ts.ConstructorDeclaration,
): Code {
  const code = codeOf(checker, node, node.body?.getStart())
  if (node.type || ts.isConstructorDeclaration(node)) return code
  const signature = checker.getSignatureFromDeclaration(node)
  if (!signature) return code
  const type = checker.typeToString(signature.getReturnType(), node, ts.TypeFormatFlags.NoTruncation)
  return { ...code, text: `${code.text}: ${type}` }
}
