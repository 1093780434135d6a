import type { FrameId } from '../../protocol/frames.ts'
import { frameId } from '../../protocol/schemas/client-frame.ts'

/** The id of a frame, as its answers repeat it: none if it has none, or none that could be repeated. */
export function idOf(frame: unknown): { readonly id?: FrameId } {
  if (typeof frame !== 'object' || frame === null || !('id' in frame)) return {}
  const parsed = frameId.safeParse(frame.id)
  return parsed.success ? { id: parsed.data } : {}
}
