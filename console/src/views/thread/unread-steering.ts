import type { Part, ThreadEvent } from 'holdfast/client'

interface Steering {
  readonly id: string
  readonly text: string
}

/** The events of a run that tell what it has yet to read. */
export const steeringTypes: readonly string[] = ['inbox.accepted', 'message.created']

/** What a run was told and has not read: what it has read is in the conversation, by the same id. */
export function unreadSteering(events: readonly ThreadEvent[]): readonly Steering[] {
  const read = new Set(events.map((event) => event.type === 'message.created' && event.data.message.id))
  return events.flatMap((event) => {
    if (event.type !== 'inbox.accepted' || !event.data.steer || read.has(event.data.id)) return []
    return { id: event.data.id, text: textOf(event.data.content) }
  })
}

/** Steering is a text, or parts. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return (content as readonly Part[])
    .map((part) => ('text' in part ? part.text : (part.type === 'file' && (part.name ?? part.mediaType)) || part.type))
    .join(' ')
}
