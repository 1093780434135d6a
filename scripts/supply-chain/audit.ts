// Reads what `npm audit --json` says of published advisories.

const severities = ['info', 'low', 'moderate', 'high', 'critical'] as const
type Severity = (typeof severities)[number]

/** From which severity on a finding fails the check. What users install is held to more than what only builds and tests it. */
const thresholds = { shipped: 'low', development: 'high' } as const satisfies Record<string, Severity>

export interface Finding {
  readonly name: string
  readonly severity: Severity
  readonly isShipped: boolean
  readonly isFailing: boolean
  /** What it is about: titles and addresses of advisories, or names of packages that it comes by. */
  readonly about: readonly string[]
}

/** An audit that could not be asked is no audit that found nothing. */
export type Audit =
  | { readonly isAsked: true; readonly findings: readonly Finding[] }
  | { readonly isAsked: false; readonly why: string }

interface Report {
  readonly auditReportVersion?: number
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>
  readonly message?: string
  readonly error?: { readonly code?: string; readonly summary?: string }
}

interface Vulnerability {
  readonly name: string
  readonly severity: Severity
  readonly via: readonly (string | { readonly title: string; readonly url: string })[]
  /** Where it is installed. */
  readonly nodes: readonly string[]
}

export function readAudit(output: string, shippedPaths: ReadonlySet<string>): Audit {
  const report = parsed(output)
  if (report?.auditReportVersion !== 2 || !report.vulnerabilities) {
    return { isAsked: false, why: firstLine(report?.message || report?.error?.summary || output || 'npm said nothing') }
  }
  const findings = Object.values(report.vulnerabilities).map((one) => finding(one, shippedPaths))
  return { isAsked: true, findings: findings.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

export function findingText({ name, severity, isShipped, about }: Finding): string {
  return `${name} (${isShipped ? 'shipped' : 'development'}, ${severity}): ${about.join('; ')}`
}

function finding({ name, severity, via, nodes }: Vulnerability, shippedPaths: ReadonlySet<string>): Finding {
  const isShipped = nodes.some((path) => shippedPaths.has(path))
  const threshold = isShipped ? thresholds.shipped : thresholds.development
  return {
    name,
    severity,
    isShipped,
    // A severity that is not known counts as the worst.
    isFailing: !severities.includes(severity) || severities.indexOf(severity) >= severities.indexOf(threshold),
    about: via.map((one) => (typeof one === 'string' ? `by ${one}` : `${one.title} ${one.url}`)),
  }
}

function parsed(output: string): Report | undefined {
  try {
    return JSON.parse(output) as Report
  } catch {
    return undefined
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}
