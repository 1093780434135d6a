/** One line of Prometheus text. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** The samples of a Prometheus text. Comments, and lines of a form it does not know, are left out. */
export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((given) => {
    const [, name, labels = '', value = ''] = line.exec(given.trim()) ?? []
    if (name === undefined) return []
    const pairs = Array.from(labels.matchAll(label), ([, key = '', text = '']) => [key, unescaped(text)] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }]
  })
}

/** The sum over all labels, or those that are given; undefined if the server does not tell. */
export function total(samples: readonly Sample[], name: string, labels: Sample['labels'] = {}): number | undefined {
  const wanted = Object.entries(labels)
  const found = samples.filter(
    (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** The mean of a histogram in the time since an earlier reading, or since its beginning. */
export function meanOf(samples: readonly Sample[], name: string, before: readonly Sample[] = []): number | undefined {
  const grown = (part: string) => (total(samples, `${name}_${part}`) ?? 0) - (total(before, `${name}_${part}`) ?? 0)
  const count = grown('count')
  return count > 0 ? grown('sum') / count : undefined
}

/** How fast a counter grows; undefined without two readings, or if it began anew between them. */
export function perSecond(now: number | undefined, before: number | undefined, ms: number): number | undefined {
  if (now === undefined || before === undefined || ms <= 0 || now < before) return undefined
  return ((now - before) * 1000) / ms
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY
  if (text === '-Inf') return Number.NEGATIVE_INFINITY
  return Number(text)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
