import { emitKeypressEvents } from 'node:readline'
import type { Key } from './line-editor.ts'

/** Calls back with each key as it is pressed, instead of with whole lines, and returns what ends that. */
export function listenToKeys(input: NodeJS.ReadStream, onKey: (key: Key) => void, onEnd: () => void): () => void {
  const pressed = (_text: string | undefined, key: Key) => onKey(key)
  emitKeypressEvents(input)
  input.setRawMode(true)
  input.on('keypress', pressed)
  input.on('end', onEnd)
  input.resume()
  return () => {
    input.off('keypress', pressed)
    input.off('end', onEnd)
    input.setRawMode(false)
    input.pause()
  }
}
