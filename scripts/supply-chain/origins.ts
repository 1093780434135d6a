// Where packages come from, and what they may do while they are installed.
import type { LockedPackage } from './lock.ts'

const registry = 'https://registry.npmjs.org/'

/**
 * A sentence for each package that could be another than the one that was looked at: without a digest of its archive, or said to come
 * from somewhere else than the registry. Where the lock file says nothing, npm asks the registry that is set; the digest holds all the same.
 */
export function originProblems(packages: readonly LockedPackage[]): readonly string[] {
  return packages.flatMap(({ path, version, integrity, resolved }) => {
    const problems: string[] = []
    if (!integrity?.startsWith('sha512-'))
      problems.push(`${path}@${version} has no SHA-512 digest in package-lock.json`)
    if (resolved !== undefined && !resolved.startsWith(registry)) {
      problems.push(`${path}@${version} comes from ${resolved}, not from the registry`)
    }
    return problems
  })
}

/** A sentence for each package that would run code of its own on the machine of whoever installs ours. */
export function scriptProblems(packages: readonly LockedPackage[]): readonly string[] {
  return packages
    .filter(({ hasInstallScript }) => hasInstallScript)
    .map(({ name, version }) => `${name}@${version} runs a script when it is installed`)
}
