export const statuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const

/** Where a task is in its life. It begins as `pending`, may become `running`, and ends as one of the others. */
export type Status = (typeof statuses)[number]

export const terminalStatuses = ['completed', 'failed', 'cancelled'] as const

export type TerminalStatus = (typeof terminalStatuses)[number]

const next: Readonly<Record<Status, readonly Status[]>> = {
  // A task that is cancelled, or orphaned, before it starts never runs.
  pending: ['running', 'failed', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

/** Whether a task of this status has ended; it then never changes again. */
export function isTerminal(status: Status): status is TerminalStatus {
  return status !== 'pending' && status !== 'running'
}

export function canBecome(from: Status, to: Status): boolean {
  return next[from].includes(to)
}
