import type { TerminalStatus } from '../core/status.ts'

/** Whether a message reached an inbox, and if not, why. */
export type SendAnswer =
  | { readonly isSent: true; readonly id: string }
  | {
      readonly isSent: false
      readonly reason: 'not_found' | 'not_owner' | 'task_terminated' | 'no_inbox'
      readonly taskStatus?: TerminalStatus
    }

/** A message as its sender gives it. `from` is a label, and proves nothing. */
export interface MessageToSend {
  readonly content: unknown
  readonly from?: string
}
