import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReplayMismatch } from '../../../src/core/replay.ts'
import { contains } from '../../../src/core/step.ts'
import { foldParts, standing } from './fold-parts.ts'
import { Choices, Machine } from './step-machine.ts'
import { type Node, type Program, programs, replaceStep, type StepNode, stepsIn, textsIn } from './step-program.ts'

const choices = fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 })
/** After how many moves each attempt but the last crashes. */
const crashes = fc.array(fc.nat({ max: 25 }), { maxLength: 4 })
const numRuns = 400

const sequences = programs({ forks: false, repeats: false })
const sequencesWithRepeats = programs({ forks: false, repeats: true })
const forks = programs({ forks: true, repeats: false })

/** Runs a program through its crashes to its end. */
function runThrough(program: Program, numbers: readonly number[], moves: readonly number[]): Machine {
  const machine = new Machine(new Choices(numbers))
  const hasEnded = moves.some((count) => machine.run(program, count))
  if (!hasEnded) machine.run(program)
  return machine
}

describe('a program that crashes at any points of its record', () => {
  it.each([
    ['of steps in sequence', sequencesWithRepeats],
    ['of parallel branches', forks],
  ])('%s comes to its end with every step recorded once and begun anew only while unrecorded', (_kind, anyProgram) => {
    fc.assert(
      fc.property(anyProgram, choices, crashes, (program, numbers, moves) => {
        const { steps, begun } = runThrough(program, numbers, moves)
        const paths = steps.map((step) => step.key)
        expect(new Set(paths).size).toBe(paths.length)
        expect(new Set(begun)).toEqual(new Set(paths))
        expect(paths.length).toBe(stepsIn(program).length)
        for (const count of countsOf(begun).values()) expect(count).toBeLessThanOrEqual(moves.length + 1)
      }),
      { numRuns },
    )
  })

  it.each([
    ['of parallel branches', forks],
    ['of steps in sequence that sometimes fail', programs({ forks: false, repeats: true, flaky: true })],
    ['of parallel branches whose steps sometimes fail', programs({ forks: true, repeats: false, flaky: true })],
  ])('%s begins no step again once it is recorded', (_kind, anyProgram) => {
    fc.assert(
      fc.property(anyProgram, choices, crashes, (program, numbers, moves) => {
        const machine = new Machine(new Choices(numbers))
        for (const count of [...moves, Number.POSITIVE_INFINITY]) {
          const recorded = machine.steps.map((step) => step.key)
          const begunBefore = machine.begun.length
          const hasEnded = machine.run(program, count)
          const begun = machine.begun.slice(begunBefore)
          expect(begun.filter((path) => recorded.some((key) => key === path || contains(key, path)))).toEqual([])
          if (hasEnded) return
        }
      }),
      { numRuns },
    )
  })

  it('says everything once, in whatever order its branches run', () => {
    fc.assert(
      fc.property(forks, choices, crashes, (program, numbers, moves) => {
        const { log } = runThrough(program, numbers, moves)
        const said = standing(log).flatMap(({ type, data }) => (type === 'text.delta' ? textOf(data) : []))
        expect(said.toSorted()).toEqual(textsIn(program).toSorted())
      }),
      { numRuns },
    )
  })

  it('says everything in order, if it is a sequence and no step speaks between its own steps', () => {
    fc.assert(
      fc.property(sequences.map(quietOutside), choices, crashes, (program, numbers, moves) => {
        const { log } = runThrough(program, numbers, moves)
        expect(foldParts(log).said).toBe(textsIn(program).join(''))
      }),
      { numRuns },
    )
  })
})

