import type { AgentContext } from '../../src/index.ts'

/** Runs until its signal fires, and ends by it: code that honours its cancel. */
export async function untilStopped(ctx: AgentContext): Promise<never> {
  ctx.signal.throwIfAborted()
  return new Promise((_resolve, reject) => {
    ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error), { once: true })
  })
}

/** Never ends by itself, whatever its signal says. */
export function forever(): Promise<never> {
  return new Promise(() => {})
}
