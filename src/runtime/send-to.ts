import type { Asker } from './asker.ts'
import type { MessageToSend, SendAnswer } from './message-to-send.ts'

/** Sends a message from outside; with a thread only if the task is of that. */
export async function sendTo(
  { intake, reads, principal }: Asker,
  task: string,
  message: MessageToSend,
  thread: string | undefined,
): Promise<SendAnswer> {
  const record = await reads.record(task)
  if (!record) return { isSent: false, reason: 'not_found' }
  if (thread !== undefined && reads.key(thread) !== record.key) return { isSent: false, reason: 'not_owner' }
  return intake.send(record, principal, message)
}
