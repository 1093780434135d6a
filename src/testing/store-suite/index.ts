import { afterEraseCases } from './after-erase-cases.ts'
import { agentLimitCases } from './agent-limit-cases.ts'
import { allocationCases } from './allocation-cases.ts'
import { claimCases } from './claim-cases.ts'
import { commitCases } from './commit-cases.ts'
import { durabilityCases } from './durability-cases.ts'
import { eraseCases } from './erase-cases.ts'
import { eventCases } from './event-cases.ts'
import { fencingCases } from './fencing-cases.ts'
import { hookCases } from './hook-cases.ts'
import { idempotencyCases } from './idempotency-cases.ts'
import { isolationCases } from './isolation-cases.ts'
import { largeCases } from './large-cases.ts'
import { lifecycleCases } from './lifecycle-cases.ts'
import { listingCases } from './listing-cases.ts'
import { mailCases } from './mail-cases.ts'
import { messageCases } from './message-cases.ts'
import { movedCases } from './moved-cases.ts'
import { orphanCases } from './orphan-cases.ts'
import { questionCases } from './question-cases.ts'
import { recordCases } from './record-cases.ts'
import { resultCases } from './result-cases.ts'
import { safetyCases } from './safety-cases.ts'
import { snapshotCases } from './snapshot-cases.ts'
import { stepCases } from './step-cases.ts'
import type { StoreCase } from './store-case.ts'
import { textCases } from './text-cases.ts'
import { trimCases } from './trim-cases.ts'

export type { StoreCase, StoreFixture } from './store-case.ts'

/** The contract of `Store`, case by case: whatever passes them all can carry the runtime. */
export const storeCases: StoreCase[] = [
  ...lifecycleCases,
  ...commitCases,
  ...fencingCases,
  ...recordCases,
  ...isolationCases,
  ...listingCases,
  ...messageCases,
  ...mailCases,
  ...stepCases,
  ...questionCases,
  ...resultCases,
  ...hookCases,
  ...idempotencyCases,
  ...claimCases,
  ...orphanCases,
  ...agentLimitCases,
  ...allocationCases,
  ...eventCases,
  ...movedCases,
  ...eraseCases,
  ...afterEraseCases,
  ...trimCases,
  ...snapshotCases,
  ...largeCases,
  ...textCases,
  ...durabilityCases,
  ...safetyCases,
]