describe('a program that was changed after its record was made', () => {
  const changes: readonly [string, (step: StepNode) => Program][] = [
    ['renamed', (step) => [{ ...step, key: 'other' }]],
    ['removed', () => []],
    ['unwrapped or removed', (step) => step.body],
    ['wrapped', (step) => [{ is: 'step', key: 'other', kind: 'step', body: [step] }]],
  ]

  it.each(changes)('is a mismatch if a recorded step is %s', (_title, change) => {
    expectMismatch(forks, reachable, change)
  })

  it.each(changes)(
    'is a mismatch before any new step runs if the steps are a sequence and one is %s',
    (_title, change) => {
      expectMismatch(sequences, reachable, change, beforeAnything)
    },
  )

  it('is a mismatch before any new step runs if a step is inserted before a recorded one of a sequence', () => {
    const inserted: Node = { is: 'step', key: 'other', kind: 'step', body: [] }
    expectMismatch(sequences, reachable, (step) => [inserted, step], beforeAnything)
  })

  it('is a mismatch if a recorded step has another kind or another input', () => {
    expectMismatch(forks, answering, (step) => [{ ...step, kind: 'until' }])
    expectMismatch(
      forks,
      answering,
      (step) => [{ ...step, input: 'changed' }],
      undefined,
      (step) => step.input !== undefined && step.kind !== 'spawn' && step.kind !== 'sleep',
    )
    expectMismatch(sequences, answering, (step) => [{ ...step, kind: 'until' }], beforeAnything)
  })

  it('is no mismatch if only what is not recorded has changed', () => {
    fc.assert(
      fc.property(forks, choices, fc.nat({ max: 25 }), fc.nat(), (program, numbers, moves, pick) => {
        const machine = new Machine(new Choices(numbers))
        if (machine.run(program, moves)) return
        const paths = machine.steps.map((step) => step.key)
        const target = pickFrom(
          stepsIn(program),
          pick,
          ({ path }) => !reachable(paths, path) && !isAnswered(paths, path),
        )
        if (!target) return
        const changed = replaceStep(program, target.path, (step) => [{ ...step, key: 'other' }])
        expect(machine.run(changed)).toBe(true)
      }),
      { numRuns },
    )
  })
})

type Reach = (recorded: readonly string[], path: string) => boolean

/** Inside a step that answers from its record, which is not entered. */
function isAnswered(recorded: readonly string[], path: string): boolean {
  return recorded.some((key) => contains(key, path))
}

/** A step that will be asked for and answers from its record. */
function answering(recorded: readonly string[], path: string): boolean {
  return recorded.includes(path) && !isAnswered(recorded, path)
}

/** A step whose path the record knows: its own, or that of a step inside it. */
function reachable(recorded: readonly string[], path: string): boolean {
  return answering(recorded, path) || (!isAnswered(recorded, path) && recorded.some((key) => contains(path, key)))
}

/** A changed sequence is found out before it takes a step that it had not taken; what was open is entered again. */
function beforeAnything(machine: Machine, begunBefore: readonly string[], stepCount: number): void {
  expect(machine.steps.length).toBe(stepCount)
  expect(machine.begun.filter((path) => !begunBefore.includes(path))).toEqual([])
}

function expectMismatch(
  anyProgram: fc.Arbitrary<Program>,
  reach: Reach,
  change: (step: StepNode) => Program,
  check?: typeof beforeAnything,
  fits: (step: StepNode) => boolean = () => true,
): void {
  let tried = 0
  fc.assert(
    fc.property(anyProgram, choices, fc.nat({ max: 25 }), fc.nat(), crashes, (program, numbers, moves, pick, more) => {
      const machine = new Machine(new Choices(numbers))
      if (machine.run(program, moves)) return
      const recorded = machine.steps.map((step) => step.key)
      const target = pickFrom(stepsIn(program), pick, ({ path, step }) => reach(recorded, path) && fits(step))
      if (!target) return
      tried += 1
      const begun = [...machine.begun]
      const changed = replaceStep(program, target.path, change)
      const goOn = () => more.some((count) => machine.run(changed, count)) || machine.run(changed)
      expect(goOn).toThrow(ReplayMismatch)
      check?.(machine, begun, recorded.length)
    }),
    { numRuns },
  )
  expect(tried).toBeGreaterThan(numRuns / 20)
}

function pickFrom<Value>(values: readonly Value[], pick: number, fits: (value: Value) => boolean): Value | undefined {
  const fitting = values.filter(fits)
  return fitting[pick % Math.max(fitting.length, 1)]
}

function countsOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

function textOf(data: string): string {
  return (JSON.parse(data) as { text: string }).text
}

/** Leaves only those steps speaking that have no step inside. */
function quietOutside(program: Program): Program {
  const quiet = (nodes: Program): Program => {
    const hasSteps = nodes.some((node) => node.is !== 'say')
    return nodes.flatMap((node): Program => {
      if (node.is === 'say') return hasSteps ? [] : [node]
      return node.is === 'step' ? [{ ...node, body: quiet(node.body) }] : [node]
    })
  }
  return program.map((node) => (node.is === 'step' ? { ...node, body: quiet(node.body) } : node))
}
