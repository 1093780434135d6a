import type { Principal } from '../core/id.ts'
import type { Intake } from './intake.ts'
import type { Reads } from './reads.ts'

/** A principal who asks something of tasks from outside, and what that is looked up and decided by. */
export interface Asker {
  readonly intake: Intake
  readonly reads: Reads
  readonly principal: Principal
}
