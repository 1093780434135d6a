import type { Runtime } from '../../src/index.ts'

/** What a runtime has counted under a name, over all labels but for those given. */
export async function counterOf(
  runtime: Runtime,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = (await runtime.metricsText()) ?? ''
  const samples = text.matchAll(/^(?<of>\w+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/gm)
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const values = [...samples]
    .map(({ groups }) => ({ of: groups?.['of'], has: groups?.['labels']?.split(',') ?? [], value: groups?.['value'] }))
    .filter(({ of, has }) => of === name && wanted.every((label) => has.includes(label)))
    .map(({ value }) => Number(value))
  if (values.length === 0) throw new Error(`${name} is not in the text`)
  return values.reduce((sum, value) => sum + value, 0)
}
