import { type Case, entriesOf } from '../history/case.ts'
import { broken, type Violation } from './violation.ts'

/** Whether whoever means ill gets nothing but refusals, and those who only wait cost no more than they may. */
export function* checkHostile(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'hurt')) {
    yield broken('G14', `${entry.node} answered a hostile request (${entry.what}) as none may be answered`, [entry])
  }
  for (const entry of entriesOf(found, 'memory')) {
    if (entry.bytes <= entry.bytesMax) continue
    const held = `${Math.round(entry.bytes / 1e6)} MB where ${Math.round(entry.bytesMax / 1e6)} are allowed`
    const why = entry.idle === undefined ? `after ${entry.hostile} hostile requests` : `with ${entry.idle} idle streams`
    yield broken('G16', `${entry.node} holds ${held} ${why}`, [entry])
  }
}
