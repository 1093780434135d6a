import type { Recorder } from '../history/recorder.ts'
import type { LineShape } from '../load/load-shape.ts'
import { pause } from '../pause.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { NodeProcess } from './node-process.ts'
import type { ServedNode } from './served-node.ts'
import type { StoreTroubles } from './store-troubles.ts'

export interface OwnNodeOptions {
  readonly name: string
  readonly recorder: Recorder
  readonly random: SeededRandom
  /** Where its lines break. */
  readonly lines: LineShape
  /** The settings of its next process. */
  readonly env: () => Readonly<Record<string, string>>
  /** What is done to its store, where that is not a file of its own. */
  readonly troubles?: StoreTroubles
}

const retryMs = 100
// A node that fails to start for as long is broken, whatever else goes on.
const failingMsMax = 60_000

/** A node of this program's own, over all the processes that live and die as it. */
export class OwnNode implements ServedNode {
  readonly name: string
  url = ''
  isUp = false
  life = 0
  readonly #options: OwnNodeOptions
  #process: NodeProcess | undefined
  #proxy: CuttingProxy | undefined

  constructor(options: OwnNodeOptions) {
    this.name = options.name
    this.#options = options
  }

  get breakingUrl(): string {
    return this.#proxy?.url ?? this.url
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get isAlive(): boolean {
    return this.#process !== undefined
  }

  /** Starts it, and again for as long as it fails to. Whatever is not the fault of its store is written down. */
  async start(): Promise<void> {
    const { random, lines } = this.#options
    const bytes = () => random.below(random.chance(lines.shortShare) ? lines.short : lines.long)
    this.#proxy ??= await CuttingProxy.start(() => Number(new URL(this.url).port), bytes)
    let failedAt: number | undefined
    for (;;) {
      const process = this.#spawn()
      try {
        this.url = await process.url
        this.life += 1
        this.isUp = true
        return
      } catch (error) {
        if (this.#process !== process) return
        this.#process = undefined
        failedAt ??= performance.now()
        if (performance.now() - failedAt > failingMsMax) throw error
        await pause(retryMs)
      }
    }
  }

  /** Starts a process and kills it so much later, be it ready or not. */
  async startAndKill(afterMs: number): Promise<void> {
    const process = this.#spawn()
    process.url.catch(() => {})
    await pause(afterMs)
    await this.kill()
  }

  async kill(): Promise<void> {
    const process = this.#leave()
    await process?.kill()
  }

  /** Asks it to drain; resolves with its exit code. */
  async drain(): Promise<number | null> {
    const process = this.#leave()
    if (!process) return 0
    process.signal('SIGTERM')
    return process.exited
  }

  freeze(): void {
    this.#process?.signal('SIGSTOP')
  }

  /** Whoever asks it again is answered, unless it died meanwhile. */
  thaw(): void {
    this.#process?.signal('SIGCONT')
  }

  async close(): Promise<void> {
    await this.kill()
    await this.#proxy?.close()
    this.#proxy = undefined
  }

  /** From here on nobody asks it, and that it ends is no surprise. */
  #leave(): NodeProcess | undefined {
    const process = this.#process
    this.isUp = false
    this.#process = undefined
    return process
  }

  #spawn(): NodeProcess {
    const { recorder, troubles } = this.#options
    const hadTroubles = troubles?.fromNow() ?? (() => false)
    const process = new NodeProcess(this.#options.env(), (line) => recorder.hear(this.name, line))
    let isStarted = false
    this.#process = process
    process.url.then(
      () => {
        isStarted = true
      },
      // That it never listened is told below.
      () => {},
    )
    void process.exited.then((code) => {
      if (this.#process !== process || (!isStarted && hadTroubles())) return
      if (isStarted) this.#leave()
      const how = isStarted ? 'ended by itself' : 'did not start and ended'
      recorder.write({ kind: 'broken', what: `${this.name} ${how} with ${code}: ${process.said}` })
    })
    return process
  }
}
