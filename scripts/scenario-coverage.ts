// Which scenarios a test report shows to hold. Pure: files are read and lines are printed by scenarios.ts.

const idPattern = /\b[A-Z]{3,4}-\d\d\b/g
const storeNames: readonly string[] = ['memory', 'sqlite', 'postgres']
const shownOn = ['each', 'durable', 'memory', 'postgres', 'once'] as const

export interface Scenario {
  readonly id: string
  readonly stores: (typeof shownOn)[number]
  readonly holds: string
}

/** What must be carried by now, on which stores. */
export interface Due {
  readonly stores: readonly string[]
  readonly ids: ReadonlySet<string>
}

/** A test of vitest's JSON report. */
export interface TestResult {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
}

export interface Coverage {
  readonly covered: readonly Scenario[]
  /** Due, and not shown. `on` names the stores that lack it; empty if no store is involved. */
  readonly missing: readonly { readonly scenario: Scenario; readonly on: readonly string[] }[]
  /** Neither due nor shown. */
  readonly later: readonly Scenario[]
  /** Carried by a test, or due, but not on the page. */
  readonly unknown: readonly string[]
}

/** The tables of docs/scenarios.md. */
export function parseScenarios(page: string): Scenario[] {
  const rows = page.matchAll(/^\| ([A-Z]{3,4}-\d\d) \| (\w+) \| (.*) \|$/gm)
  const scenarios = [...rows].map(([, id = '', stores = '', holds = '']) => ({
    id,
    stores: shownOnOf(id, stores),
    holds,
  }))
  const ids = scenarios.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new Error(`${twice} is on the page twice`)
  return scenarios
}

/** The lines of docs/scenarios-due.txt. */
export function parseDue(text: string): Due {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  const stores = lines.flatMap((line) => (line.startsWith('stores ') ? line.split(/\s+/).slice(1) : []))
  if (stores.length === 0) throw new Error('A line "stores …" has to name the stores that are there')
  const ranges = lines.filter((line) => line !== '' && !line.startsWith('stores '))
  return { stores, ids: new Set(ranges.flatMap(expandRange)) }
}

export function coverage(scenarios: readonly Scenario[], due: Due, tests: readonly TestResult[]): Coverage {
  const carriers = carriersById(tests)
  const judged = scenarios.map((scenario) => {
    const on = storesWithout(carriers.get(scenario.id) ?? [], storesOf(scenario, due.stores))
    return { scenario, on, isDue: due.ids.has(scenario.id) }
  })
  const known = new Set(scenarios.map(({ id }) => id))
  const families = new Set(scenarios.map(({ id }) => familyOf(id)))
  // A title may speak of UTF-16 without meaning a scenario.
  const carried = [...carriers.keys()].filter((id) => families.has(familyOf(id)))
  return {
    covered: judged.filter(({ on }) => on === undefined).map(({ scenario }) => scenario),
    missing: judged.flatMap(({ scenario, on, isDue }) => (on !== undefined && isDue ? [{ scenario, on }] : [])),
    later: judged.filter(({ on, isDue }) => on !== undefined && !isDue).map(({ scenario }) => scenario),
    unknown: [...new Set([...carried, ...due.ids])].filter((id) => !known.has(id)),
  }
}

function shownOnOf(id: string, stores: string): Scenario['stores'] {
  const found = shownOn.find((word) => word === stores)
  if (found === undefined) throw new Error(`${id} has "${stores}" for its stores; use one of ${shownOn.join(', ')}`)
  return found
}

function expandRange(range: string): string[] {
  const [, family, first, last] = /^([A-Z]{3,4})-(\d\d)(?:\.\.(\d\d))?$/.exec(range) ?? []
  if (family === undefined || first === undefined) throw new Error(`"${range}" is neither an id nor a range of ids`)
  const count = Number(last ?? first) - Number(first) + 1
  if (count < 1) throw new Error(`"${range}" ends before it begins`)
  return Array.from({ length: count }, (_, n) => `${family}-${String(Number(first) + n).padStart(2, '0')}`)
}

function familyOf(id: string): string {
  return id.slice(0, -3)
}

function carriersById(tests: readonly TestResult[]): Map<string, TestResult[]> {
  const carriers = new Map<string, TestResult[]>()
  for (const test of tests) {
    for (const id of new Set(test.title.match(idPattern))) carriers.set(id, [...(carriers.get(id) ?? []), test])
  }
  return carriers
}

function storesOf(scenario: Scenario, stores: readonly string[]): readonly string[] {
  if (scenario.stores === 'once') return []
  if (scenario.stores === 'each') return stores
  if (scenario.stores === 'durable') return stores.filter((store) => store !== 'memory')
  return [scenario.stores]
}

/** The stores on which no test passed or one failed; undefined if the scenario is shown wherever it has to be. */
function storesWithout(tests: readonly TestResult[], stores: readonly string[]): string[] | undefined {
  if (stores.length === 0) return holds(tests) ? undefined : []
  const without = stores.filter((store) => !holds(tests.filter((test) => storeOf(test) === store)))
  return without.length === 0 ? undefined : without
}

function holds(tests: readonly TestResult[]): boolean {
  return tests.some(({ status }) => status === 'passed') && !tests.some(({ status }) => status === 'failed')
}

function storeOf(test: TestResult): string | undefined {
  return test.ancestorTitles.find((title) => storeNames.includes(title))
}
