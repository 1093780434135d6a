// The graph that the development server of LangGraph loads: one node that writes to the custom stream of its run.

import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph'
import { noteEnded, noteWaiting, produce, type Work } from './work.ts'

const State = Annotation.Root({ work: Annotation<Work> })

async function work(state: typeof State.State, config: LangGraphRunnableConfig): Promise<object> {
  if (state.work.kind === 'park') {
    noteWaiting()
    interrupt('wait')
  } else if (state.work.kind === 'hang') {
    noteWaiting()
    await new Promise((_, reject) => {
      config.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  } else {
    await produce(state.work, (tick) => config.writer?.(tick))
    noteEnded()
  }
  return {}
}

export const graph = new StateGraph(State).addNode('run', work).addEdge(START, 'run').addEdge('run', END).compile()
