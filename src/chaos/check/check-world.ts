import { type Case, entriesOf } from '../history/case.ts'
import { broken, lifeOf, type Violation } from './violation.ts'

// What G19 allows beside the lease.
const recoveryMs = 30_000

/** Whether strangers learn nothing, nodes drain well, and everything comes back when faults stop. */
export function* checkWorld(found: Case): Generator<Violation> {
  yield* checkOwners(found)
  for (const entry of entriesOf(found, 'drained')) {
    if (entry.code !== 0) yield broken('G17', `${entry.node} drained and exited with ${entry.code}`, [entry])
  }
  yield* checkReturn(found)
}

/** What is another's is answered as what does not exist. */
function* checkOwners(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'probe')) {
    if (entry.status === 404 && entry.body === entry.unknown) continue
    yield broken('G15', `${entry.by} asked for ${entry.path} of another and was answered ${entry.status}`, [entry])
  }
}

/** When faults stop, everything ends and every node serves, in time. */
function* checkReturn(found: Case): Generator<Violation> {
  const [calm] = entriesOf(found, 'calm')
  const [over] = entriesOf(found, 'over')
  const limitMs = found.round.leaseMs + recoveryMs
  if (!calm || !over) return yield broken('G19', 'the round never became calm, or was never over')
  for (const id of over.live) {
    yield broken('G19', `${id} has not ended ${over.at - calm.at} ms after the last fault`, lifeOf(found, id))
  }
  const served = new Map(entriesOf(found, 'served').map((entry) => [entry.node, entry]))
  for (const node of found.round.nodes) {
    const entry = served.get(node)
    if (!entry) yield broken('G19', `${node} does not serve after the last fault`, [calm])
    else if (entry.at - calm.at > limitMs)
      yield broken('G19', `${node} served only ${entry.at - calm.at} ms after the last fault`, [calm, entry])
  }
}
