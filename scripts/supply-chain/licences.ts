// Which licences may reach users with the package.
import type { LockedPackage } from './lock.ts'

/** Licences (SPDX) that ask for no more than a notice. What asks for sources, or for nothing to be sold, is not among them. */
const allowedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

/** A sentence for each package whose licence is not allowed. */
export function licenceProblems(packages: readonly LockedPackage[]): readonly string[] {
  return packages
    .filter(({ licence }) => !isAllowed(licence ?? ''))
    .map(({ name, version, licence }) => {
      if (licence === undefined) return `${name}@${version} states no licence`
      return `${name}@${version} has the licence ${licence}, which is not in the list of scripts/supply-chain/licences.ts`
    })
}

/** Whether an SPDX expression leaves a choice that is allowed. One that cannot be read does not. */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? []
  let position = 0
  const isNext = (word: string) => {
    if (tokens[position]?.toUpperCase() !== word) return false
    position += 1
    return true
  }
  const either = (): boolean => {
    let result = both()
    while (isNext('OR')) result = both() || result
    return result
  }
  const both = (): boolean => {
    let result = one()
    while (isNext('AND')) result = one() && result
    return result
  }
  const one = (): boolean => {
    if (isNext('(')) {
      const result = either()
      return isNext(')') && result
    }
    const id = tokens[position] ?? ''
    position += 1
    // An exception only adds permissions, yet nobody has read it.
    if (isNext('WITH')) {
      position += 1
      return false
    }
    return allowedLicences.has(id)
  }
  const result = either()
  return result && position === tokens.length
}
