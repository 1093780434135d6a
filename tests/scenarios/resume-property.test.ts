import fc from 'fast-check'
import { describe, it } from 'vitest'
import { type AgentContext, scriptAgent } from '../../src/index.ts'
import { type Node, type Program, programs, type StepNode } from '../unit/core/step-program.ts'
import { type Crash, crashTestMs, type Story, tell } from './crash-everywhere.ts'
import { checkInvariants, type Executions } from './resume-invariants.ts'

/** Two at most: the third in a row may poison a task that records nothing between. */
const crashes: fc.Arbitrary<Crash[]> = fc.array(
  fc.record({ at: fc.integer({ min: 1, max: 25 }), fault: fc.constantFrom('crash_before', 'crash_after') }),
  { minLength: 1, maxLength: 2 },
)

async function survives(story: Story, plan: readonly Crash[]): Promise<void> {
  const calm = await tell('memory', story, [])
  const played = await tell('memory', story, plan)
  checkInvariants(played.picture, calm.picture, story, JSON.stringify(plan))
}

/*
 * In all of these a child is waited for, or detached: any other is cancelled by its parent's end, in the middle of whatever it
 * is doing by then.
 */

/**
 * An agent that does what a program says, in real branches, with a context that is real too. Children have no names and
 * the innermost tools share one: they are told apart by what they are given.
 */
class Interpreter {
  readonly #executions: Executions

  constructor(executions: Executions) {
    this.#executions = executions
  }

  async run(ctx: AgentContext, program: Program, scope = ''): Promise<void> {
    for (const node of program) await this.#node(ctx, node, scope)
  }

  async #node(ctx: AgentContext, node: Node, scope: string): Promise<void> {
    if (node.is === 'say') return ctx.say(`${node.text} `)
    if (node.is === 'step') return this.#step(ctx, node, scope)
    await Promise.all(node.branches.map((branch) => this.run(ctx, branch, scope)))
  }

  async #step(ctx: AgentContext, { key, kind, input, body }: StepNode, scope: string): Promise<void> {
    const path = `${scope}${key}`
    const inside = async () => {
      this.#executions.note(ctx, path)
      await this.run(ctx, body, `${path}/`)
    }
    if (kind === 'step') return ctx.step(key, inside)
    // Sleeps of one length are not told apart, so each is in a step of its own.
    if (kind === 'sleep') return ctx.step(key, () => ctx.sleep(10))
    if (kind === 'tool' && input === undefined) return ctx.tool(key, {}, inside)
    const given = kind === 'tool' ? await ctx.tool('shared', { key }, () => key) : await this.#child(ctx, key, input)
    if (given !== key) this.#executions.violations.push(`attempt ${ctx.attempt}: ${path} was given ${String(given)}`)
  }

  async #child(ctx: AgentContext, key: string, input: string | undefined): Promise<unknown> {
    const isAwaited = input === 'in'
    const { id } = await ctx.spawn({ agent: 'child', description: key, input: key, detached: !isAwaited })
    return isAwaited ? (await ctx.wait(id)).answer : key
  }
}

function storyOf(program: Program): Story {
  return {
    isParallel: true,
    agents: (executions) => ({
      parent: (ctx: AgentContext) => new Interpreter(executions).run(ctx, program),
      child: async (ctx: AgentContext, input: string) => {
        await ctx.step('work', () => ctx.say(input))
        await ctx.sleep(5)
        return input
      },
    }),
    clients: async (runtime) => {
      const { id } = await runtime.run({ thread: 't', agent: 'parent', prompt: 'go', idempotencyKey: 'go' })
      await runtime.wait(id)
    },
  }
}

const text = fc.constantFrom('x ', 'y ', '')
const ms = fc.constantFrom(0, 5, 20)
const plainOp: fc.Arbitrary<object> = fc.oneof(
  fc.record({ say: text }),
  fc.record({ think: text }),
  fc.record({ progress: fc.constantFrom(0, 0.5, 1) }),
  fc.record({ emit: fc.constant('e'), payload: fc.constant({ a: 1 }), times: fc.constantFrom(1, 3), everyMs: ms }),
  fc.record({ tool: fc.constantFrom('t', 'u'), input: text, output: text, ms }),
  fc.record({ sleepMs: ms }),
  fc.record({ step: fc.constant('k'), sleepMs: ms }),
  fc.record({ receive: fc.record({ timeoutMs: ms }) }),
  fc.record({ answer: text }),
)
const childScript = fc.array(fc.oneof({ weight: 9, arbitrary: plainOp }, fc.record({ fail: text })), { maxLength: 4 })
const spawnOp = fc
  .boolean()
  .chain((wait) =>
    fc.record({ script: childScript, wait: fc.constant(wait), detached: wait ? fc.boolean() : fc.constant(true) }),
  )
const scripts = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: plainOp },
      spawnOp.map((spawn) => ({ spawn })),
    ),
    { maxLength: 6 },
  )
  // Names tell the children apart.
  .map((ops) =>
    ops.map((op, index) => ('spawn' in op ? { spawn: { ...(op.spawn as object), name: `n${index}` } } : op)),
  )

function scriptStory(script: readonly object[]): Story {
  return {
    // Children and parent end in one instant, in either order, if they do so at all.
    isParallel: true,
    agents: () => ({ script: scriptAgent() }),
    clients: async (runtime) => {
      const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script }, idempotencyKey: 'go' })
      await runtime.wait(id)
    },
  }
}

describe('memory', () => {
  it.each([
    ['a sequence of any steps', programs({ forks: false, repeats: false })],
    ['branches of any steps', programs({ forks: true, repeats: false })],
  ])(
    'REST-13 REST-15 %s comes out as if no process had died, wherever they do',
    (_title, any) =>
      fc.assert(
        fc.asyncProperty(any, crashes, (program, plan) => survives(storyOf(program), plan)),
        { numRuns: 60 },
      ),
    crashTestMs,
  )

  it(
    'REST-13 REST-15 any script comes out as if no process had died, wherever they do',
    () =>
      fc.assert(
        fc.asyncProperty(scripts, crashes, (script, plan) => survives(scriptStory(script), plan)),
        { numRuns: 60 },
      ),
    crashTestMs,
  )
})
