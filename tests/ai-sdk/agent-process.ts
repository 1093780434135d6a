import { jsonSchema, ToolLoopAgent, tool } from 'ai'
import { aiSdkAgent, toolCall } from '../../src/ai-sdk/index.ts'
import { createRuntime } from '../../src/index.ts'
import { modelOf } from './provider.ts'

/** What the process is given: where its store is, and whom it asks. */
export interface AgentProcessOptions {
  readonly store: string
  readonly modelUrl: string
  /** Its tool never comes back. */
  readonly isToolHanging?: boolean
}

/** A line that it prints. */
export type AgentLine =
  | { readonly kind: 'event'; readonly type: string; readonly seq: number }
  | { readonly kind: 'executed'; readonly key: string }
  | { readonly kind: 'ended'; readonly status: string; readonly result: unknown }

function tell(line: AgentLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const { store, modelUrl, isToolHanging } = JSON.parse(process.argv[2] ?? '') as AgentProcessOptions

const inputSchema = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } })
const weather = tool({
  inputSchema,
  execute: ({ city }) => {
    tell({ kind: 'executed', key: toolCall()?.key ?? '' })
    return isToolHanging ? new Promise<string>(() => {}) : `fine in ${city}`
  },
})
const helper = new ToolLoopAgent({ model: modelOf({ url: modelUrl }), instructions: 'Be brief.', tools: { weather } })
const runtime = createRuntime({ store, agents: { helper: aiSdkAgent(helper, { afterCrash: 'retry' }) } })

const run = await runtime.run({ thread: 't', agent: 'helper', prompt: 'Where to?', idempotencyKey: 'go' })
for await (const { type, seq } of runtime.subscribe({ thread: 't', task: run.id })) tell({ kind: 'event', type, seq })
const task = await runtime.wait(run.id)
tell({ kind: 'ended', status: task?.status ?? 'gone', result: task?.result })
await runtime.close()
