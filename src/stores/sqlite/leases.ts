/**
 * The leases of nodes, in memory: the lock on the file proves that every node that could hold one lives in this process,
 * so a lease has nothing to outlive.
 */
export class Leases {
  readonly #untilAt = new Map<string, number>()

  isHeld(node: string, now: number): boolean {
    return now < (this.#untilAt.get(node) ?? 0)
  }

  /** The nodes that hold one. */
  holders(now: number): string[] {
    return [...this.#untilAt.keys()].filter((node) => this.isHeld(node, now))
  }

  /** Says whether it was held before. A lease that has run out is forgotten with the next renewal of any. */
  renew(node: string, leaseMs: number, now: number): boolean {
    const wasHeld = this.isHeld(node, now)
    for (const known of [...this.#untilAt.keys()]) if (!this.isHeld(known, now)) this.#untilAt.delete(known)
    if (leaseMs > 0) this.#untilAt.set(node, now + leaseMs)
    else this.#untilAt.delete(node)
    return wasHeld
  }

  giveUpAll(): void {
    this.#untilAt.clear()
  }
}
