// Looks at what the package brings along: published advisories, licences, origins, the files that would be published, and the
// bill of materials. Prints a line for each, and fails if one of them does. It needs a build. The registry may not be there to be asked
// about advisories: that is said aloud, and with REQUIRE_AUDIT=1 it fails as well.
import { spawnSync } from 'node:child_process'
import { findingText, readAudit } from './supply-chain/audit.ts'
import { licenceProblems } from './supply-chain/licences.ts'
import { originProblems, scriptProblems } from './supply-chain/origins.ts'
import { packedProblems, pathsOfPack } from './supply-chain/packed-files.ts'
import { sbomOf, sbomProblems } from './supply-chain/sbom.ts'
import { readShipment } from './supply-chain/shipped.ts'

interface Looked {
  /** What is said where there is no problem. */
  readonly good: string
  readonly problems: readonly string[]
  /** What does not fail the check, and must not be overlooked. */
  readonly warnings?: readonly string[]
}

const { lock, packages, direct } = readShipment()

const checks: Readonly<Record<string, () => Looked>> = { audit, licences, origins, packed, sbom }
for (const [name, check] of Object.entries(checks)) {
  const { good, problems, warnings = [] } = check()
  for (const problem of problems) console.error(`${name}: FAILED: ${problem}`)
  for (const warning of warnings) console.warn(`${name}: WARNING: ${warning}`)
  if (problems.length > 0) process.exitCode = 1
  else if (warnings.length === 0) console.log(`${name}: ${good}`)
}

function audit(): Looked {
  const asked = readAudit(npm('audit', '--json', '--fetch-retries=0'), new Set(packages.map(({ path }) => path)))
  if (asked.isAsked) {
    const { findings } = asked
    const good = `no advisory for ${lock.packages.size} packages`
    const [failing, others] = [findings.filter((one) => one.isFailing), findings.filter((one) => !one.isFailing)]
    return { good, problems: failing.map(findingText), warnings: others.map(findingText) }
  }
  const unasked = `advisories could not be asked for, so nothing is known of them: ${asked.why}`
  if (process.env['REQUIRE_AUDIT'] === '1') return { good: '', problems: [unasked] }
  return { good: '', problems: [], warnings: [`${unasked} (REQUIRE_AUDIT=1 makes this fail)`] }
}

function licences(): Looked {
  return { good: `all of ${packages.length} shipped packages may be used`, problems: licenceProblems(packages) }
}

function origins(): Looked {
  const all = [...lock.packages.values()]
  const whence = `${all.length} packages with a digest, none of which is said to come from elsewhere than the registry`
  const good = `${whence}; no shipped one runs a script when it is installed`
  return { good, problems: [...originProblems(all), ...scriptProblems(packages)] }
}

function packed(): Looked {
  const paths = pathsOfPack(npm('pack', '--dry-run', '--json', '--ignore-scripts'))
  return { good: `${paths.length} files, all of known kinds`, problems: packedProblems(paths) }
}

function sbom(): Looked {
  const problems = sbomProblems(sbomOf(lock, packages, direct), packages)
  return { good: `${packages.length} components, each with version, licence and digest`, problems }
}

/** What npm prints. Its exit code says no more than that; an audit that found something ends with 1. */
function npm(...args: readonly string[]): string {
  const { stdout, error } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (error) throw error
  return stdout
}
