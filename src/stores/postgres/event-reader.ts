import type { EventPage } from '../store.ts'
import type { EventAsk } from './event-reads.ts'

// A statement that reads the ends of so many logs takes a few milliseconds.
const asksMax = 128
// One that reads long pages does not hold up those that read short ones.
const statementsMax = 2

interface Waiting {
  readonly ask: EventAsk
  readonly resolve: (page: EventPage) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads pages of logs, those that are asked for at the same time together: a notice tells of many threads, each of which somebody
 * watches, and a statement for each would cost several times as much.
 */
export class EventReader {
  readonly #read: (asks: readonly EventAsk[]) => Promise<readonly EventPage[]>
  readonly #waiting: Waiting[] = []
  #underWay = 0

  constructor(read: (asks: readonly EventAsk[]) => Promise<readonly EventPage[]>) {
    this.#read = read
  }

  read(ask: EventAsk): Promise<EventPage> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ask, resolve, reject })
      if (this.#underWay < statementsMax) void this.#serve()
    })
  }

  async #serve(): Promise<void> {
    this.#underWay += 1
    // What is asked for in the same moment goes along.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#answer(this.#waiting.splice(0, asksMax))
    this.#underWay -= 1
  }

  async #answer(asks: readonly Waiting[]): Promise<void> {
    try {
      const pages = await this.#read(asks.map(({ ask }) => ask))
      for (const [n, page] of pages.entries()) asks[n]?.resolve(page)
    } catch (error) {
      for (const { reject } of asks) reject(error)
    }
  }
}
