import fc from 'fast-check'
import { contains, type StepKind } from '../../../src/core/step.ts'

/** A tiny agent: it speaks, takes steps one after the other and inside each other, and forks into parallel branches. */
export type Program = readonly Node[]

export type Node =
  | { readonly is: 'say'; readonly text: string }
  | StepNode
  | { readonly is: 'fork'; readonly branches: readonly Program[] }

export interface StepNode {
  readonly is: 'step'
  readonly key: string
  readonly kind: StepKind
  readonly input?: string
  readonly body: Program
  /** Sometimes throws before it does anything; the code around it goes on. */
  readonly isFlaky?: boolean
}

interface Shape {
  readonly forks: boolean
  /** Keys that occur again in one scope, so that they get their ordinals. Branches must not share them. */
  readonly repeats: boolean
  readonly flaky?: boolean
}

/** Programs of up to some twenty nodes. */
export function programs({ forks, repeats, flaky = false }: Shape): fc.Arbitrary<Program> {
  const say = fc.constantFrom('x', 'y', 'z').map((text): Node => ({ is: 'say', text }))
  const leaf = fc.record({
    is: fc.constant('step' as const),
    key: fc.constantFrom('k', 'l'),
    kind: fc.constantFrom<StepKind>('step', 'tool', 'spawn', 'sleep'),
    input: fc.constantFrom('in', 'out'),
    body: fc.array(say, { maxLength: 2 }),
  })
  const { program } = fc.letrec<{ program: Program; step: Node; fork: Node }>((tie) => ({
    step: fc.record({
      is: fc.constant('step' as const),
      key: fc.constantFrom('k', 'l'),
      kind: fc.constantFrom<StepKind>('step', 'tool'),
      body: tie('program'),
      isFlaky: flaky ? fc.boolean() : fc.constant(false),
    }),
    fork: fc.array(tie('program'), { minLength: 2, maxLength: 3 }).map((branches): Node => ({ is: 'fork', branches })),
    program: fc.array(
      fc.oneof(
        { maxDepth: 3, depthSize: 'max' },
        { arbitrary: leaf, weight: 4 },
        { arbitrary: say, weight: 2 },
        { arbitrary: tie('step'), weight: 3 },
        { arbitrary: tie('fork'), weight: forks ? 1 : 0 },
      ),
      { maxLength: 4 },
    ),
  }))
  return repeats ? program : program.map(withUniqueKeys)
}

function withUniqueKeys(program: Program): Program {
  let count = 0
  const relabel = (nodes: Program): Program =>
    nodes.map((node) => {
      if (node.is === 'fork') return { ...node, branches: node.branches.map(relabel) }
      if (node.is === 'step') return { ...node, key: `${node.key}${count++}`, body: relabel(node.body) }
      return node
    })
  return relabel(program)
}

/** The steps of a program whose keys are unique, with their paths. */
export function stepsIn(program: Program, scope?: string): { path: string; step: StepNode }[] {
  return program.flatMap((node) => {
    if (node.is === 'say') return []
    if (node.is === 'fork') return node.branches.flatMap((branch) => stepsIn(branch, scope))
    const path = scope === undefined ? node.key : `${scope}/${node.key}`
    return [{ path, step: node }, ...stepsIn(node.body, path)]
  })
}

/** All that a program says, once each, in the order in which it is written. */
export function textsIn(program: Program): string[] {
  return program.flatMap((node) => {
    if (node.is === 'say') return [node.text]
    return node.is === 'fork' ? node.branches.flatMap(textsIn) : textsIn(node.body)
  })
}

/** The program with the step at this path replaced by other nodes. Its keys are unique. */
export function replaceStep(
  program: Program,
  path: string,
  change: (step: StepNode) => Program,
  scope?: string,
): Program {
  return program.flatMap((node): Program => {
    if (node.is === 'say') return [node]
    if (node.is === 'fork') {
      return [{ ...node, branches: node.branches.map((branch) => replaceStep(branch, path, change, scope)) }]
    }
    const here = scope === undefined ? node.key : `${scope}/${node.key}`
    if (here === path) return change(node)
    return contains(here, path) ? [{ ...node, body: replaceStep(node.body, path, change, here) }] : [node]
  })
}
