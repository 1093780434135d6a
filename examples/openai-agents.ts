// An agent of the OpenAI Agents SDK on Holdfast.
//
//   npm install @openai/agents zod
//   OPENAI_API_KEY=… npx holdfast serve --config examples/openai-agents.ts
//
// The SDK's loop is left as it is. Its model is wrapped, so that each call of it is a step, and its tool calls `ctx.tool`: after a
// crash the SDK runs again from the top, is given what its model and tools had answered, and goes on with the first call that has
// no record. What else it did in between (guardrails, hooks of your own) is done again.

import {
  Agent,
  type ModelProvider,
  OpenAIProvider,
  type RunContext,
  Runner,
  type StreamEvent,
  tool,
} from '@openai/agents'
import type { AgentContext } from 'holdfast'
import { z } from 'zod'

// It reads OPENAI_API_KEY and OPENAI_BASE_URL by itself.
const provider = new OpenAIProvider({ useResponses: true })

const weather = tool({
  name: 'weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: (input, run?: RunContext<AgentContext>) => {
    const look = () => ({ city: input.city, degrees: 7 + input.city.length })
    return run ? run.context.tool('weather', input, look) : look()
  },
})

const forecaster = new Agent<AgentContext>({
  name: 'Forecaster',
  instructions: 'You are brief.',
  model: process.env['OPENAI_MODEL'] ?? 'gpt-5-mini',
  tools: [weather],
})

async function forecast(ctx: AgentContext, prompt: string): Promise<unknown> {
  const runner = new Runner({ modelProvider: durable(ctx, provider), tracingDisabled: true })
  const result = await runner.run(forecaster, prompt, { stream: true, context: ctx, signal: ctx.signal })
  await result.completed
  return result.finalOutput
}

/** The same models, but each of their calls is a step, and what they say is shown as it comes. */
function durable(ctx: AgentContext, models: ModelProvider): ModelProvider {
  return {
    async getModel(name) {
      const model = await models.getModel(name)
      return {
        getResponse: (request) => ctx.step('model', () => model.getResponse(request)),
        async *getStreamedResponse(request) {
          yield* await ctx.step('model', async () => {
            const events: StreamEvent[] = []
            for await (const event of model.getStreamedResponse(request)) {
              if (event.type === 'output_text_delta') await ctx.say(event.delta)
              // The provider's own events are told a second time, as those of the SDK.
              if (event.type !== 'model') events.push(event)
            }
            return events
          })
        },
      }
    },
  }
}

export default { agents: { forecast } }
