import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Misuse } from '../misuse.ts'
import { NodeProcess } from '../nodes/node-process.ts'
import { phases, scaled } from './plan.ts'
import { phaseLine, tableHead, trackText } from './release-text.ts'
import { runPhase } from './run-phase.ts'

export interface ReleaseOptions {
  readonly seed: number
  /** The names of the phases to run; all unless given. */
  readonly phases?: readonly string[]
  /** A part of the size of each phase, to try it; 1 unless given. */
  readonly scale?: number
  /** Where histories are written; a folder of its own unless given. */
  readonly folder?: string
  readonly tell: (text: string) => void
}

const run = promisify(execFile)

/** Runs phases one after the other, and tells the table of figures line by line. Resolves with whether all of them hold. */
export async function runRelease(options: ReleaseOptions): Promise<boolean> {
  const { seed, scale = 1, tell } = options
  const chosen = chosenOf(options.phases)
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'holdfast-release-')))
  await mkdir(folder, { recursive: true })
  const commit = await commitOf()
  tell(`seed ${seed}, commit ${commit}, histories in ${folder}\n`)
  if (scale !== 1) tell(`This is ${scale} of a release, to try it.\n`)
  await warmUp()
  const startedAt = performance.now()
  const lines: string[] = []
  let holds = true
  for (const phase of chosen) {
    const report = await runPhase(scaled(phase, scale), { seed, folder, tell })
    holds &&= report.holds
    lines.push(phaseLine(report, commit))
    tell(`${trackText(report)}${tableHead}${lines.at(-1)}`)
  }
  const took = `${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`
  tell(`\n${tableHead}${lines.join('')}\n${took}. ${holds ? 'It holds.' : 'It does not hold.'}\n`)
  return holds
}

function chosenOf(names: readonly string[] | undefined) {
  const known = phases.map(({ name }) => name)
  const unknown = names?.filter((name) => !known.includes(name)) ?? []
  if (unknown.length > 0) throw new Misuse(`There is no phase ${unknown.join(', ')}: use ${known.join(', ')}`)
  return phases.filter(({ name }) => names?.includes(name) ?? true)
}

/** Which sources were put to the test; `+` if they were changed since. */
async function commitOf(): Promise<string> {
  const cwd = import.meta.dirname
  try {
    const { stdout: commit } = await run('git', ['rev-parse', '--short', 'HEAD'], { cwd })
    const { stdout: changed } = await run('git', ['status', '--porcelain', '--untracked-files=no', ':/src'], { cwd })
    return `${commit.trim()}${changed === '' ? '' : '+'}`
  } catch {
    // What is installed as a package has no history.
    return 'unknown'
  }
}

/** A node that ends in peace leaves behind what it compiled, and those after it start in half the time. Killed ones leave nothing. */
async function warmUp(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-warm-'))
  const env = {
    HOLDFAST_STORE: `sqlite:${join(folder, 'holdfast.db')}`,
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const node = new NodeProcess(env, () => {})
  await node.url
  node.signal('SIGTERM')
  await node.exited
  await rm(folder, { recursive: true, force: true })
}
