// A graph of LangGraph.js on Holdfast.
//
//   npm install @langchain/langgraph @langchain/openai @langchain/core zod
//   OPENAI_API_KEY=… npx holdfast serve --config examples/langgraph.ts
//
// The graph is called from the top after a crash, without a checkpointer of its own: the call of the model in its node is a step and
// each call of a tool is one, so they answer from the record, and the graph finds its way to where it was. Nodes are code, and
// run again; what they do to the world belongs into `ctx.step` or `ctx.tool`. Nodes that run side by side need keys of their own.

import { AIMessage, type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'
import type { AgentContext } from 'holdfast'
import { z } from 'zod'

type Conversation = typeof MessagesAnnotation.State

const weather = tool(({ city }) => ({ city, degrees: 7 + city.length }), {
  name: 'weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
})

const model = new ChatOpenAI({
  model: process.env['OPENAI_MODEL'] ?? 'gpt-5-mini',
  configuration: { baseURL: process.env['OPENAI_BASE_URL'] },
}).bindTools([weather])

/** The call of the model is a step. Recorded is what the conversation needs of its answer: the text and the calls. */
async function think({ messages }: Conversation, config: RunnableConfig) {
  const ctx = contextOf(config)
  const answer = await ctx.step('model', async () => {
    let whole: AIMessageChunk | undefined
    for await (const chunk of await model.stream(messages, { signal: ctx.signal })) {
      if (chunk.text !== '') await ctx.say(chunk.text)
      whole = whole ? whole.concat(chunk) : chunk
    }
    return { content: whole?.text ?? '', tool_calls: whole?.tool_calls ?? [] }
  })
  return { messages: [new AIMessage(answer)] }
}

async function act({ messages }: Conversation, config: RunnableConfig) {
  const ctx = contextOf(config)
  const results: ToolMessage[] = []
  for (const { id = '', name, args } of (messages.at(-1) as AIMessage).tool_calls ?? []) {
    const output = await ctx.tool(name, args, () => weather.invoke(args as { city: string }))
    results.push(new ToolMessage({ content: JSON.stringify(output), tool_call_id: id }))
  }
  return { messages: results }
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode('think', think)
  .addNode('act', act)
  .addEdge(START, 'think')
  .addConditionalEdges('think', ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'act' : END))
  .addEdge('act', 'think')
  .compile()

async function forecast(ctx: AgentContext, prompt: string): Promise<string> {
  const start = { messages: [new HumanMessage(prompt)] }
  const { messages } = await graph.invoke(start, { configurable: { ctx }, signal: ctx.signal })
  return messages.at(-1)?.text ?? ''
}

function contextOf({ configurable }: RunnableConfig): AgentContext {
  return (configurable as { ctx: AgentContext }).ctx
}

export default { agents: { forecast } }
