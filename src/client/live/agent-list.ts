import type { AgentLine } from '../calls.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'
import { Reading } from './reading.ts'

export interface AgentListValue extends Loadable {
  readonly agents: readonly AgentLine[]
}

export const loadingAgents: AgentListValue = { agents: [], isLoading: true }

/** The agents of the server. They change when it is started anew, so they are read again when a connection is back. */
export class AgentList {
  readonly live: LiveModel<AgentListValue>
  readonly #parts: LiveParts

  constructor(parts: LiveParts, onStopped: () => void) {
    this.#parts = parts
    this.live = new LiveModel({
      ...parts,
      initial: loadingAgents,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  async #follow(following: Following<AgentListValue>): Promise<void> {
    const { connection } = this.#parts.client
    const { signal } = following
    const reading = new Reading(this.#parts)
    let wasLost = false
    const leave = connection.subscribe(() => {
      const isLive = connection.snapshot().state === 'live'
      if (isLive && wasLost) void reading.run(following, () => this.#read(following))
      wasLost = !isLive
    })
    signal.addEventListener('abort', leave, { once: true })
    await reading.run(following, () => this.#read(following))
  }

  async #read(following: Following<AgentListValue>): Promise<void> {
    const agents = await this.#parts.client.agents({ signal: following.signal })
    following.set({ agents, isLoading: false })
  }
}
