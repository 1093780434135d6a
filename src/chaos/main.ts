// The program: `npm run chaos -- --minutes 5 --store postgres --nodes 3 --seed 42`.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type ChaosOptions, chaos } from './chaos.ts'
import { checkHistory } from './check/check-case.ts'
import { runRelease } from './release/release.ts'
import { reportText, verdictText } from './report.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    store: { type: 'string' },
    nodes: { type: 'string' },
    url: { type: 'string', multiple: true },
    token: { type: 'string', multiple: true },
    history: { type: 'string' },
    check: { type: 'string' },
    release: { type: 'boolean' },
    phase: { type: 'string', multiple: true },
    scale: { type: 'string' },
  },
})

/** What each use of the program takes. What it would not heed it refuses: whoever asked for it would think it was done. */
const uses = {
  check: { of: '--check', takes: ['check'] },
  release: { of: 'a release', takes: ['release', 'phase', 'scale', 'seed', 'history'] },
  foreign: { of: '--url', takes: ['url', 'token', 'minutes', 'seed', 'history'] },
  own: { of: 'a run on nodes of its own', takes: ['store', 'nodes', 'minutes', 'seed', 'history'] },
} as const

const purpose = purposeOf()
refuseOthers()
if (values.check !== undefined) await checkAgain(values.check)
else if (purpose === 'release') await release()
else await run()

function purposeOf(): keyof typeof uses {
  if (values.check !== undefined) return 'check'
  if (values.release || values.phase) return 'release'
  return values.url ? 'foreign' : 'own'
}

function refuseOthers(): void {
  const { of, takes } = uses[purpose]
  const others = Object.keys(values).filter((name) => !takes.some((taken) => taken === name))
  if (others.length === 0) return
  const list = (names: readonly string[]) => names.map((name) => `--${name}`).join(', ')
  wrong(`${list(others)} cannot be used here: ${of} takes ${list(takes)} alone`)
}

/** All phases of a release, or those that are named. */
async function release(): Promise<void> {
  const { phase, scale, history } = values
  const part = scale === undefined ? 1 : Number(scale)
  if (!(part > 0 && part <= 1)) wrong(`--scale is a number above 0 and at most 1, not ${scale}`)
  const holds = await runRelease({
    seed: seedOf(),
    ...(phase && { phases: phase.flatMap((names) => names.split(',')) }),
    scale: part,
    ...(history !== undefined && { folder: history }),
    tell: (text) => process.stdout.write(text),
  })
  process.exit(holds ? 0 : 1)
}

function seedOf(): number {
  return values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber('seed', values.seed)
}

async function run(): Promise<void> {
  const options = optionsOf()
  process.stdout.write(`seed ${options.seed}\n`)
  const report = await chaos({ ...options, onRound: (round) => process.stdout.write(`round ${round} is over\n`) })
  process.stdout.write(reportText(report))
  process.exit(report.holds ? 0 : 1)
}

/** Checks a history that was written before. */
async function checkAgain(history: string): Promise<void> {
  const verdict = await checkHistory(history)
  process.stdout.write(verdictText(verdict, history))
  process.exit(verdict.holds ? 0 : 1)
}

function optionsOf(): ChaosOptions {
  const { minutes, store, nodes, url, token = [], history } = values
  const pairs = token.map((text) => text.split('=', 2))
  if (url && pairs.some((pair) => pair.length !== 2)) wrong('--token is PRINCIPAL=TOKEN, once for each principal')
  if (url && pairs.length === 0) wrong('--url needs --token PRINCIPAL=TOKEN')
  return {
    seed: seedOf(),
    ...(minutes !== undefined && { minutes: wholeNumber('minutes', minutes) }),
    ...(store !== undefined && { store: storeOf(store) }),
    ...(nodes !== undefined && { nodes: wholeNumber('nodes', nodes) }),
    ...(url && { urls: url, tokens: Object.fromEntries(pairs) as Record<string, string> }),
    ...(history !== undefined && { history }),
  }
}

/** The store of that name, or at that address. */
function storeOf(text: string): string {
  if (/^(sqlite|postgres):?$/.test(text)) return text.endsWith(':') ? text : `${text}:`
  if (/^postgres(ql)?:\/\//.test(text)) return text
  return wrong(`--store is sqlite, postgres or postgres://…, not ${text}`)
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  return wrong(`--${name} is a whole number from 1 on, not ${text}`)
}

function wrong(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
