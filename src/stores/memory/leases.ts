/** The leases of nodes by the store's clock. A lease is held until its instant is reached. */
export class Leases {
  readonly #clock: { now(): number }
  readonly #untilAt = new Map<string, number>()

  constructor(clock: { now(): number }) {
    this.#clock = clock
  }

  isHeld(node: string): boolean {
    const untilAt = this.#untilAt.get(node)
    return untilAt !== undefined && this.#clock.now() < untilAt
  }

  get heldCount(): number {
    return [...this.#untilAt.keys()].filter((node) => this.isHeld(node)).length
  }

  renew(node: string, leaseMs: number): { readonly wasHeld: boolean } {
    const wasHeld = this.isHeld(node)
    for (const known of [...this.#untilAt.keys()]) if (!this.isHeld(known)) this.#untilAt.delete(known)
    if (leaseMs > 0) this.#untilAt.set(node, this.#clock.now() + leaseMs)
    else this.#untilAt.delete(node)
    return { wasHeld }
  }

  giveUpAll(): void {
    this.#untilAt.clear()
  }
}
