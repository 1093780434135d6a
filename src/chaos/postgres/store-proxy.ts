import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { NoticeFilter } from './notice-filter.ts'

interface Pair {
  readonly node: Socket
  readonly store: Socket
  losesAnswer: boolean
}

// How a node writes; see `src/stores/postgres/lane.ts`.
const commit = 'commit_units'
// The message that ends a statement, and commits it.
const sync = Buffer.from('S\0\0\0\x04')

/** What of a commit is kept from arriving: all of it, or only its end, so that its transaction is open meanwhile. */
export type Held = 'all' | 'end'

/**
 * Stands between one node and its PostgreSQL, and does to what passes what networks do.
 *
 * P1 What is held back is held in the order it was sent: a connection stalls as a whole.
 * P2 After `heal` everything passes again; connections that were cut stay cut.
 */
export class StoreProxy {
  readonly #target: URL
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #isStalled = false
  #dropsNotices = false
  #answersToLose = 0
  #holding: { readonly what: Held; readonly onCommit: (deliver: () => void) => void } | undefined

  private constructor(target: URL) {
    this.#target = target
    this.#server = createServer((node) => this.#join(node))
  }

  static async start(target: string): Promise<StoreProxy> {
    const proxy = new StoreProxy(new URL(target))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** The URL of the store through the proxy. */
  get url(): string {
    const through = new URL(this.#target)
    through.hostname = '127.0.0.1'
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  /** Where its connections to the store come from. */
  get ports(): number[] {
    return [...this.#pairs].flatMap(({ store }) => store.localPort ?? [])
  }

  cut(): void {
    for (const { node, store } of this.#pairs) {
      node.destroy()
      store.destroy()
    }
  }

  /** Nothing passes any more, in neither direction, until `heal`. */
  stall(): void {
    this.#isStalled = true
    for (const pair of this.#pairs) this.#hold(pair)
  }

  /** The next commits reach the store, but their answers are lost with the connection. */
  loseAnswers(count: number): void {
    this.#answersToLose = count
  }

  /** From now on the node hears nothing of what others commit. */
  dropNotices(): void {
    this.#dropsNotices = true
  }

  /** Keeps the next commit from arriving; resolves, once it was sent, with what lets it arrive. */
  holdCommit(what: Held = 'all'): Promise<() => void> {
    return new Promise((onCommit) => {
      this.#holding = { what, onCommit }
    })
  }

  /** Lets commits pass after all, if none was held yet. */
  holdNoCommit(): void {
    this.#holding = undefined
  }

  heal(): void {
    this.#isStalled = false
    this.#dropsNotices = false
    this.#answersToLose = 0
    this.#holding = undefined
    for (const { node, store } of this.#pairs) {
      node.resume()
      store.resume()
    }
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(node: Socket): void {
    const store = connect(Number(this.#target.port || 5432), this.#target.hostname)
    const pair: Pair = { node, store, losesAnswer: false }
    this.#pairs.add(pair)
    const notices = new NoticeFilter()
    node.on('data', (bytes) => this.#toStore(pair, bytes))
    store.on('data', (bytes) => {
      if (pair.losesAnswer) return part(pair)
      for (const message of notices.take(bytes)) {
        if (!this.#dropsNotices || !message.isNotice) node.write(message.bytes)
      }
    })
    for (const socket of [node, store]) {
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#pairs.delete(pair)
        part(pair)
      })
    }
    if (this.#isStalled) this.#hold(pair)
  }

  #toStore(pair: Pair, bytes: Buffer): void {
    const isCommit = bytes.includes(commit)
    if (isCommit && this.#holding) {
      const { what, onCommit } = this.#holding
      const arrives = what === 'end' && bytes.subarray(-sync.length).equals(sync) ? bytes.length - sync.length : 0
      const { node, store } = pair
      node.pause()
      if (arrives > 0) store.write(bytes.subarray(0, arrives))
      onCommit(() => {
        store.write(bytes.subarray(arrives))
        node.resume()
      })
      this.#holding = undefined
      return
    }
    if (isCommit && this.#answersToLose > 0) {
      this.#answersToLose -= 1
      pair.losesAnswer = true
    }
    pair.store.write(bytes)
  }

  #hold({ node, store }: Pair): void {
    node.pause()
    store.pause()
  }
}

function part({ node, store }: Pair): void {
  node.destroy()
  store.destroy()
}
